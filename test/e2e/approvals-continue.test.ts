/** A session that is about to continue as new goes on acting, on a real server. */
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { updateSession } from '../../src/client/transport.ts';
import { receiver } from '../notify/support.ts';
import { marks } from '../support/probe-tools.ts';
import { openShort } from '../support/short-session.ts';
import { type TestService, startTestService } from '../support/worker.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: 'approvals-continue' });
  vi.stubEnv('CONTINUE_SECRET', 'a secret of more than 16 bytes');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

test('decisions are taken while a notifier hangs, and people are told of what came meanwhile', async () => {
  // Of the first request it hears twice: a try that hangs for four seconds, and the one after it.
  await using hook = await receiver('hang', 200);
  const notify = [{ type: 'webhook', url: hook.url, secretEnv: 'CONTINUE_SECRET' }];
  service.configure(JSON.stringify({ channels: { inbox: { notify } } }));
  const session = await openShort(service, 'hanging', 5);
  const asking = async (callId: string) => {
    const call = await session.start('probe_elevated', { log: service.log, mark: callId }, { callId });
    await call.settled();
    return call;
  };
  const first = await asking('first');
  await vi.waitFor(() => expect(hook.received).toHaveLength(1), { timeout: 10_000 });
  const second = await asking('second');
  const { approvals } = service.countersign;
  expect(await approvals.approve(first.id, { approver: 'ada' })).toMatchObject({ answer: 'accepted' });
  expect(await first.outcome()).toMatchObject({ status: 'completed' });
  expect(hook.received).toHaveLength(1);
  const told = (): string[] =>
    hook.received.map(
      ({ body }) => (JSON.parse(body) as { data: { request: { callId: string } } }).data.request.callId,
    );
  await vi.waitFor(() => expect(told()).toEqual(['first', 'first', 'second']), { timeout: 15_000 });
  expect(await approvals.approve(second.id, { approver: 'ada' })).toMatchObject({ answer: 'accepted' });
  expect(await second.outcome()).toMatchObject({ status: 'completed' });
  expect((await session.view()).continuedAsNew).toBeGreaterThanOrEqual(2);
  expect(await marks(service.log, 'begin first')).toBe(1);
  expect(await marks(service.log, 'begin second')).toBe(1);
});

test('a session with updates always under way continues as new all the same', { timeout: 60_000 }, async () => {
  const session = await openShort(service, 'crowded', 40);
  const call = await session.start('probe_elevated', { log: service.log, mark: 'crowded' }, { callId: 'wanted' });
  await call.settled();
  const { request } = await service.countersign.approvals.show(call.id);
  const { digest } = request;
  // Each is looked into by an activity, and leaves the request waiting.
  const forged = {
    ...{ session: 'crowded', callId: 'wanted', digest, decision: 'approve', approver: 'ada' },
    ...{ at: Date.now(), signature: Buffer.alloc(64).toString('base64url') },
  };
  let over = false;
  const answers: string[] = [];
  const { client } = service.worker;
  const crowd = Array.from({ length: 9 }, async () => {
    while (!over) answers.push((await updateSession<{ answer: string }>(client, 'crowded', 'decide', forged)).answer);
  });
  await expect.poll(async () => (await session.view()).continuedAsNew, { timeout: 40_000 }).toBeGreaterThanOrEqual(3);
  over = true;
  await Promise.all(crowd);
  expect(new Set(answers)).toEqual(new Set(['bad_signature']));
  expect(answers.length).toBeGreaterThan(20);
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});
