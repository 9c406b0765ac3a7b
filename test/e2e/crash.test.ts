/**
 * Kills the worker, then the server, while calls are in every state there is. Nothing may be lost, and no `once` tool may run
 * twice: counted by marks that each execution leaves in a file.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallHandle } from '../../src/client/index.ts';
import { type CrashStage, openCrashStage } from '../support/crash-stage.ts';
import { marks } from '../support/probe-tools.ts';

let stage: CrashStage;
beforeEach(async () => {
  stage = await openCrashStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

interface Calls {
  running: CallHandle;
  repeatable: CallHandle;
  backoff: CallHandle;
  correction: CallHandle;
  approval: CallHandle;
}

/** One call in each state. */
async function startAll(onceMs: number): Promise<Calls> {
  const { session, log } = stage;
  const calls: Calls = {
    approval: await session.start('probe_elevated', { log, mark: 'approval' }, { callId: 'approval' }),
    correction: await session.start('write', { path: 'x.txt' }, { callId: 'correction' }),
    running: await session.start('probe_once', { log, mark: 'running', ms: onceMs }, { callId: 'running' }),
    repeatable: await session.start(
      'probe_patient',
      { log, mark: 'repeatable', ms: 4_000, slowFirst: true },
      { callId: 'repeatable' },
    ),
    backoff: await session.start(
      'probe_repeat',
      { log, mark: 'backoff', ms: 5_000, slowFirst: true },
      { callId: 'backoff' },
    ),
  };
  await calls.approval.settled();
  await calls.correction.settled();
  for (const mark of ['running', 'repeatable', 'backoff']) {
    await expect.poll(() => marks(log, `begin ${mark}`), { timeout: 10_000 }).toBe(1);
  }
  return calls;
}

/** What waited goes on to its end as if nothing had happened. */
async function finishWaiting(calls: Calls): Promise<void> {
  const { approvals } = stage.countersign;
  expect(await calls.correction.settled()).toMatchObject({
    state: 'waiting',
    waiting: { for: 'correction', attempt: 1 },
  });
  expect(await calls.correction.amend({ path: 'x.txt', content: 'x' }, 1)).toMatchObject({ answer: 'accepted' });
  expect(await calls.correction.outcome()).toMatchObject({ status: 'completed', attempts: 2 });
  const pending = await approvals.pending();
  expect(pending.map(({ id }) => id)).toEqual(['call/crash/approval']);
  expect(await approvals.approve('call/crash/approval', { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await calls.approval.outcome()).toMatchObject({ status: 'completed', tries: 1 });
  expect(await marks(stage.log, 'begin approval')).toBe(1);
}

test('the worker is killed', { timeout: 120_000 }, async () => {
  const calls = await startAll(60_000);
  await stage.killWorker();
  await stage.startWorker();
  await finishWaiting(calls);
  expect(await calls.backoff.outcome()).toMatchObject({ status: 'completed', tries: 2 });
  expect(await calls.repeatable.outcome()).toMatchObject({ status: 'completed', tries: 2 });
  expect(await marks(stage.log, 'begin repeatable')).toBe(2);
  expect(await calls.running.outcome()).toMatchObject({
    status: 'unknown',
    error: { code: 'outcome_unknown' },
    tries: 1,
  });
  expect(await marks(stage.log, 'begin running')).toBe(1);
  expect(await marks(stage.log, 'end running')).toBe(0);
});

test(
  'a call is cancelled after its worker was killed: what became of its tool is still said',
  { timeout: 120_000 },
  async () => {
    const { session, log } = stage;
    const call = await session.start('probe_once', { log, mark: 'lost', ms: 60_000 }, { callId: 'lost' });
    await expect.poll(() => marks(log, 'begin lost'), { timeout: 10_000 }).toBe(1);
    await stage.killWorker();
    await call.cancel();
    await stage.startWorker();
    expect(await call.outcome()).toMatchObject({ status: 'unknown', error: { code: 'outcome_unknown' } });
    expect(await marks(log, 'begin lost')).toBe(1);
  },
);

test('the server is killed', { timeout: 120_000 }, async () => {
  const calls = await startAll(5_000);
  await stage.killServer();
  await finishWaiting(calls);
  expect(await calls.backoff.outcome()).toMatchObject({ status: 'completed' });
  expect(await calls.repeatable.outcome()).toMatchObject({ status: 'completed' });
  expect(await calls.running.outcome()).toMatchObject({ status: 'completed', output: { ran: 'running' }, tries: 1 });
  expect(await marks(stage.log, 'begin running')).toBe(1);
  expect(await marks(stage.log, 'end running')).toBe(1);
});
