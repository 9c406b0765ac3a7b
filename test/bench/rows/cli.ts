/** The CLI as a person feels it: whole processes, from start to exit. */
import { join } from 'node:path';
import type { CallHandle } from '../../../src/client/index.ts';
import { ROOT, runNode } from '../../support/processes.ts';
import { interleave } from '../measure/interleave.ts';
import { pooled } from '../measure/pool.ts';
import { median, summary } from '../measure/stats.ts';
import { homeEnvironment } from '../stage/stage.ts';
import { asking } from './calls.ts';
import { type Found, type Part, type Row, atMost } from './row.ts';

const ROUNDS = 12;
const WARM_UP = 2;
const SMALLEST = join(import.meta.dirname, '..', 'programs', 'smallest.mjs');
export const COUNTERSIGN = join(ROOT, 'bin', 'countersign.mjs');

/** Runs a program to its end; what it wrote. Throws when it fails. */
export async function wholeProcess(env: NodeJS.ProcessEnv, file: string, args: string[]): Promise<string> {
  const program = runNode(file, args, { env });
  const status = await program.ended;
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended (${status}):\n${program.output()}`);
  return program.output();
}

export const cli: Part = {
  name: 'cli',
  title: 'The CLI as whole processes',
  seconds: 26,
  async run({ stage: { home, service, session }, progress }): Promise<Found> {
    const env = homeEnvironment(home);
    const whole = (file: string, args: string[]): Promise<string> => wholeProcess(env, file, args);
    const waiting: CallHandle[] = await pooled(ROUNDS + WARM_UP, 4, () => asking(session));
    const samples = await interleave(
      [
        { name: 'smallest script', run: async () => void (await whole(SMALLEST, [service.address])) },
        { name: 'countersign pending', run: async () => void (await whole(COUNTERSIGN, ['pending'])) },
        {
          name: 'countersign approve',
          run: async () => void (await whole(COUNTERSIGN, ['approve', waiting.pop()?.id ?? ''])),
        },
      ],
      { rounds: ROUNDS, warmUp: WARM_UP, progress: (part) => progress.at(part) },
    );
    const smallest = median(samples.get('smallest script') ?? []);
    const ratio = (name: string): number => median(samples.get(name) ?? []) / smallest;
    const rows = [...samples].map(([name, row]): Row => ({
      name,
      unit: 'ms',
      ...summary(row),
      ...(name !== 'smallest script' && { ratio: { of: 'smallest script', value: ratio(name) } }),
    }));
    return {
      rows,
      targets: ['countersign pending', 'countersign approve'].map((name) =>
        atMost(`${name}: p50 ÷ smallest script`, 1.3, '×', ratio(name)),
      ),
    };
  },
};
