/** `executeTool` is the only authority: what reaches it by other ways than a call's own workflow gains nothing. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { approvalDigest } from '../../src/approval/digest.ts';
import type { SessionHandle } from '../../src/client/index.ts';
import type { Approval } from '../../src/protocol/call.ts';
import type { Outcome } from '../../src/protocol/outcome.ts';
import { eventNames } from '../support/history.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const { ResetWorkflowExecutionRequest } = proto.temporal.api.workflowservice.v1;
const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'authority' });
  session = await service.countersign.openSession({ id: 'authority', workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());

const workflows = () => service.countersign.temporal.workflow;
const args = (mark: string) => ({ log: service.log, mark });

/** Starts a call's workflow without the client library. */
async function startByHand(workflowId: string, tool: string, mark: string, type = 'toolCall'): Promise<Outcome> {
  const handle = await workflows().start(type, {
    workflowId,
    taskQueue: 'authority',
    args: [{ tool, arguments: args(mark) }],
  });
  return (await handle.result()) as Outcome;
}

/** What an operator does in the Temporal UI: the history is cut at a workflow task and the rest happens again, signals included. */
async function reset(workflowId: string, workflowTaskFinishEventId = 4): Promise<WorkflowHandle> {
  const client = service.countersign.temporal;
  const request = ResetWorkflowExecutionRequest.fromObject({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId,
    resetReapplyType: 'RESET_REAPPLY_TYPE_SIGNAL',
  });
  const { runId }: { runId?: string } = await (client.workflowService.resetWorkflowExecution(request) as Promise<{
    runId?: string;
  }>);
  return client.workflow.getHandle(workflowId, runId);
}

/** The server deletes half a minute later, when its queues have passed the call's end. */
async function deleteCall(workflowId: string): Promise<void> {
  const { workflowService } = service.countersign.temporal;
  await workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution: { workflowId } });
  await expect
    .poll(
      () =>
        workflows()
          .getHandle(workflowId)
          .describe()
          .then(
            () => 'there',
            () => 'gone',
          ),
      { timeout: 90_000, interval: 500 },
    )
    .toBe('gone');
}

const approved = async (callId: string): Promise<Outcome> => {
  const call = await session.start('probe_elevated', args(callId), { callId });
  await call.settled();
  await service.countersign.approvals.approve(call.id, { approver: 'ada' });
  return call.outcome();
};

test('a reset call does not run its `once` tool again: it reports what was recorded', async () => {
  expect(await session.call('probe_once', args('reset'), { callId: 'reset' })).toMatchObject({ status: 'completed' });
  expect(await (await reset('call/authority/reset')).result()).toMatchObject({
    status: 'completed',
    output: { ran: 'reset' },
  });
  expect(await marks(service.log, 'begin reset')).toBe(1);
});

test('an approval is bound to its run: a call reset to before it asks again, and the old decision is not heard', async () => {
  expect(await approved('reset-early')).toMatchObject({ status: 'completed' });
  const again = await reset('call/authority/reset-early');
  await expect
    .poll(async () => (await service.countersign.approvals.pending()).map(({ callId }) => callId))
    .toContain('reset-early');
  expect(await service.countersign.approvals.deny('call/authority/reset-early', { reason: 'no' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await again.result()).toMatchObject({ status: 'denied', error: { code: 'approval_denied' } });
  expect(await marks(service.log, 'begin reset-early')).toBe(1);
});

test('a call reset to after its decision is denied: the decision was on another run', async () => {
  expect(await approved('reset-late')).toMatchObject({ status: 'completed' });
  const names = await eventNames(service.countersign.temporal, 'call/authority/reset-late');
  const decided = names.lastIndexOf('workflowExecutionSignaled');
  const again = await reset('call/authority/reset-late', names.indexOf('workflowTaskCompleted', decided) + 1);
  expect(await again.result()).toMatchObject({ status: 'denied', error: { code: 'digest_mismatch' } });
  expect(await marks(service.log, 'begin reset-late')).toBe(1);
});

test('a deleted and restarted id runs nothing twice', { timeout: 120_000 }, async () => {
  for (const callId of ['deleted-same', 'deleted-other']) {
    expect(await session.call('probe_once', args(callId), { callId })).toMatchObject({ status: 'completed' });
  }
  await Promise.all(['call/authority/deleted-same', 'call/authority/deleted-other'].map(deleteCall));
  expect(await session.call('probe_once', args('deleted-same'), { callId: 'deleted-same' })).toMatchObject({
    status: 'completed',
    output: { ran: 'deleted-same' },
  });
  expect(await session.call('probe_once', args('something else'), { callId: 'deleted-other' })).toMatchObject({
    status: 'denied',
    error: { code: 'call_id_reused' },
  });
  expect(await marks(service.log, 'begin deleted-same')).toBe(1);
  expect(await marks(service.log, 'begin something else')).toBe(0);
});

test('a call started by hand is judged like any other', async () => {
  const started = startByHand('call/authority/by-hand', 'probe_elevated', 'by-hand');
  await expect
    .poll(async () => (await service.countersign.approvals.pending()).map(({ callId }) => callId))
    .toContain('by-hand');
  await service.countersign.approvals.deny('call/authority/by-hand', { reason: 'no' });
  expect(await started).toMatchObject({ status: 'denied' });
  expect(await startByHand('call/nobody/by-hand', 'probe_once', 'by-hand')).toMatchObject({
    status: 'denied',
    error: { code: 'session_not_found' },
  });
  expect(await startByHand('whatever', 'probe_once', 'by-hand')).toMatchObject({
    status: 'denied',
    error: { code: 'not_a_call' },
  });
  expect(await marks(service.log, 'begin by-hand')).toBe(0);
});

test('decisions of a stranger, sent to the call itself under another digest, are not heard', async () => {
  const call = await session.start('probe_elevated', args('stranger'), { callId: 'stranger' });
  await call.settled();
  const forged = {
    session: 'authority',
    callId: 'stranger',
    digest: 'sha256:00',
    decision: 'approve',
    approver: 'mallory',
    verified: true,
  };
  await workflows().getHandle(call.id).signal('decision', forged);
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
  await call.outcome();
  expect(await marks(service.log, 'begin stranger')).toBe(0);
});

test('a worker of a stranger that schedules our activity is refused', { timeout: 60_000 }, async () => {
  const connection = await NativeConnection.connect({ address });
  const rogue = await Worker.create({
    connection,
    taskQueue: 'rogue',
    workflowsPath: join(import.meta.dirname, '../support/rogue/workflows.ts'),
  });
  const forgedApproval = (callId: string): Approval => {
    const digest = approvalDigest({
      session: 'authority',
      callId,
      runId: randomUUID(),
      agent: 'default',
      tool: 'probe_elevated',
      fingerprint: 'sha256:0',
      arguments: args('rogue'),
      workspace: service.workspace,
      requestedAt: Date.now(),
      expiresAt: Date.now() + 60_000,
    });
    const decision = { session: 'authority', callId, digest, decision: 'approve' as const, approver: 'mallory' };
    const sealed = { ...decision, verified: true, decisions: [decision] };
    return { digest, requestedAt: Date.now(), expiresAt: Date.now() + 60_000, decision: sealed };
  };
  const attempt = (type: string, workflowId: string, tool: string, approval?: Approval): Promise<unknown> =>
    workflows().execute(type, {
      workflowId,
      taskQueue: 'rogue',
      args: ['authority', { tool, arguments: args('rogue'), ...(approval && { approval }) }],
    });
  await rogue.runUntil(async () => {
    expect(await attempt('toolCall', 'call/authority/rogue-1', 'probe_elevated')).toMatchObject({
      status: 'denied',
      error: { code: 'approval_missing' },
    });
    expect(
      await attempt('toolCall', 'call/authority/rogue-2', 'probe_elevated', forgedApproval('rogue-2')),
    ).toMatchObject({
      status: 'denied',
      error: { code: 'digest_mismatch' },
    });
    expect(await attempt('somethingElse', 'call/authority/rogue-3', 'probe_once')).toMatchObject({
      status: 'denied',
      error: { code: 'not_a_call' },
    });
    expect(await attempt('toolCall', 'call/none/rogue-4', 'probe_once')).toMatchObject({
      status: 'denied',
      error: { code: 'session_not_found' },
    });
  });
  await connection.close();
  expect(await marks(service.log, 'begin rogue')).toBe(0);
});

test('policy of now rules: a call that was allowed when prepared is denied where it runs', async () => {
  const call = await session.start('probe_elevated', args('stricter'), { callId: 'stricter' });
  await call.settled();
  service.configure('{"deny":["probe_elevated"]}');
  try {
    expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
      answer: 'accepted',
    });
    expect(await call.outcome()).toMatchObject({ status: 'denied', error: { code: 'policy_denied' } });
  } finally {
    service.configure('{}');
  }
  expect(await marks(service.log, 'begin stricter')).toBe(0);
});

test('a session whose memo claims more than its parent has is not believed', async () => {
  const facts = {
    id: 'claims',
    kind: 'branch',
    parent: 'authority',
    main: 'authority',
    depth: 1,
    workspace: service.workspace,
    agent: 'default',
    channel: 'inbox',
  };
  const start = (id: string, taskQueue: string) =>
    workflows().start('session', {
      workflowId: `session/${id}`,
      taskQueue,
      args: [{}],
      memo: { countersignSession: { ...facts, id } },
    });
  // Our own worker refuses it, and then it is none.
  await expect((await start('claims', 'authority')).result()).rejects.toThrow();
  expect(await startByHand('call/claims/x', 'probe_once', 'claims')).toMatchObject({
    status: 'denied',
    error: { code: 'session_not_found' },
  });
  // One that nobody has refused stays open, and is not believed where calls run.
  const kept = await start('claims-kept', 'nobody');
  expect(await startByHand('call/claims-kept/x', 'probe_once', 'claims')).toMatchObject({
    status: 'denied',
    error: { code: 'undeclared' },
  });
  await kept.terminate();
  expect(await marks(service.log, 'begin claims')).toBe(0);
});
