/** The table of programs is held against the programs themselves: an option wrongly held to take a value would hide a file from the judge. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Program, PROGRAMS, WRITERS } from '../../src/policy/shell/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-programs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ran = (argv: readonly string[]) =>
  spawnSync(argv[0] ?? '', argv.slice(1), {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    input: '',
    encoding: 'utf8',
    timeout: 10_000,
  });

/** Others word their errors otherwise. */
const isGnu = ran(['ls', '--version']).stdout?.includes('GNU coreutils') === true;
const isHere = (program: string): boolean => ran(['which', program]).status === 0;

/** Named among those with a value, but the value can only stand behind `=`. */
const OPTIONAL_VALUE: readonly string[] = ['--color', '--colour', '--iso-8601'];

const short = (letters = ''): string[] => [...letters].map((letter) => `-${letter}`);

const table = ({ flags, values, long = [], longValues = [] }: Program) =>
  Object.fromEntries([
    ...[...short(flags), ...long].map((option) => [option, 'no value']),
    ...[...short(values), ...longValues].map((option) => [
      option,
      OPTIONAL_VALUE.includes(option) ? 'no value' : 'a value',
    ]),
  ]);

/** What a program says of an option that is the last word. */
function takes(program: string, option: string): string {
  const { stderr } = ran([program, option]);
  if (/invalid option|unrecognized option|unknown predicate/i.test(stderr)) return 'unknown';
  return /requires an argument|missing argument to/i.test(stderr) ? 'a value' : 'no value';
}

const tables = Object.entries({ ...PROGRAMS, ...WRITERS })
  .filter(([, { anyOptions }]) => anyOptions !== true)
  .map(([program, held]) => [program, table(held)] as const)
  .filter(([program, held]) => Object.keys(held).length > 0 && isHere(program));

describe.skipIf(!isGnu)('which options take a value', () => {
  it.each(tables)('%s as the table has it', (program, held) => {
    const told = Object.fromEntries(Object.keys(held).map((option) => [option, takes(program, option)]));
    expect(told).toEqual(held);
  });
});
