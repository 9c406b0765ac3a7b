/** Anyone in the namespace can send anything to a workflow. Nothing of it may stop a session or a call. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'hostile' });
  session = await service.countersign.openSession({ id: 'hostile', workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());

const workflow = (id: string) => service.countersign.temporal.workflow.getHandle(id);
const rubbish: unknown[] = [
  undefined,
  null,
  0,
  'text',
  [],
  {},
  { session: {}, callId: [] },
  { decision: 'approve' },
  { request: null },
  { constructor: 1 },
];

test('a session goes on after rubbish in every signal and update', { timeout: 60_000 }, async () => {
  const handle = workflow('session/hostile');
  for (const signal of [
    'requestApproval',
    'withdrawApproval',
    'escalate',
    'decide',
    'childEnded',
    'notify',
    'nonsense',
  ]) {
    for (const value of rubbish) await handle.signal(signal, value);
  }
  for (const update of ['decide', 'openChild', 'addGrant', 'revokeGrant', 'nonsense']) {
    for (const value of rubbish) await expect(handle.executeUpdate(update, { args: [value] })).rejects.toThrow();
  }
  expect(await session.view()).toMatchObject({ state: 'open', pending: 0, children: [], notices: [] });
  const call = await session.start('probe_elevated', { log: service.log, mark: 'after-rubbish' });
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});

test('a call goes on after rubbish in every signal and update', { timeout: 60_000 }, async () => {
  const call = await session.start('write', {}, { callId: 'rubbish' });
  await call.settled();
  for (const value of rubbish) {
    await workflow(call.id).signal('decision', value);
    await expect(workflow(call.id).executeUpdate('amend', { args: [value] })).rejects.toThrow();
  }
  expect(await call.amend({ path: 'after.txt', content: 'x' }, 1)).toMatchObject({ answer: 'accepted' });
  expect(await call.outcome()).toMatchObject({ status: 'completed', attempts: 2 });
});

test('a session that is told to close in rubbish closes', async () => {
  const rubbishly = await service.countersign.openSession({ id: 'closed-by-rubbish', workspace: service.workspace });
  await workflow('session/closed-by-rubbish').signal('close', { toString: 1, valueOf: 1 });
  expect(await rubbishly.close()).toMatchObject({ reason: 'closed' });
});

test('a decision with the right digest and rubbish within is not heard', async () => {
  const call = await session.start('probe_elevated', { log: service.log, mark: 'rubbish-within' });
  await call.settled();
  const { request } = await service.countersign.approvals.show(call.id);
  const { session: from, callId, digest } = request;
  const base = { session: from, callId, digest, decision: 'deny', approver: 'x', verified: false };
  for (const more of [
    { decisions: [null, null] },
    { decisions: [], code: 'nonsense' },
    { decisions: [], grant: 1 },
    {},
  ]) {
    await workflow(call.id).signal('decision', { ...base, ...more });
  }
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});

test("a call whose memo names another call's request takes no decision to it", async () => {
  const call = await session.start('probe_elevated', { log: service.log, mark: 'lured' }, { callId: 'lured' });
  await call.settled();
  const { request } = await service.countersign.approvals.show(call.id);
  const { client } = service.worker;
  const lure = await client.workflow.start('toolCall', {
    workflowId: 'call/hostile/lure',
    taskQueue: 'hostile',
    args: [{ tool: 'nothing', arguments: {} }],
    memo: { countersignWaiting: { for: 'approval', since: 0, tool: 'read', request, route: [], summary: 'read' } },
  });
  await lure.result();
  expect((await lure.describe()).memo).toHaveProperty('countersignWaiting.request.callId', 'lured');
  await expect(service.countersign.approvals.approve('call/hostile/lure', { approver: 'ada' })).rejects.toMatchObject({
    code: 'call_not_found',
  });
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
});

test.each([[[]], [[null]], [[{ tool: 1, arguments: {} }]], [[{ tool: 'read' }]], [[{ tool: 'read', arguments: [] }]]])(
  'a call started by hand with %j ends as invalid',
  async (args) => {
    const workflowId = `call/hostile/${crypto.randomUUID()}`;
    const handle = await service.countersign.temporal.workflow.start('toolCall', {
      workflowId,
      taskQueue: 'hostile',
      args,
    });
    expect(await handle.result()).toMatchObject({ status: 'invalid', error: { code: 'invalid_arguments' }, tries: 0 });
  },
);

test.each([[[]], [[null]], [[{ carried: 1 }]]])(
  'a session started by hand with %j and no facts fails at once',
  async (args) => {
    const workflowId = `session/${crypto.randomUUID()}`;
    const handle = await service.countersign.temporal.workflow.start('session', {
      workflowId,
      taskQueue: 'hostile',
      args,
    });
    await expect(handle.result()).rejects.toThrow();
  },
);

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])('%j is no tool', async (tool) => {
  const workflowId = `call/hostile/${crypto.randomUUID()}`;
  const handle = await service.countersign.temporal.workflow.start('toolCall', {
    workflowId,
    taskQueue: 'hostile',
    args: [{ tool, arguments: {} }],
  });
  expect(await handle.result()).toMatchObject({
    status: 'invalid',
    error: { code: 'unknown_tool' },
    attempts: 1,
    tries: 0,
  });
});

test('arguments may not name what reaches a prototype, nest deep, or be huge', async () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  for (const args of [
    { path: 'x', content: 'y', constructor: 1 },
    JSON.parse('{"path":"x","content":"y","__proto__":{}}'),
    { path: deep(20), content: '' },
  ]) {
    const call = await session.startUntyped('write', args);
    expect(await call.settled()).toMatchObject({ state: 'waiting', waiting: { error: { kind: 'ValidationError' } } });
    await call.cancel();
  }
  await expect(session.startUntyped('write', { path: 'x', content: 'x'.repeat(1_000_000) })).rejects.toMatchObject({
    code: 'arguments_too_large',
  });
});
