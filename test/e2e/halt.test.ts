/** The emergency stop, and an agent's share of a worker, on a server of their own: a halt holds for a whole namespace. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { type TemporalServer, startTemporal } from '../../src/server/temporal.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

let dataDir: string;
let server: TemporalServer;
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'countersign-halt-'));
  server = await startTemporal({ dataDir, database: 'memory', port: 0, ui: false });
  service = await startTestService({
    address: server.address,
    taskQueue: 'countersign',
    config: '{"limits":{"running":2,"queued":3}}',
  });
  session = await service.countersign.openSession({ id: 'halt', workspace: service.workspace });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const args = (mark: string, ms = 0) => ({ log: service.log, mark, ms });

test(
  'while halted nothing new runs, waiting stays waiting, and resuming lets all of it go on',
  { timeout: 60_000 },
  async () => {
    const { control, approvals } = service.countersign;
    const running = await session.start('probe_once', args('running', 4_000));
    await expect.poll(() => marks(service.log, 'begin running')).toBe(1);
    const waiting = await session.start('probe_elevated', args('waiting'));
    await waiting.settled();

    expect(await control.halt({ by: 'ada', reason: 'fire drill' })).toMatchObject({ by: 'ada', reason: 'fire drill' });
    expect(await control.halt({ by: 'bob', reason: 'again' })).toMatchObject({ by: 'ada', reason: 'fire drill' });
    expect(await control.halted()).toMatchObject({ by: 'ada' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    const once = await session.start('probe_once', args('held'));
    const read = await session.start('list', { path: '.' });
    expect(await approvals.approve(waiting.id, { approver: 'ada' })).toMatchObject({ answer: 'accepted' });
    expect(await running.outcome()).toMatchObject({ status: 'completed' });
    for (const mark of ['held', 'waiting']) expect(await marks(service.log, `begin ${mark}`)).toBe(0);

    await control.resume({ by: 'ada', reason: 'over' });
    expect(await control.halted()).toBeUndefined();
    expect(await once.outcome()).toMatchObject({ status: 'completed', tries: 1 });
    expect(await read.outcome()).toMatchObject({ status: 'completed', tries: 1 });
    expect(await waiting.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada' } });
    for (const mark of ['held', 'waiting']) expect(await marks(service.log, `begin ${mark}`)).toBe(1);
  },
);

test('a held call can be cancelled', async () => {
  await service.countersign.control.halt({ by: 'ada', reason: 'again' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const call = await session.start('probe_once', args('never'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await call.cancel();
  expect(await call.outcome()).toMatchObject({ status: 'cancelled' });
  await service.countersign.control.resume({ by: 'ada', reason: 'over' });
  expect(await marks(service.log, 'begin never')).toBe(0);
});

test(
  'an agent has so many calls running, so many waiting, and more are told to come back',
  { timeout: 60_000 },
  async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) => session.call('probe_once', args(`busy-${i}`, 1_500))),
    );
    const statuses = outcomes.map(({ status, error }) => error?.code ?? status);
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(5);
    expect(statuses.filter((status) => status === 'too_many_calls')).toHaveLength(3);
  },
);
