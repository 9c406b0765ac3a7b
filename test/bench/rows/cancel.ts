/** From the wish to end a call to the death of all that it had started. */
import { randomUUID } from 'node:crypto';
import { isRunning, processStart } from '../../../src/server/processes.ts';
import { processesNamed } from '../measure/processes.ts';
import { summary } from '../measure/stats.ts';
import { until } from '../measure/until.ts';
import { type Part, atMost } from './row.ts';

const TIMES = 10;

export const cancel: Part = {
  name: 'cancel',
  title: 'Cancelling a running command',
  seconds: 14,
  async run({ stage: { session }, progress }) {
    const samples: number[] = [];
    for (let i = 0; i < TIMES; i += 1) {
      // A word that no other process has in its arguments; bash passes it to both children.
      const word = `bench-${randomUUID()}`;
      const command = `(exec -a ${word} sleep 600) & exec -a ${word} sleep 600`;
      const call = await session.start('shell', { command });
      await until(async () => (await processesNamed(word)).length >= 2, 'the command runs', { everyMs: 50 });
      const alive = (await processesNamed(word)).map((pid) => ({ pid, start: processStart(pid) ?? '' }));
      const since = performance.now();
      await call.cancel();
      await until(() => alive.every(({ pid, start }) => !isRunning(pid, start)), 'the command is dead', { everyMs: 2 });
      samples.push(performance.now() - since);
      const { status } = await call.outcome();
      if (status !== 'cancelled') throw new Error(`the cancelled call ended as ${status}`);
      progress.at((i + 1) / TIMES);
    }
    const row = { name: 'cancel to dead process group', unit: 'ms', ...summary(samples) } as const;
    return { rows: [row], targets: [atMost('cancel to dead process group: p95', 1_000, 'ms', row.p95)] };
  },
};
