/** From nothing to the first outcome. */
import { median, summary } from '../measure/stats.ts';
import { openFolder } from '../stage/stage.ts';
import { startProcess } from '../stage/start-process.ts';
import { startTemporal } from '../../../src/server/temporal.ts';
import { join } from 'node:path';
import type { Part } from './row.ts';

const TIMES = 4;

export const coldStart: Part = {
  name: 'cold-start',
  title: 'Cold start: from the command to the first outcome',
  seconds: 28,
  async run({ progress }) {
    const whole: number[] = [];
    const worker: number[] = [];
    await using stack = new AsyncDisposableStack();
    const shared = await openFolder();
    stack.defer(shared.remove);
    const server = await startTemporal({ dataDir: join(shared.home, 'temporal'), port: 0, ui: false });
    stack.defer(() => server.stop());
    for (let i = 0; i < TIMES; i += 1) {
      const { home, workspace, remove } = await openFolder();
      stack.defer(remove);
      const own = await startProcess(home, workspace);
      whole.push(own.readyMs);
      await own.stop();
      progress.at((i + 0.6) / TIMES);
      const second = await openFolder();
      stack.defer(second.remove);
      const joined = await startProcess(second.home, second.workspace, { TEMPORAL_ADDRESS: server.address });
      worker.push(joined.readyMs);
      await joined.stop();
      progress.at((i + 1) / TIMES);
    }
    return {
      rows: [
        { name: 'whole service: server, worker, first call', unit: 'ms', ...summary(whole) },
        {
          name: 'worker alone, server running',
          unit: 'ms',
          ...summary(worker),
          note: `${(median(whole) - median(worker)).toFixed(0)} ms less`,
        },
      ],
    };
  },
};
