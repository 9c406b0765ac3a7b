import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeCommand } from '../../src/policy/index.ts';
import { quote, rebuilt } from '../../src/policy/shell/plain.ts';

/** Pieces of command lines that parsers have been known to read differently. */
const PIECE = fc.constantFrom(
  ...[
    'a',
    'b',
    '-x',
    '--y=1',
    'ls',
    '=',
    'a=b',
    ' ',
    '  ',
    '\t',
    '\n',
    "'",
    '"',
    "'a b'",
    '"a b"',
    '\\',
    '\\ ',
    '\\n',
    '\\\\',
    '\\"',
    "\\'",
    '"\\""',
    '"\\a"',
    '"\\$x"',
    '$',
    '$x',
    '`',
    '~',
    '*',
    '?',
    '[',
    ']',
    '{',
    '}',
    '{a,b}',
    '(',
    ')',
    '!',
    '#',
    ';',
    '&',
    '|',
    '&&',
    '||',
    '<',
    '>',
    '^',
    '%',
    ',',
    '.',
    '/',
    ':',
    '@',
    '+',
    'é',
    '日',
    '\u00a0',
    '\r',
    'if',
    'then',
    'time',
    'function',
    '-',
    '--',
    "$'a'",
    '$"a"',
    '\\\n',
    '1>',
    '2>&1',
    'coproc',
    '[[',
    ']]',
    '!!',
    'é=1',
    'a[0]=1',
    'x+=1',
  ],
);
const line = fc.array(PIECE, { minLength: 1, maxLength: 8 }).map((pieces) => `p ${pieces.join('')}`);

/** What bash makes of lines: for each, the words of every `p`, one command a line. Everything else is not found and says nothing. */
function bashReads(lines: readonly string[]): string[] {
  const script = [
    'set -f; PATH=; p() { builtin printf "<%s>" "$@"; builtin printf "|"; }',
    'command_not_found_handle() { p "$@"; }',
    ...lines.map((one) => `eval ${quote(one)}; builtin printf "\\1"`),
  ].join('\n');
  const { stdout } = spawnSync('bash', ['--norc', '--noprofile', '-c', script], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\u0001').slice(0, lines.length);
}

describe('plain lines, as bash itself reads them', () => {
  it('have the words that were judged, as written and as rebuilt', () => {
    const plain = fc
      .sample(line, { numRuns: 60_000, seed: 20_261_121 })
      .filter(
        (one) =>
          safeCommand(one)?.parts.every(
            ({ argv, operator }) => argv[0] === 'p' && (operator === undefined || operator === ';'),
          ) === true,
      );
    const lines = [...new Set(plain)].slice(0, 3_000);
    expect(lines.length).toBeGreaterThan(500);
    const parts = lines.map((one) => safeCommand(one)?.parts ?? []);
    const expected = parts.map((all) =>
      all
        .map(({ argv }) =>
          argv.length === 1
            ? '<>|'
            : `${argv
                .slice(1)
                .map((word) => `<${word}>`)
                .join('')}|`,
        )
        .join(''),
    );
    expect(bashReads(lines)).toEqual(expected);
    expect(bashReads(parts.map(rebuilt))).toEqual(expected);
  });

  it('quotes anything', () => {
    const words = fc.sample(
      fc.string({ unit: 'binary', maxLength: 20 }).filter((word) => !/[\0\u0001]/.test(word) && word.isWellFormed()),
      { numRuns: 500, seed: 7 },
    );
    expect(bashReads(words.map((word) => `p ${quote(word)}`))).toEqual(words.map((word) => `<${word}>|`));
  });
});
