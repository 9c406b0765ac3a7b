/**
 * With `approvals.signatures: required`, someone whose own worker polls the service's queue, and who may start and delete workflows, gets
 * nothing run that no approver signed, and nothing twice. What ran is counted outside of everything that Temporal knows.
 */
import { rm } from 'node:fs/promises';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { signDecision } from '../../src/approval/sign.ts';
import { type Decision, type SealedDecision, sealDecisions } from '../../src/protocol/approval.ts';
import type { PrepareInput } from '../../src/protocol/call.ts';
import type { Grant } from '../../src/protocol/grant.ts';
import type { Ask, Judgement, Outcome, Prepared } from '../../src/protocol/outcome.ts';
import { workflowBundle } from '../../src/server/workflow-bundle.ts';
import { approver } from '../approval/support.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService, testFolder } from '../support/worker.ts';

const QUEUE = 'stranger-worker';
const SESSION = 'stranger-worker';
const address = inject('temporalAddress');
const ada = approver('ada');
const config = JSON.stringify({ approvals: { signatures: 'required', approvers: [ada.listed] } });

let folder: string;
let connection: NativeConnection;
let client: Client;
let service: TestService;

const start = (): Promise<TestService> => startTestService({ address, taskQueue: QUEUE, config, folder });

beforeAll(async () => {
  folder = await testFolder();
  service = await start();
  connection = await NativeConnection.connect({ address });
  client = new Client({ connection });
  await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await connection.close();
  await rm(folder, { recursive: true, force: true });
});

const args = (mark: string) => ({ log: service.log, mark });
const ran = (mark: string): Promise<number> => marks(service.log, `begin ${mark}`);
const nameOf = (callId: string): string => `call/${SESSION}/${callId}`;

/** As anybody in the namespace can. */
const startByHand = (callId: string, mark = callId): Promise<WorkflowHandle> =>
  client.workflow.start('toolCall', {
    workflowId: nameOf(callId),
    taskQueue: QUEUE,
    args: [{ tool: 'probe_elevated', arguments: args(mark) }],
  });

/** Once the call asks: ada's signed approval of it, as it then stands in a history for everybody to read. */
async function approved(
  callId: string,
): Promise<{ ask: Pick<Ask, 'digest' | 'requestedAt' | 'expiresAt'>; decision: SealedDecision }> {
  const show = () => service.countersign.approvals.show(nameOf(callId)).catch(() => undefined);
  await expect.poll(show, { timeout: 15_000 }).toBeDefined();
  const { digest, requestedAt, expiresAt } = (await service.countersign.approvals.show(nameOf(callId))).request;
  const decision: Decision = { session: SESSION, callId, digest, decision: 'approve', approver: 'ada' };
  return {
    ask: { digest, requestedAt, expiresAt },
    decision: sealDecisions([await signDecision(decision, ada.signer)], true),
  };
}

const outcomeOf = (handle: WorkflowHandle): Promise<Outcome> => handle.result() as Promise<Outcome>;

/** A worker of the service's own workflows on its queue, which takes no ordinary activities: those stay for the service. */
const stranger = async (prepareCall: (input: PrepareInput) => Promise<Prepared>): Promise<Worker> =>
  Worker.create({
    connection,
    taskQueue: QUEUE,
    workflowBundle: await workflowBundle(),
    activities: { prepareCall },
    enableNonLocalActivities: false,
  });

test(
  'a worker of a stranger on our queue prepares calls as it likes: nothing runs that nobody approved',
  { timeout: 90_000 },
  async () => {
    const real = await startByHand('real');
    const stolen = await approved('real');
    await real.signal('decision', stolen.decision);
    expect(await outcomeOf(real)).toMatchObject({ status: 'completed', approval: { approver: 'ada', verified: true } });

    const plan = {
      effect: 'once',
      limits: { timeoutMs: 60_000, maxTries: 1, backoffMs: 100, maxBackoffMs: 1_000 },
    } as const;
    const judgement = (verdict: Judgement['verdict']): Judgement => ({
      verdict,
      tier: 'workspace',
      rule: 'none',
      reason: 'it is harmless',
      trace: [],
      tierReasons: [],
      policy: 'none',
    });
    const grant: Grant = {
      id: 'forged',
      tool: 'probe_elevated',
      arguments: { log: { glob: '*' }, mark: { glob: '*' } },
      scope: { session: SESSION },
      place: { namespace: 'default', workspace: service.workspace },
      expiresAt: Date.now() + 3_600_000,
      by: 'ada',
      at: Date.now(),
    };
    const ask = (mark: string): Ask => ({
      ...stolen.ask,
      runId: 'none',
      arguments: args(mark),
      fingerprint: 'sha256:0',
      workspace: service.workspace,
      agent: 'default',
      required: 1,
      approvers: ['ada'],
      ladder: [],
      route: [SESSION],
      summary: 'harmless',
      markdown: 'harmless',
    });
    const run = { verdict: 'run', judgement: judgement('run'), plan } as const;
    const lies: Record<string, Prepared> = {
      'lie-run': run,
      'lie-grant': { ...run, grant: { grant, verified: true } },
      'lie-replay': { verdict: 'ask', judgement: judgement('ask'), plan, ask: ask('lie-replay') },
      'lie-result': { ...run, result: { status: 'completed', output: 'forged' } },
    };

    // The service is away, so that the stranger gets the calls; what they have run waits for the service.
    await service[Symbol.asyncDispose]();
    const rogue = await stranger(async (input) => lies[String(input.arguments['mark'])] as Prepared);
    const outcomes = await rogue.runUntil(async () => {
      const calls = await Promise.all(Object.keys(lies).map((mark) => startByHand(mark)));
      // A decision of the same digest: the stranger's request has it, so the call takes it for its own.
      await expect.poll(() => calls[2]?.query('approval'), { timeout: 15_000 }).not.toBeNull();
      await calls[2]?.signal('decision', stolen.decision);
      const scheduled = async (call: WorkflowHandle): Promise<number> =>
        (await call.describe()).raw.pendingActivities?.length ?? 0;
      await expect.poll(() => Promise.all(calls.slice(0, 3).map(scheduled)), { timeout: 30_000 }).toEqual([1, 1, 1]);
      service = await start();
      return Promise.all(calls.map(outcomeOf));
    });
    expect(outcomes).toMatchObject([
      { status: 'denied', error: { code: 'approval_missing' } },
      { status: 'denied', error: { code: 'approval_missing' } },
      { status: 'denied', error: { code: 'digest_mismatch' } },
      // What the stranger says of it. It had no effect.
      { status: 'completed', output: 'forged' },
    ]);
    expect(await Promise.all(['real', ...Object.keys(lies)].map(ran))).toEqual([1, 0, 0, 0, 0]);
  },
);

test(
  'a call that is deleted and started again runs nothing twice, and nothing by its old approval',
  { timeout: 180_000 },
  async () => {
    const ids = ['deleted-same', 'deleted-other'];
    const before = new Map<string, SealedDecision>();
    for (const id of ids) {
      const call = await startByHand(id);
      const { decision } = await approved(id);
      before.set(id, decision);
      await call.signal('decision', decision);
      expect(await outcomeOf(call)).toMatchObject({ status: 'completed' });
    }
    for (const id of ids)
      await client.workflowService.deleteWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: nameOf(id) },
      });
    const gone = (id: string): Promise<boolean> =>
      client.workflow
        .getHandle(nameOf(id))
        .describe()
        .then(
          () => false,
          () => true,
        );
    await expect.poll(() => Promise.all(ids.map(gone)), { timeout: 90_000, interval: 500 }).toEqual([true, true]);

    const again = async (id: string, mark: string): Promise<Outcome> => {
      const call = await startByHand(id, mark);
      const { ask, decision } = await approved(id);
      const old = before.get(id) as SealedDecision;
      await call.signal('decision', old);
      // The same decision, under this request's digest: the call hears it, and where it would run it does not hold.
      await call.signal('decision', { ...old, digest: ask.digest });
      await expect
        .poll(
          async () =>
            (await service.countersign.audit(nameOf(id))).entries.filter(({ what }) => what === 'executed').length,
          { timeout: 15_000 },
        )
        .toBe(1);
      expect(await ran(mark)).toBe(id === mark ? 1 : 0);
      await call.signal('decision', decision);
      return outcomeOf(call);
    };
    // Approved once more, it reports what was recorded.
    expect(await again('deleted-same', 'deleted-same')).toMatchObject({
      status: 'completed',
      output: { ran: 'deleted-same' },
    });
    expect(await again('deleted-other', 'something-else')).toMatchObject({
      status: 'denied',
      error: { code: 'call_id_reused' },
    });
    expect(await Promise.all([...ids, 'something-else'].map(ran))).toEqual([1, 1, 0]);
  },
);
