/** One agent's flood of calls, and another agent's few that come after it. */
import { rm } from 'node:fs/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { Countersign, type SessionHandle } from '../../src/client/index.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService, testFolder } from '../support/worker.ts';

type Session = SessionHandle<Record<string, unknown>>;

const address = inject('temporalAddress');
const config = '{"agents":{"flood":{},"calm":{}}}';
const left: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const end of left.splice(0).toReversed()) await end();
});

const open = ({ countersign, workspace }: TestService, agent: string, id: string): Promise<Session> =>
  countersign.openSession({ id, workspace, agent });
const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('calls that a backlog holds run agent by agent, not first come first served', { timeout: 90_000 }, async () => {
  const taskQueue = 'fair-backlog';
  const folder = await testFolder();
  left.push(() => rm(folder, { recursive: true, force: true }));
  const service = await startTestService({ address, taskQueue, config, folder });
  await open(service, 'flood', 'fair-flood');
  await open(service, 'calm', 'fair-calm');
  await service[Symbol.asyncDispose]();

  // No worker runs: what is started now waits in the task queue.
  const countersign = await Countersign.connect<Record<string, unknown>>({ address, taskQueue });
  left.push(() => countersign.close());
  const start = async (id: string, count: number) => {
    const session = await countersign.session(id);
    return Promise.all(times(count).map((index) => session.start('list', { path: '.' }, { callId: `c${index}` })));
  };
  const flood = await start('fair-flood', 150);
  const calm = await start('fair-calm', 5);

  const again = await startTestService({ address, taskQueue, config, folder });
  left.push(() => again[Symbol.asyncDispose]());
  const ended = async (call: (typeof flood)[number]): Promise<number> => {
    expect(await call.outcome()).toMatchObject({ status: 'completed' });
    return (await countersign.temporal.workflow.getHandle(call.id).describe()).closeTime?.getTime() ?? Number.NaN;
  };
  const lastOfCalm = Math.max(...(await Promise.all(calm.map(ended))));
  const before = (await Promise.all(flood.map(ended))).filter((at) => at < lastOfCalm);
  expect(before.length).toBeLessThan(75);
});

test('a worker that one agent keeps busy has room for another', { timeout: 90_000 }, async () => {
  const service = await startTestService({ address, taskQueue: 'fair-busy', config });
  left.push(() => service[Symbol.asyncDispose]());
  const args = (mark: string, ms: number) => ({ log: service.log, mark, ms });
  const session = await open(service, 'flood', 'busy-flood');
  const flood = await Promise.all(times(130).map(() => session.start('probe_once', args('flood', 60_000))));
  const ends: string[] = [];
  const ended = Promise.all(
    flood.map(async (call) => {
      const { status, error } = await call.outcome();
      ends.push(error?.code ?? status);
    }),
  );
  // Ten run, a hundred wait for their turn, and the rest are told to come back.
  await expect.poll(() => ends.length, { timeout: 30_000 }).toBe(20);
  expect(new Set(ends)).toEqual(new Set(['too_many_calls']));
  expect(await marks(service.log, 'begin flood')).toBe(10);

  const calm = await open(service, 'calm', 'busy-calm');
  expect(await calm.call('probe_once', args('calm', 0))).toMatchObject({ status: 'completed' });
  expect(await marks(service.log, 'end flood')).toBe(0);

  await session.close();
  await ended;
  // Those that ran or had a place in the queue are cancelled; those that were held in between never began.
  expect(ends.slice(20).filter((end) => end === 'cancelled' || end === 'session_closed')).toHaveLength(110);
  expect(await marks(service.log, 'begin flood')).toBe(10);
});
