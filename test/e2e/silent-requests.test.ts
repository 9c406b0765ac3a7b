/** Requests of a stranger's workflows, which nobody runs or which answer what they like, beside honest ones. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readHistory, summaryOf } from '../../src/client/history.ts';
import type { SessionHandle } from '../../src/client/index.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const SESSION = 'silent-requests';
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: SESSION });
  session = await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());

test('a request that nobody answers for keeps no other from what a new grant covers', { timeout: 60_000 }, async () => {
  const { temporal, approvals } = service.countersign;
  const args = { log: service.log, mark: 'covered' };
  const call = await session.start('probe_elevated', args, { callId: 'covered' });
  await call.settled();
  const { request } = await approvals.show(call.id);
  const { firstExecutionRunId: runId } = await temporal.workflow.start('toolCall', {
    workflowId: `call/${SESSION}/silent`,
    taskQueue: 'nobody',
    args: [{ tool: 'probe_elevated', arguments: args }],
  });
  const holder = temporal.workflow.getHandle(`session/${SESSION}`);
  await holder.signal('requestApproval', { ...request, callId: 'silent', runId });
  await expect.poll(() => holder.query('pending')).toHaveLength(2);
  const exactly = { log: { exact: service.log }, mark: { exact: 'covered' } };
  await service.countersign
    .grants(SESSION)
    .add({ tool: 'probe_elevated', arguments: exactly, forMs: 3_600_000, by: 'ada', id: 'silent' });
  const outcome = await Promise.race([
    call.outcome(),
    new Promise((resolve) => setTimeout(resolve, 30_000, 'still waits')),
  ]);
  expect(outcome).toMatchObject({ status: 'completed', approval: { grant: 'silent' } });
});

test(
  'a request of a tool with any name holds up no session, and is no markup on its page',
  { timeout: 60_000 },
  async () => {
    const { temporal, approvals } = service.countersign;
    const call = await session.start('probe_elevated', { log: service.log, mark: 'beside' }, { callId: 'beside' });
    await call.settled();
    const { request } = await approvals.show(call.id);
    const holder = temporal.workflow.getHandle(`session/${SESSION}`);
    await holder.signal('requestApproval', {
      ...request,
      callId: 'long',
      tool: `[a](https://a.example)${'漢'.repeat(170)}`,
    });
    await expect
      .poll(() => holder.query('pending'), { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ callId: 'long' }));
    const approved = await Promise.race([
      approvals.approve(call.id, { approver: 'ada' }),
      new Promise((resolve) => setTimeout(resolve, 20_000, 'no answer')),
    ]);
    expect(approved).toMatchObject({ answer: 'accepted' });
    const summaries = async () => (await readHistory(temporal, `session/${SESSION}`)).map(summaryOf);
    await expect.poll(summaries).toContainEqual(expect.stringContaining('\\[a\\]'));
    for (const summary of await summaries()) expect(Buffer.byteLength(summary ?? '')).toBeLessThan(400);
  },
);
