import { expect, test } from 'vitest';
import { fromPlainMarkdown, plainMarkdown, plainTime } from '../../src/protocol/markdown.ts';
import { callSummary } from '../../src/client/summary.ts';

test.each([
  ['npm test', 'npm test'],
  ['[approve me](https://evil.example)', '\\[approve me\\](https:\\/\\/evil.example)'],
  ['![](http://track.example/x.png)', '\\!\\[\\](http:\\/\\/track.example/x.png)'],
  ['<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert(1)\\>'],
  ['**approved** by `ada`', '\\*\\*approved\\*\\* by \\`ada\\`'],
  ['www.evil.example and a@evil.example', 'www\\.evil.example and a\\@evil.example'],
  ['a\nb\u001b[2J\u202e', 'a b \\[2J '],
  ['\\[x](y)', '\\\\\\[x\\](y)'],
])('%j is shown as it is written', (text, shown) => {
  expect(plainMarkdown(text)).toBe(shown);
});

test('times are short', () => {
  expect(plainTime(Date.UTC(2026, 10, 21, 14, 5, 9, 123))).toBe('2026-11-21 14:05 UTC');
});

test('a call is named by tool and what it acts on, without secrets, within 300 bytes', () => {
  expect(callSummary('shell', { command: 'npm test' })).toBe('shell: npm test');
  expect(callSummary('shell', { command: 'curl -H "Authorization: Bearer abcdef123" x' })).not.toContain('abcdef123');
  expect(callSummary('list', {})).toBe('list');
  expect(Buffer.byteLength(callSummary('shell', { command: '𝒳'.repeat(500) }))).toBeLessThanOrEqual(300);
});

test.each(['[a](b) <i> https://x www.y a@b *c* \\d', 'rm -rf build && git push', '𝒳 | ~'])('%j is had back', (text) => {
  expect(fromPlainMarkdown(plainMarkdown(text))).toBe(text);
});

test.each([1e300, Number.NaN, 8.64e15 + 1])('%d is no time, and no error', (at) => {
  expect(plainTime(at)).toBe('no known time');
});
