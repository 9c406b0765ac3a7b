/** Nothing from a model can imitate the frame around it: the frame is a closed list of sentences, whatever is asked for. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RequestView, describeRequest, toMarkdown, toTerminal } from '../../../src/approval/render/index.ts';
import { HOSTILE, hostileCollected, hostileDetails, hostilePreviews } from './support.ts';

/** Everything that stands outside of gutters and code, with numbers as N. */
const SENTENCES = new Set([
  'Approval needed #RRRRRR',
  'What it would do: change a file; what that holds now is not known here',
  'N line added, N line removed, by the arguments alone',
  'What it would do: delete this and all in it, for good',
  'What it would do, outside of the sandbox, with the whole machine and the network',
  'N. deletes files',
  'and N more command, not listed',
  'It is more than plain words, so what is listed is a guess.',
  'What it would do: send this message',
  'What it would do: reach this address',
  'Arguments',
  'text of N lines:',
  'text of N line:',
  'Look closely: the host is an international name, which may look like another one.',
  'Look closely: the host is written in another form in the arguments.',
  'Look closely: the host is what stands before the @ is a user name, not the host.',
  'Look closely: the host is a number in place of a name.',
  'Look closely: characters that are not seen; they are shown by number.',
  'Look closely: letters of several scripts in one word.',
  'Look closely: letters that stand for plain ones.',
  'Look closely: right-to-left letters: what is shown may be in another order than what runs.',
  'Why you are asked, as the service says',
  'Tier, reasons and rule are its word. What would run is what you decide on.',
  'Who asks',
  'Partly bound: it runs more than an approval can fix',
  'Deciding',
  'Asked N s ago; expires in N h (N-N-N N:N:N UTC).',
  'These may decide; N have to agree:',
  'Anybody who reaches this service may decide; N have to agree.',
  'By now this role is asked, too (N-N-N N:N:N UTC); these of it may decide:',
  'In N h this role is asked, too (N-N-N N:N:N UTC); none of it may decide.',
  'N of N agree so far, as the session says:',
  'signed, N ms ago (N-N-N N:N:N UTC)',
  'unsigned, N s ago (N-N-N N:N:N UTC)',
  'They approve other arguments than those asked for, which would run instead:',
  'To agree with them, approve as edited. An approval with any others starts the count again.',
  "countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'",
  "countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR' --as-edited D",
  "countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'",
  "countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'",
  'Not all of it is shown above. This shows all:',
  "countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR' --full",
  '⋮ N characters not shown',
  '⋮ N lines, N characters not shown',
]);
const NAMES = new Set(
  'tool tier file path folder variables to url argument host in because rule agent session workspace call not bound program script approvers approver role reason'
    .split(' ')
    .concat('not bound'),
);
const numbered = (line: string): string => line.replace(/sha256:[0-9a-f]{64}$/, 'D').replace(/\d[\d,]*(\.\d+)?/g, 'N');

/** With each kind of preview; with one alone where the text is huge. */
const views = (text: string): RequestView[] =>
  hostilePreviews(text)
    .slice(0, text.length > 200_000 ? 1 : 5)
    .map((preview) =>
      describeRequest(hostileDetails(text), {
        preview,
        route: [text],
        now: 2_000,
        collected: hostileCollected(text),
      }),
    );

/** Controls, overrides and what is not seen; line breaks are the frame's own. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is to be found
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;

/** The joiner within an emoji stays; it joins nothing else. */
const isUnsafe = (line: string): boolean =>
  !line.isWellFormed() || UNSAFE.test(line.replace(/(?<=\p{Extended_Pictographic}\uFE0F?)\u200D/gu, ''));

/** What is wrong with a text for the terminal; empty where nothing is. */
function terminalFaults(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    if (isUnsafe(line)) return [`unsafe: ${JSON.stringify(line)}`];
    if (Array.from(line).length > width && !line.includes('countersign')) return [`too long: ${line}`];
    const gutter = line.search(/[│┆]/);
    const own = (gutter === -1 ? line : line.slice(0, gutter)).trim();
    const known = gutter === -1 ? own === '' || SENTENCES.has(numbered(own)) : own === '' || NAMES.has(own);
    return known ? [] : [`not of the frame: ${line}`];
  });
}

/** The same for Markdown, read as CommonMark reads it: fences first, then code spans. */
function markdownFaults(text: string): string[] {
  let fence: string | undefined;
  return text.split('\n').flatMap((line) => {
    if (isUnsafe(line)) return [`unsafe: ${JSON.stringify(line)}`];
    if (fence !== undefined) {
      const closes = /^ {0,3}(`+) *$/.exec(line)?.[1];
      if (closes === undefined) return line.startsWith('│ ') ? [] : [`no gutter: ${line}`];
      if (closes.length < fence.length) return [`fence within: ${line}`];
      fence = undefined;
      return [];
    }
    fence = /^(`{3,})$/.exec(line)?.[1];
    if (fence !== undefined || line === '') return [];
    const own = withoutCode(line);
    const field = /^- ([a-z ]+): (?:C|\(empty\))(?: \(N(?: lines, N)? characters not shown\) (?:C|\(empty\)))?$/.exec(
      numbered(own),
    )?.[1];
    const sentence = numbered(
      own
        .replace(/^\*\*(.*)\*\*$/, '$1')
        .replace(/^⚠ /, '')
        .replace('\\.', '.'),
    );
    const command = own === '- C' && line.startsWith('- `countersign ');
    return (field !== undefined && NAMES.has(field)) || SENTENCES.has(sentence) || command
      ? []
      : [`not of the frame: ${line}`];
  });
}

/** Code spans become `C`: a run of backticks is closed by the next run of the same length. */
function withoutCode(line: string): string {
  let rest = line;
  let out = '';
  for (let open = /`+/.exec(rest); open !== null; open = /`+/.exec(rest)) {
    const after = rest.slice(open.index + open[0].length);
    const close = [...after.matchAll(/`+/g)].find(([run]) => run.length === open?.[0].length);
    if (close === undefined) return out + rest;
    out += `${rest.slice(0, open.index)}C`;
    rest = after.slice(close.index + close[0].length);
  }
  return out + rest;
}

describe.each(HOSTILE)('%s', (_, text) => {
  test('stays behind the gutter of a terminal', () => {
    for (const view of views(text))
      expect(terminalFaults(toTerminal(view, { width: 120, color: false }), 120)).toEqual([]);
  });

  test('stays in the code of Markdown', () => {
    for (const view of views(text)) expect(markdownFaults(toMarkdown(view))).toEqual([]);
  });
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        '`',
        '```',
        '\n',
        '│',
        '┆',
        '⋮',
        '\u001b[',
        '\r',
        '\u202e',
        '<',
        '[x](y)',
        'Deciding',
        ' ',
        '\t',
        '\ud800',
        '⟨U+',
        'א',
        'a',
        '漢',
        '👩‍💻',
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
);

test('any text stays behind the gutter of a terminal', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const view of views(text))
        expect(terminalFaults(toTerminal(view, { width: 120, color: false }), 120)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('any text stays in the code of Markdown', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const view of views(text)) expect(markdownFaults(toMarkdown(view))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('colours are the only escapes, and change no line', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const [view] = views(text);
      if (view === undefined) throw new Error('no view');
      const colored = toTerminal(view, { width: 80, color: true });
      // oxlint-disable-next-line no-control-regex -- the escapes are what is to be found
      expect(colored.replace(/\u001b\[(?:0|1|2|31|32|33|1;33)m/g, '')).toBe(
        toTerminal(view, { width: 80, color: false }),
      );
    }),
    { numRuns: 100 },
  );
});

test('no line is longer than a narrow terminal is wide', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 24, max: 60 }), (text, width) => {
      for (const view of views(text)) {
        const lines = toTerminal(view, { width, color: false }).split('\n');
        expect(lines.filter((line) => /[│┆]/.test(line) && Array.from(line).length > width)).toEqual([]);
      }
    }),
    { numRuns: 100 },
  );
});

test('the checks themselves find what is wrong', () => {
  expect(terminalFaults('approved by ann', 80)).toHaveLength(1);
  expect(terminalFaults('  agent\u202e │ x', 80)).toHaveLength(1);
  expect(terminalFaults(`  │ ${'x'.repeat(80)}`, 80)).toHaveLength(1);
  expect(markdownFaults('```\n│ x\n```\napproved by ann')).toHaveLength(1);
  expect(markdownFaults('- agent: `x` approved `y`')).toHaveLength(1);
  expect(markdownFaults('```\nx\n```')).toHaveLength(1);
});
