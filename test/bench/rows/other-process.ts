/** The same from a client in another process, which cannot start eagerly. */
import { join } from 'node:path';
import { runNode } from '../../support/processes.ts';
import { median, summary } from '../measure/stats.ts';
import { homeEnvironment } from '../stage/stage.ts';
import { type Part, type Row, atMost } from './row.ts';

const ROUNDS = 50;
const PROGRAM = join(import.meta.dirname, '..', 'programs', 'other-process.ts');
const RATIOS: Record<string, string> = { 'read 2 KB': 'bare workflow', write: 'workflow with one activity' };

export const otherProcess: Part = {
  name: 'other-process',
  title: 'One call at a time, from another process',
  seconds: 14,
  async run({ stage: { home, service, session }, progress }) {
    const program = runNode(PROGRAM, [service.address, session.id, String(ROUNDS)], { env: homeEnvironment(home) });
    await using _program = program;
    const watch = setInterval(() => {
      const last = program.output().match(/round ([\d.]+)\n(?!.*round)/s);
      progress.at(Number(last?.[1] ?? 0));
    }, 500);
    const status = await program.ended.finally(() => clearInterval(watch));
    const line = program
      .output()
      .split('\n')
      .find((text) => text.startsWith('{'));
    if (status !== 0 || line === undefined)
      throw new Error(`the other process ended (${status}):\n${program.output()}`);
    const samples = JSON.parse(line) as Record<string, number[]>;
    const p50 = (name: string): number => median(samples[name] ?? []);
    const rows = Object.entries(samples).map(([name, row]): Row => {
      const of = RATIOS[name];
      return {
        name: `${name}, other process`,
        unit: 'ms',
        ...summary(row),
        ...(of !== undefined && { ratio: { of: `${of}, other process`, value: p50(name) / p50(of) } }),
      };
    });
    return {
      rows,
      targets: [
        atMost(
          'read from another process: p50 ÷ bare workflow from there',
          1.2,
          '×',
          p50('read 2 KB') / p50('bare workflow'),
        ),
        atMost(
          'write from another process: p50 ÷ one activity from there',
          1.2,
          '×',
          p50('write') / p50('workflow with one activity'),
        ),
      ],
    };
  },
};
