import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { stateId } from '../../src/context/index.ts';
import { statesOfWorkers, watchSharedState } from '../../src/server/shared-state.ts';
import { startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');

test(
  'workers with different state folders are noticed, those that share one are not',
  { timeout: 60_000 },
  async () => {
    const taskQueue = 'shared-state';
    await using one = await startTestService({ address, taskQueue });
    await using same = await startTestService({ address, taskQueue, folder: one.folder });
    const { client } = one.worker;
    const states = (): Promise<string[]> => statesOfWorkers(client.workflowService, 'default', taskQueue);
    const own = await stateId(one.stateDir);
    expect(own).toMatch(/^[0-9a-f]{12}$/);
    expect(await stateId(same.stateDir)).toBe(own);

    const lines: string[] = [];
    const log = pino(new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) }));
    const stop = watchSharedState({ client, taskQueue, stateDir: one.stateDir, log, everyMs: 200 });
    await expect.poll(states).toEqual([own]);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(lines).toEqual([]);

    await using other = await startTestService({ address, taskQueue });
    const others = [await stateId(other.stateDir)];
    await expect.poll(async () => (await states()).toSorted()).toEqual([own, ...others].toSorted());
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 50, own, others });
    stop();
  },
);
