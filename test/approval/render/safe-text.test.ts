import { describe, expect, it } from 'vitest';
import { safeJson, safeLine, safeText } from '../../../src/approval/render/safe-text.ts';

describe('text from a model on a terminal', () => {
  it.each([
    ['escape sequences', 'a\u001b[2Jb', 'a⟨U+001B⟩[2Jb'],
    ['a carriage return that overwrites', 'rm -rf /\recho hi', 'rm -rf /⟨U+000D⟩echo hi'],
    ['backspaces', 'evil\b\b\b\bgood', 'evil⟨U+0008⟩⟨U+0008⟩⟨U+0008⟩⟨U+0008⟩good'],
    ['C1 controls', 'a\u009b31mb', 'a⟨U+009B⟩31mb'],
    ['delete', 'a\u007fb', 'a⟨U+007F⟩b'],
    ['right-to-left override', 'user\u202ecod.exe', 'user⟨U+202E⟩cod.exe'],
    ['bidi isolates', 'a\u2066b\u2069', 'a⟨U+2066⟩b⟨U+2069⟩'],
    ['zero-width characters', 'pass\u200bword\u2060\ufeff', 'pass⟨U+200B⟩word⟨U+2060⟩⟨U+FEFF⟩'],
    ['line separators', 'a\u2028b\u2029c', 'a⟨U+2028⟩b⟨U+2029⟩c'],
    ['tag characters', 'a\u{e0041}b', 'a⟨U+E0041⟩b'],
    ['variation selectors that hide data', 'a\u{e0100}\ufe01b', 'a⟨U+E0100⟩⟨U+FE01⟩b'],
    ['fillers that look empty', 'a\u3164b', 'a⟨U+3164⟩b'],
    ['half of a surrogate pair', 'a\ud800b', 'a⟨U+D800⟩b'],
    ['NUL', 'a\0b', 'a⟨U+0000⟩b'],
    ['blanks that are none to a shell', 'rm\u00a0-rf\u3000\u2800x', 'rm⟨U+00A0⟩-rf⟨U+3000⟩⟨U+2800⟩x'],
    ['heaps of marks', `a${'\u0301'.repeat(6)}`, `a${'\u0301'.repeat(4)}⟨U+0301⟩⟨U+0301⟩`],
    ['a mark that was written and not made', '⟨U+000A⟩', '⟨U+27E8⟩U+000A⟩'],
    ['joiners without end', '👩\u200d'.repeat(7), '👩‍👩‍👩‍👩‍👩‍👩⟨U+200D⟩👩⟨U+200D⟩'],
    ['unassigned characters', 'a\u0378b', 'a⟨U+0378⟩b'],
  ])('shows %s', (_, text, shown) => expect(safeText(text)).toBe(shown));

  it('leaves what is plainly visible alone', () => {
    for (const text of ['npm test && echo "ok"', 'Grüße, 世界, שלום', 'a\tb\nc', '⚠️ 👩‍💻 👍'])
      expect(safeText(text)).toBe(text);
  });

  it('takes line breaks of Windows for line breaks', () => expect(safeText('a\r\nb')).toBe('a\nb'));

  it('shows line breaks where a text has to stay on one line', () => expect(safeLine('a\nb\tc')).toBe('a⏎b c'));

  it('tells a line break from its sign', () => expect(safeLine('a⏎b\nc')).toBe('a⟨U+23CE⟩b⏎c'));
});

describe('JSON on a terminal', () => {
  it('is escaped where it would mislead, and is the same value', () => {
    const value = { text: 'a\u202eb\u009bc\u{e0041}', '\u200bkey': ['\ud800', '😀'] };
    const json = safeJson(value);
    expect(json).toBe('{"text":"a\\u202eb\\u009bc\\udb40\\udc41","\\u200bkey":["\\ud800","😀"]}');
    expect(JSON.parse(json)).toEqual(value);
  });

  it('says null for what has no JSON', () => expect(safeJson(undefined)).toBe('null'));
});
