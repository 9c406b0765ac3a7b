import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SafeCommand, safeCommand } from '../../src/policy/index.ts';
import { normalForm } from '../../src/policy/shell/mvdan.ts';
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
  // By standard input: a single argument has 128 KB at most. Into a file: a write to a socket can be cut short on a busy machine.
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bash-'));
  const file = join(folder, 'read');
  const into = openSync(file, 'w');
  const { stderr, error, signal } = spawnSync('bash', ['--norc', '--noprofile'], {
    input: script,
    encoding: 'utf8',
    stdio: ['pipe', into, 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  closeSync(into);
  const stdout = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  if (error !== undefined || signal !== null || stderr.includes('write error'))
    throw new Error(`bash did not read the lines (${signal}): ${stderr.slice(0, 1_000)}`, { cause: error });
  return stdout.split('\u0001').slice(0, lines.length);
}

describe('plain lines, as bash itself reads them', () => {
  it('have the words that were judged, as written and as rebuilt', () => {
    const read = new Map<string, SafeCommand['parts']>();
    for (const one of fc.sample(line, { numRuns: 60_000, seed: 20_261_121 })) {
      const { parts = [] } = safeCommand(one) ?? {};
      const plain = parts.every(({ argv: [program], operator = ';' }) => program === 'p' && operator === ';');
      if (plain && parts.length > 0 && read.size < 3_000) read.set(one, parts);
    }
    expect(read.size).toBeGreaterThan(500);
    const lines = [...read.keys()];
    const parts = [...read.values()];
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

describe('the second parser', () => {
  it('says the same of a text however many it was asked about', () => {
    const texts = fc.sample(line, { numRuns: 5_000, seed: 5 });
    const first = texts.map(normalForm);
    for (let round = 0; round < 2; round += 1) expect(texts.map(normalForm)).toEqual(first);
  });
});
