/**
 * With `approvals.signatures: required`, someone who may start workflows and send any signal or update in the namespace still can't
 * get an elevated call run. Each test is an attempt; what ran is counted outside of everything that Temporal knows.
 */
import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { approvalDigest } from '../../src/approval/digest.ts';
import { type Signer, signDecision, signGrant } from '../../src/approval/sign.ts';
import { verifyCalls } from '../../src/cli/judge/verify-calls.ts';
import { storyText } from '../../src/cli/render/audit-forms.ts';
import { storyOf } from '../../src/cli/render/audit.ts';
import type { ApproveOptions, CallHandle, SessionHandle } from '../../src/client/index.ts';
import type { OpenRequest } from '../../src/client/index.ts';
import { parseConfig } from '../../src/config/index.ts';
import { revokeGrant } from '../../src/context/index.ts';
import { type Decision, type SealedDecision, longCode, sealDecisions } from '../../src/protocol/approval.ts';
import type { ExecuteInput } from '../../src/protocol/call.ts';
import type { Grant } from '../../src/protocol/grant.ts';
import type { Execution } from '../../src/protocol/outcome.ts';
import { approver } from '../approval/support.ts';
import { eventNames } from '../support/history.ts';
import { marks } from '../support/probe-tools.ts';
import { STRANGE } from '../support/raw-workflow.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const { ResetWorkflowExecutionRequest } = proto.temporal.api.workflowservice.v1;
const QUEUE = 'signatures';
const address = inject('temporalAddress');

const ada = approver('ada');
const bob = approver('bob');
const eve = approver('eve', { roles: ['emergency'] });
const gone = approver('gone');
const mallory = approver('mallory');

const approvals = (over: object = {}, limits: object = {}) =>
  JSON.stringify({
    limits,
    ask: ['group:core'],
    approvals: {
      signatures: 'required',
      approvers: [ada.listed, bob.listed, eve.listed, { ...gone.listed, until: '2020-01-01' }],
      ...over,
    },
  });

let service: TestService;
let session: SessionHandle<Record<string, unknown>>;
let rogue: Worker;
let rogueRuns: Promise<void>;
let connection: NativeConnection;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: QUEUE, config: approvals() });
  session = await service.countersign.openSession({ id: 'signatures', workspace: service.workspace });
  connection = await NativeConnection.connect({ address });
  rogue = await Worker.create({
    connection,
    taskQueue: 'forger',
    workflowsPath: join(import.meta.dirname, '../support/rogue/forger.ts'),
  });
  rogueRuns = rogue.run();
});
afterAll(async () => {
  rogue.shutdown();
  await rogueRuns;
  await connection.close();
  await service[Symbol.asyncDispose]();
});

const workflows = () => service.countersign.temporal.workflow;
const args = (mark: string) => ({ log: service.log, mark });
const ran = (mark: string): Promise<number> => marks(service.log, `begin ${mark}`);

async function waiting(callId: string, tool = 'probe_elevated'): Promise<{ call: CallHandle; open: OpenRequest }> {
  const call = await session.start(tool, args(callId), { callId });
  await call.settled();
  return { call, open: await service.countersign.approvals.show(call.id) };
}

const decisionOn = ({ request }: OpenRequest, over: Partial<Decision> = {}): Decision => ({
  session: request.session,
  callId: request.callId,
  digest: request.digest,
  decision: 'approve',
  approver: 'ada',
  ...over,
});

const approve = async (call: CallHandle, options: ApproveOptions) =>
  service.countersign.approvals.approve(await service.countersign.approvals.show(call.id), options);
const deny = async (call: CallHandle, options: Parameters<typeof service.countersign.approvals.deny>[1]) =>
  service.countersign.approvals.deny(await service.countersign.approvals.show(call.id), options);

/** To the main session, as anybody can send it. */
const decide = (decision: Decision): Promise<unknown> =>
  workflows()
    .getHandle('session/signatures')
    .executeUpdate('decide', { args: [decision] });

/** To the call itself, past the main session. */
const signal = (call: CallHandle, sealed: SealedDecision): Promise<void> =>
  workflows().getHandle(call.id).signal('decision', sealed);

/** A workflow of the stranger's under a call's name; runs what it is told to by our worker. */
async function forger(
  callId: string,
): Promise<WorkflowHandle & { runId: string; execute(input: ExecuteInput): Promise<Execution> }> {
  const handle = await workflows().start('toolCall', {
    workflowId: `call/signatures/${callId}`,
    taskQueue: 'forger',
    args: [QUEUE],
  });
  let sent = 0;
  const execute = async (input: ExecuteInput): Promise<Execution> => {
    await handle.signal('execute', input);
    sent += 1;
    const results = async (): Promise<Execution[]> => handle.query<Execution[]>('results');
    await expect.poll(async () => (await results()).length, { timeout: 15_000 }).toBe(sent);
    return (await results())[sent - 1] as Execution;
  };
  return Object.assign(handle, { runId: handle.firstExecutionRunId, execute });
}

/** An approval of this run with its digest rightly computed, as whoever reads our source can. */
async function forged(
  callId: string,
  runId: string,
  tool: string,
  seal: (decision: Decision) => Promise<SealedDecision> | SealedDecision,
  { requestedAt, expiresAt } = { requestedAt: Date.now(), expiresAt: Date.now() + 60_000 },
) {
  const { open } = await template(tool);
  const content = {
    session: 'signatures',
    callId,
    runId,
    agent: 'default',
    tool,
    fingerprint: open.fingerprint,
    arguments: args(callId),
    workspace: service.workspace,
  };
  const digest = approvalDigest({ ...content, requestedAt, expiresAt });
  const decision: Decision = { session: 'signatures', callId, digest, decision: 'approve', approver: 'ada' };
  return {
    tool,
    arguments: args(callId),
    approval: { digest, requestedAt, expiresAt, decision: await seal(decision) },
  };
}

const templates = new Map<string, ReturnType<typeof waiting>>();
const template = (tool: string): ReturnType<typeof waiting> => {
  const known = templates.get(tool) ?? waiting(`template-${tool}`, tool);
  templates.set(tool, known);
  return known;
};

/** Why decisions on the call were refused, as its session was told. */
const refusals = async (callId: string): Promise<string[]> =>
  (await session.view()).notices
    .filter((notice) => notice.kind === 'bad_signature' && notice.callId === callId)
    .map(({ text }) => text);

const storyOfCall = async (id: string): Promise<string> =>
  storyText(storyOf(await service.countersign.audit(id), { trace: false }));

/** How the executions of a call ended, by its history. */
async function executions(id: string): Promise<{ status: string; code: string }[]> {
  const story = (await service.countersign.audit(id)).entries;
  return story.flatMap((entry) =>
    entry.what === 'executed' && entry.endedAt !== undefined
      ? [{ status: entry.status, code: entry.error?.code ?? '' }]
      : [],
  );
}

const here = (): Grant['place'] => ({
  namespace: service.countersign.temporal.options.namespace,
  workspace: service.workspace,
});

/** Unsigned. */
const anyGrant = (scope: string): Grant => ({
  id: 'any',
  tool: 'probe_elevated',
  arguments: { log: { glob: '*' }, mark: { glob: '*' } },
  scope: { session: scope },
  place: here(),
  expiresAt: Date.now() + 60_000,
  by: 'ada',
  at: Date.now(),
});

const sealed = async (decision: Decision, signer: Signer): Promise<SealedDecision> =>
  sealDecisions([await signDecision(decision, signer)], true);

// ── what works ──────────────────────────────────────────────────────────────

test('a decision by an approver’s key runs the call, once, and is verified', async () => {
  const { call } = await waiting('good');
  expect(await approve(call, { signer: ada.signer, reason: 'fine' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({
    status: 'completed',
    approval: { approver: 'ada', verified: true, decision: 'approve', reason: 'fine' },
  });
  expect(await ran('good')).toBe(1);
});

test('so do signed edits and denials, and the edit is what runs', async () => {
  const edit = await waiting('edited-from');
  await approve(edit.call, { signer: bob.signer, arguments: args('edited-to') });
  expect(await edit.call.outcome()).toMatchObject({
    status: 'completed',
    output: { ran: 'edited-to' },
    approval: { edited: true, verified: true },
  });
  expect([await ran('edited-from'), await ran('edited-to')]).toEqual([0, 1]);
  const denied = await waiting('denied');
  await deny(denied.call, { signer: bob.signer, reason: 'no' });
  expect(await denied.call.outcome()).toMatchObject({ status: 'denied', error: { code: 'approval_denied' } });
});

test('a quorum of two keys, and an emergency override by one', async () => {
  service.configure(approvals({ requiredFor: { elevated: 2 } }));
  try {
    const two = await waiting('two');
    expect(two.open).toMatchObject({ required: 2, approvers: ['ada', 'bob', 'eve'] });
    await approve(two.call, { signer: ada.signer });
    expect(await ran('two')).toBe(0);
    expect((await service.countersign.approvals.show(two.call.id)).collected).toMatchObject([
      { decision: { approver: 'ada', signature: expect.any(String) as string } },
    ]);
    expect((await service.countersign.audit(two.call.id)).entries).toContainEqual(
      expect.objectContaining({ what: 'decision', approver: 'ada', verified: true, agreed: { have: 1, need: 2 } }),
    );
    await approve(two.call, { signer: bob.signer });
    expect(await two.call.outcome()).toMatchObject({ status: 'completed', approval: { verified: true } });
    const one = await waiting('override');
    expect(await approve(one.call, { signer: bob.signer, override: true })).toMatchObject({ answer: 'bad_signature' });
    await approve(one.call, { signer: eve.signer, override: true });
    expect(await one.call.outcome()).toMatchObject({
      status: 'completed',
      approval: { approver: 'eve', verified: true },
    });
    const alone = await waiting('alone');
    await signal(alone.call, await sealed(decisionOn(alone.open), ada.signer));
    await expect.poll(() => refusals('alone')).toEqual([expect.stringContaining('1 of 2 approvers agreed')]);
    expect([await ran('two'), await ran('override'), await ran('alone')]).toEqual([1, 1, 0]);
    await approve(alone.call, { signer: ada.signer });
    await signal(alone.call, sealDecisions([decisionOn(alone.open)], true));
    await expect.poll(() => refusals('alone')).toHaveLength(2);
    // What counted before a forgery counts after it.
    await approve(alone.call, { signer: bob.signer });
    expect(await alone.call.outcome()).toMatchObject({ status: 'completed', tries: 1 });
  } finally {
    service.configure(approvals());
  }
});

// ── decisions sent to the main session ──────────────────────────────────────

test('forged decisions are answered bad_signature, leave the request waiting, and are recorded', async () => {
  const { call, open } = await waiting('forged');
  const other = await waiting('forged-other');
  const byAda = await signDecision(decisionOn(open), ada.signer);
  const attempts: Decision[] = [
    decisionOn(open),
    { ...decisionOn(open), verified: true } as Decision,
    { ...decisionOn(open), at: Date.now(), signature: 'A'.repeat(86) },
    { ...(await signDecision(decisionOn(open), mallory.signer)), approver: 'ada' },
    await signDecision(decisionOn(open), mallory.signer),
    await signDecision(decisionOn(open), { ...ada.signer, name: 'Ada' }),
    { ...(await signDecision(decisionOn(other.open), ada.signer)), callId: 'forged', digest: open.request.digest },
    { ...byAda, arguments: args('forged-edit') },
    { ...byAda, reason: 'altered' },
    { ...byAda, decision: 'deny' },
    await signDecision(decisionOn(open), gone.signer),
    await signDecision(decisionOn(open), ada.signer, Date.now() + 3_600_000),
    await signDecision(decisionOn(open), ada.signer, Date.now() - 3_600_000),
  ];
  for (const [index, decision] of attempts.entries()) {
    expect([index, await decide(decision)]).toMatchObject([index, { answer: 'bad_signature' }]);
  }
  expect(await decide({ ...(await signDecision(decisionOn(other.open), ada.signer)), callId: 'forged' })).toMatchObject(
    { answer: 'digest_mismatch' },
  );
  await workflows().getHandle('session/signatures').signal('decide', decisionOn(open));
  expect(
    (await session.view()).notices.filter(({ kind, callId }) => kind === 'bad_signature' && callId === 'forged').length,
  ).toBeGreaterThanOrEqual(13);
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  expect([await ran('forged'), await ran('forged-edit')]).toEqual([0, 0]);
  expect(await decide(byAda)).toMatchObject({ answer: 'accepted' });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
  expect(await ran('forged')).toBe(1);
});

test('an unsigned decision is answered with what to do', async () => {
  const { call } = await waiting('unsigned-answer');
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toEqual({
    answer: 'bad_signature',
    message:
      'The decision is not signed, and only signed ones count here: make a key with countersign approver init, have the line that it prints put into the service’s configuration, and decide again. The request still waits.',
  });
  await call.cancel();
});

test('on a request that cannot be looked at nobody decides, signed or not', async () => {
  service.configure(approvals({ signatures: 'optional' }));
  try {
    const call = await session.start('probe_elevated', { ...args('unseen'), ms: 8_000 }, { callId: 'unseen' });
    await call.settled();
    const open = await service.countersign.approvals.show(call.id);
    // Past the main session, which holds the request on: the call runs, and shows nothing more.
    await signal(call, await sealed(decisionOn(open), ada.signer));
    await expect.poll(() => ran('unseen')).toBe(1);
    for (const options of [{ signer: bob.signer }, { approver: 'bob' }]) {
      const answer = await service.countersign.approvals.approve(call.id, options);
      expect(answer).toMatchObject({
        answer: 'digest_mismatch',
        message: expect.stringContaining('not seen it') as string,
      });
    }
    expect((await call.outcome()).approval).toMatchObject({ approver: 'ada' });
  } finally {
    service.configure(approvals());
  }
});

test('a replayed decision is answered, and does nothing', async () => {
  const { call, open } = await waiting('replayed');
  const decision = await signDecision(decisionOn(open), ada.signer);
  await decide(decision);
  await call.outcome();
  expect(await decide(decision)).toMatchObject({ answer: 'already_decided' });
  await expect(
    workflows()
      .getHandle(call.id)
      .signal('decision', sealDecisions([decision], true)),
  ).rejects.toThrow();
  expect(await ran('replayed')).toBe(1);
});

// ── decisions sent past the main session ────────────────────────────────────

const past: [string, (open: OpenRequest) => Promise<SealedDecision>, string][] = [
  ['unsigned', async (open) => sealDecisions([decisionOn(open)], true), 'is not signed'],
  ['nobody', async (open) => ({ ...decisionOn(open), verified: true, decisions: [] }), '0 of 1 approvers agreed'],
  ['by-mallory', async (open) => sealed(decisionOn(open), { ...mallory.signer, name: 'ada' }), 'not that of "ada"'],
  [
    'of-another',
    async (open) => {
      const other = await signDecision(decisionOn((await template('probe_elevated')).open), ada.signer);
      return { ...decisionOn(open), verified: true, decisions: [other] };
    },
    'something else than what waits',
  ],
  [
    'altered-args',
    async (open) => ({ ...(await sealed(decisionOn(open), ada.signer)), arguments: args('altered') }),
    'not that of "ada"',
  ],
  [
    'edit-dropped',
    async (open) => {
      const { arguments: _, ...rest } = await sealed(decisionOn(open, { arguments: args('harmless') }), ada.signer);
      return rest;
    },
    'not that of "ada"',
  ],
  ['expired-key', async (open) => sealed(decisionOn(open), gone.signer), 'was an approver until'],
  [
    'other-record',
    async (open) => ({ ...(await sealed(decisionOn(open), ada.signer)), approver: 'bob' }),
    'says more than the decision',
  ],
  ['denial-unsigned', async (open) => sealDecisions([decisionOn(open, { decision: 'deny' })], true), 'is not signed'],
  [
    'denial-by-mallory',
    async (open) => sealed(decisionOn(open, { decision: 'deny' }), { ...mallory.signer, name: 'ada' }),
    'not that of "ada"',
  ],
  [
    'denial-reworded',
    async (open) => ({ ...(await sealed(decisionOn(open, { decision: 'deny' }), ada.signer)), reason: 'delete all' }),
    'something else than the denial',
  ],
  [
    'grant-forged',
    async (open) => ({ ...decisionOn(open), verified: true, decisions: [], grant: anyGrant('signatures') }),
    'grant does not cover',
  ],
];
test.each(past)(
  'sent to the call itself, %s: nothing runs, it is recorded, and the request still waits',
  async (callId, forge, why) => {
    const { call, open } = await waiting(callId);
    await signal(call, await forge(open));
    await expect.poll(() => refusals(callId)).toEqual([expect.stringContaining(why)]);
    await expect.poll(async () => call.settled()).toMatchObject({ state: 'waiting', waiting: { for: 'approval' } });
    expect([await ran(callId), await ran('altered')]).toEqual([0, 0]);
    expect(await decide(await signDecision(decisionOn(open), bob.signer))).toMatchObject({ answer: 'accepted' });
    expect(await call.outcome()).toMatchObject({
      status: 'completed',
      tries: 1,
      approval: { approver: 'bob', verified: true },
    });
    expect([await ran(callId), await ran('altered')]).toEqual([1, 0]);
    // The audit tells each by the check that is on record, whatever it says of itself.
    const told = (await service.countersign.audit(call.id)).entries.filter((entry) => entry.what === 'decided');
    expect(told).toMatchObject([
      { check: 'refused', verified: false, why: expect.stringContaining(why) as string },
      { check: 'holds', verified: true, approver: 'bob' },
    ]);
    expect((await service.countersign.audit('signatures')).entries).toContainEqual(
      expect.objectContaining({ what: 'notice', kind: 'bad_signature', callId }),
    );
  },
);

test('the audit takes no decision at its word that nobody looked at', async () => {
  const call = await session.start('probe_elevated', { ...args('unlooked'), ms: 2_000 }, { callId: 'unlooked' });
  await call.settled();
  const open = await service.countersign.approvals.show(call.id);
  await approve(call, { signer: ada.signer });
  await expect.poll(() => ran('unlooked')).toBe(1);
  // The call runs: it looks at no further decision.
  await signal(call, sealDecisions([decisionOn(open, { approver: 'bob', reason: 'forged' })], true));
  await workflows().getHandle(call.id).signal('decision', { decision: 'approve' });
  await call.outcome();
  const told = await storyOfCall(call.id);
  expect(told).toContain('approved by ada (signature verified)\n');
  expect(told).toContain('decision: approve in the name of bob: forged; no check of it is on record\n');
  expect(told).toMatch(/not heard: a decision message of another form, or on something else by \d+@/);
});

test('a decision that comes while a forged one is looked at is not lost', async () => {
  const { call, open } = await waiting('crossing');
  const good = await sealed(decisionOn(open), ada.signer);
  const forged = sealDecisions([decisionOn(open)], true);
  await signal(call, forged);
  await signal(call, good);
  expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada', verified: true } });
  expect([await ran('crossing'), (await refusals('crossing')).length]).toEqual([1, 1]);
});

test('forged decisions without end: the call gives up, and never runs', async () => {
  const { call, open } = await waiting('flooded');
  const forged = sealDecisions([decisionOn(open)], true);
  for (let sent = 0; sent < 20; sent += 1) await signal(call, forged).catch(() => undefined);
  const outcome = await call.outcome();
  expect(outcome).toMatchObject({ status: 'denied', tries: 0, error: { code: 'bad_signature' } });
  // Nobody's approval stands in the record of what nobody approved.
  expect(outcome).not.toHaveProperty('approval');
  expect(await ran('flooded')).toBe(0);
});

test('a forged decision neither stops nor prolongs the time that a request has', async () => {
  service.configure(approvals({ timeout: '3s' }));
  const { call, open } = await waiting('expiring').finally(() => service.configure(approvals()));
  await signal(call, sealDecisions([decisionOn(open)], true));
  expect(await call.outcome()).toMatchObject({ status: 'expired', error: { code: 'approval_expired' } });
  expect([(await refusals('expiring')).length, Date.now() - open.requestedAt < 6_000]).toEqual([1, true]);
});

test('a denial that an approver signed ends the call, also where somebody makes an approval of it', async () => {
  const { call, open } = await waiting('denial-turned');
  const denial = await sealed(decisionOn(open, { decision: 'deny' }), ada.signer);
  await signal(call, { ...denial, decision: 'approve' });
  expect(await call.outcome()).toMatchObject({ status: 'denied', error: { code: 'approval_denied' } });
  expect(await ran('denial-turned')).toBe(0);
});

test('an approver who is removed between decision and execution counts no more', async () => {
  const { call, open } = await waiting('removed');
  const blocker = await waiting('blocker');
  try {
    service.configure(approvals({}, { running: 1 }));
    await approve(blocker.call, { signer: ada.signer, arguments: { ...args('blocker'), ms: 2_000 } });
    await expect.poll(() => ran('blocker')).toBe(1);
    // The session takes it and is done with it; the call waits for its turn.
    expect(await decide(await signDecision(decisionOn(open), ada.signer))).toMatchObject({ answer: 'accepted' });
    service.configure(approvals({ approvers: [bob.listed] }, { running: 1 }));
    await expect
      .poll(() => refusals('removed'), { timeout: 10_000 })
      .toEqual([expect.stringContaining('lists no approver')]);
    expect(await ran('removed')).toBe(0);
    await expect
      .poll(() => decide(decisionOn(open)), { timeout: 5_000 })
      .toMatchObject({ answer: 'bad_signature', message: expect.stringContaining('still waits') });
    expect(await approve(call, { signer: bob.signer })).toMatchObject({
      answer: 'accepted',
    });
    expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'bob' } });
  } finally {
    service.configure(approvals());
  }
});

// ── workflows of a stranger ─────────────────────────────────────────────────

test('a call that is started by hand asks like any other', async () => {
  const handle = await workflows().start('toolCall', {
    workflowId: 'call/signatures/by-hand',
    taskQueue: QUEUE,
    args: [{ tool: 'probe_elevated', arguments: args('by-hand') }],
  });
  await expect
    .poll(async () => (await service.countersign.approvals.pending()).map(({ callId }) => callId))
    .toContain('by-hand');
  const open = await service.countersign.approvals.show('call/signatures/by-hand');
  await handle.signal('decision', sealDecisions([decisionOn(open)], true));
  await expect.poll(() => refusals('by-hand')).toHaveLength(1);
  await decide(await signDecision(decisionOn(open, { decision: 'deny' }), ada.signer));
  expect(await handle.result()).toMatchObject({ status: 'denied', error: { code: 'approval_denied' } });
  expect(await ran('by-hand')).toBe(0);
});

/** A stranger's main session, which offers these grants where activities look for them, and a call below it. */
async function callBelow(id: string, grants: Grant[]): Promise<WorkflowHandle> {
  const facts = {
    id,
    kind: 'main',
    main: id,
    depth: 0,
    workspace: service.workspace,
    agent: 'default',
    channel: 'inbox',
  };
  await workflows().start('session', {
    workflowId: `session/${id}`,
    taskQueue: 'forger',
    memo: { countersignSession: facts, countersignGrants: grants },
  });
  return workflows().start('toolCall', {
    workflowId: `call/${id}/x`,
    taskQueue: QUEUE,
    args: [{ tool: 'probe_elevated', arguments: args(id) }],
  });
}

test('a main session of a stranger approves everything, in vain', async () => {
  const handle = await callBelow('fake-main', []);
  await expect.poll(() => executions(handle.workflowId)).toEqual([{ status: 'refused', code: 'bad_signature' }]);
  await handle.terminate();
  expect(await ran('fake-main')).toBe(0);
});

test('a main session of a stranger offers grants: only one that an approver signed for it is heard', async () => {
  const grant = anyGrant('fake-offers');
  const elsewhere = await signGrant({ ...grant, place: { ...here(), namespace: 'theirs' } }, ada.signer);
  const handle = await callBelow('fake-offers', [
    grant,
    await signGrant(grant, { ...mallory.signer, name: 'ada' }),
    await signGrant({ ...grant, by: 'mallory' }, mallory.signer),
    { ...elsewhere, place: here() },
    await signGrant({ ...grant, scope: { session: 'signatures' } }, ada.signer),
  ]);
  // It was asked about, so that the session could send its own approval.
  await expect.poll(() => executions(handle.workflowId)).toEqual([{ status: 'refused', code: 'bad_signature' }]);
  await handle.terminate();
  expect(await ran('fake-offers')).toBe(0);
  const signed = await signGrant(anyGrant('fake-holds'), ada.signer);
  expect(await (await callBelow('fake-holds', [signed])).result()).toMatchObject({
    status: 'completed',
    approval: { approver: 'ada', verified: true, grant: 'any' },
  });
  expect(await ran('fake-holds')).toBe(1);
});

test('a workflow of a stranger under a call’s name has nothing run, however well it forges', async () => {
  const attempts: [string, (decision: Decision) => Promise<SealedDecision> | SealedDecision, string][] = [
    ['rogue-unsigned', (decision) => sealDecisions([decision], true), 'bad_signature'],
    ['rogue-none', (decision) => ({ ...decision, verified: true, decisions: [] }), 'approval_missing'],
    ['rogue-mallory', (decision) => sealed({ ...decision, approver: 'mallory' }, mallory.signer), 'bad_signature'],
    ['rogue-as-ada', (decision) => sealed(decision, { ...mallory.signer, name: 'ada' }), 'bad_signature'],
  ];
  for (const [callId, seal, code] of attempts) {
    const handle = await forger(callId);
    expect(await handle.execute(await forged(callId, handle.runId, 'probe_elevated', seal))).toMatchObject({
      status: 'refused',
      error: { code },
    });
    expect(await handle.execute({ tool: 'probe_elevated', arguments: args(callId) })).toMatchObject({
      status: 'denied',
      error: { code: 'approval_missing' },
    });
    await handle.terminate();
    expect(await ran(callId)).toBe(0);
  }
});

test('an approval of a request that was to wait for longer than any is void once any would be', async () => {
  const handle = await forger('forever');
  const seal = (decision: Decision) => sealed(decision, ada.signer);
  const day = 86_400_000;
  const times = { requestedAt: Date.now() - 32 * day, expiresAt: Date.now() + 300 * day };
  expect(await handle.execute(await forged('forever', handle.runId, 'probe_elevated', seal, times))).toMatchObject({
    status: 'denied',
    error: { code: 'approval_expired' },
  });
  await handle.terminate();
  expect(await ran('forever')).toBe(0);
});

test('a signed approval that was kept back holds until a day after its request expired, and no longer', async () => {
  const hour = 3_600_000;
  const kept = async (callId: string, expiredHours: number): Promise<Execution> => {
    const expiresAt = Date.now() - expiredHours * hour;
    const times = { requestedAt: expiresAt - hour, expiresAt };
    const seal = async (decision: Decision) =>
      sealDecisions([await signDecision(decision, ada.signer, expiresAt - 1_000)], true);
    const handle = await forger(callId);
    const execution = await handle.execute(await forged(callId, handle.runId, 'probe_elevated', seal, times));
    await handle.terminate();
    return execution;
  };
  expect(await kept('kept-back', 23)).toMatchObject({ status: 'completed' });
  expect(await kept('kept-too-long', 25)).toMatchObject({ status: 'denied', error: { code: 'approval_expired' } });
  expect([await ran('kept-back'), await ran('kept-too-long')]).toEqual([1, 0]);
});

test('a decision on an earlier run of the same id is none on this one', async () => {
  const first = await forger('again');
  const input = await forged('again', first.runId, 'probe_elevated', (decision) => sealed(decision, ada.signer));
  await first.terminate();
  const second = await forger('again');
  expect(second.runId).not.toBe(first.runId);
  expect(await second.execute(input)).toMatchObject({ status: 'denied', error: { code: 'digest_mismatch' } });
  const own = await forged('again', second.runId, 'probe_elevated', () => input.approval.decision);
  expect(await second.execute(own)).toMatchObject({ status: 'refused', error: { code: 'digest_mismatch' } });
  const moved = {
    ...own,
    approval: { ...own.approval, decision: { ...input.approval.decision, digest: own.approval.digest } },
  };
  expect(await second.execute(moved)).toMatchObject({ status: 'refused', error: { code: 'bad_signature' } });
  await second.terminate();
  expect(await ran('again')).toBe(0);
});

test('an approval that is real serves one execution, of a `once` tool and of a repeatable one', async () => {
  for (const tool of ['probe_elevated', 'probe_repeat']) {
    const callId = `twice-${tool}`;
    const handle = await forger(callId);
    const input = await forged(callId, handle.runId, tool, (decision) => sealed(decision, ada.signer));
    expect(await handle.execute(input)).toMatchObject({ status: 'completed' });
    const again = await handle.execute(input);
    expect(again).toMatchObject(
      tool === 'probe_elevated' ? { status: 'completed' } : { status: 'denied', error: { code: 'approval_missing' } },
    );
    const late = { ...input, arguments: args('late') };
    expect(await handle.execute(late)).toMatchObject({ status: 'denied', error: { code: 'digest_mismatch' } });
    await handle.terminate();
    expect([await ran(callId), await ran('late')]).toEqual([1, 0]);
  }
});

test('a reset does not use a signed decision twice', async () => {
  const { call } = await waiting('reset');
  await approve(call, { signer: ada.signer });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
  const client = service.countersign.temporal;
  const names = await eventNames(client, call.id);
  const at = names.indexOf('workflowTaskCompleted', names.lastIndexOf('workflowExecutionSignaled')) + 1;
  const request = ResetWorkflowExecutionRequest.fromObject({
    namespace: 'default',
    workflowExecution: { workflowId: call.id },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: at,
    resetReapplyType: 'RESET_REAPPLY_TYPE_SIGNAL',
  });
  const { runId }: { runId?: string } = await (client.workflowService.resetWorkflowExecution(request) as Promise<{
    runId?: string;
  }>);
  expect(await client.workflow.getHandle(call.id, runId).result()).toMatchObject({
    status: 'denied',
    error: { code: 'digest_mismatch' },
  });
  expect(await ran('reset')).toBe(1);
});

test('an outcome can be forged by who owns the namespace; the effect can’t', async () => {
  const handle = await forger('outcome');
  await handle.signal('finish', {
    status: 'completed',
    output: { ran: 'outcome' },
    attempts: 1,
    tries: 1,
    approval: { approver: 'ada', verified: true, decision: 'approve' },
  });
  expect(await session.callHandle('outcome').outcome()).toMatchObject({
    status: 'completed',
    approval: { verified: true },
  });
  expect(await ran('outcome')).toBe(0);
  // Also one that names no approval is told from what has run.
  const bare = await forger('outcome-bare');
  await bare.signal('finish', { status: 'completed', output: { ran: 'outcome' }, attempts: 1, tries: 1 });
  await bare.result();
  const { config } = parseConfig(approvals(), 'test.jsonc');
  const names = ['call/signatures/outcome', 'call/signatures/outcome-bare'];
  const text = 'completed, and nothing on record says that the tool has run';
  expect(await verifyCalls(service.countersign.temporal, names, config)).toMatchObject(
    names.map((call) => ({
      call,
      holds: false,
      checks: expect.arrayContaining([expect.objectContaining({ what: 'outcome', ok: false, text })]) as object,
    })),
  );
});

test('an activity completed by a stranger gives a false outcome; what ran was approved', async () => {
  const call = await session.start('probe_elevated', { ...args('stranger'), ms: 4_000 }, { callId: 'stranger' });
  await call.settled();
  await approve(call, { signer: ada.signer });
  await expect.poll(() => ran('stranger'), { timeout: 10_000 }).toBe(1);
  const { raw } = await workflows().getHandle(call.id).describe();
  const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
  await service.countersign.temporal.activity.complete(
    { workflowId: call.id, activityId },
    { status: 'completed', output: 'forged' },
  );
  expect(await call.outcome()).toMatchObject({ status: 'completed', output: 'forged' });
  expect(await ran('stranger')).toBe(1);
});

test('an activity completed by a stranger with what is no answer, or with what nobody can decode, ends the call as unknown', async () => {
  const nothings = [
    STRANGE,
    ...[null, 'text', {}, { status: 'failed' }].map((one) => defaultPayloadConverter.toPayload(one)),
  ];
  for (const [i, payload] of nothings.entries()) {
    const call = await session.start('probe_elevated', { ...args(`nothing-${i}`), ms: 4_000 });
    await call.settled();
    await approve(call, { signer: ada.signer });
    await expect.poll(() => ran(`nothing-${i}`), { timeout: 10_000 }).toBe(1);
    const { raw } = await workflows().getHandle(call.id).describe();
    await service.countersign.temporal.workflowService.respondActivityTaskCompletedById({
      namespace: 'default',
      workflowId: call.id,
      activityId: raw.pendingActivities?.[0]?.activityId ?? '',
      result: { payloads: [payload] },
    });
    expect(await call.outcome()).toMatchObject({ status: 'unknown', error: { code: 'outcome_unknown' } });
  }
});

// ── what approvers are shown ────────────────────────────────────────────────

test('a lying preview is not signed', async () => {
  const { open } = await template('probe_elevated');
  const handle = await forger('lying');
  const { approval } = await forged('lying', handle.runId, 'probe_elevated', (decision) =>
    sealDecisions([decision], true),
  );
  const request = { ...open.request, callId: 'lying', runId: handle.runId, ...approval, route: [] };
  const { digest, requestedAt, expiresAt, session: id, callId, runId, tool, tier } = request;
  const clean = { digest, requestedAt, expiresAt, session: id, callId, runId, tool, tier, route: [] };
  const truth = { ...open, request: clean, arguments: args('lying'), requestedAt };
  let signatures = 0;
  const signer: Signer = { name: 'ada', sign: (bytes) => ((signatures += 1), ada.signer.sign(bytes)) };
  const lies: object[] = [
    { ...truth, arguments: args('harmless') },
    { ...truth, workspace: '/somewhere/else' },
    { ...truth, agent: 'other' },
    { ...truth, requestedAt: requestedAt - 1 },
    { ...truth, bound: { executables: [], cwd: '/', envHash: '', scripts: [], partly: false, unbound: [] } },
    { ...truth, request: { ...clean, tool: 'read' } },
    { ...truth, request: { ...clean, callId: 'template-probe_elevated' } },
    { ...truth, request: { ...clean, runId: open.request.runId } },
  ];
  for (const lie of lies) {
    await handle.signal('show', lie);
    await expect(service.countersign.approvals.show('call/signatures/lying')).rejects.toMatchObject({
      code: 'digest_mismatch',
    });
    await expect(service.countersign.approvals.approve('call/signatures/lying', { signer })).rejects.toMatchObject({
      code: 'digest_mismatch',
    });
    await expect(
      service.countersign.approvals.approve({ ...open, ...lie } as OpenRequest, { signer }),
    ).rejects.toMatchObject({ code: 'digest_mismatch' });
  }
  expect(signatures).toBe(0);
  await handle.signal('show', truth);
  expect(await service.countersign.approvals.show('call/signatures/lying')).toMatchObject({ arguments: args('lying') });
  await handle.terminate();
});

test('a signature names the request that was seen; another one that stands under its name gets none', async () => {
  const { call, open } = await waiting('swapped');
  const { approvals: here } = service.countersign;
  let signatures = 0;
  const signer: Signer = { name: 'ada', sign: (bytes) => ((signatures += 1), ada.signer.sign(bytes)) };
  const seen = longCode(open.request.digest);
  expect((await here.show(seen)).id).toBe(call.id);
  // A stranger ends the call, and has another ask under its id.
  await workflows().getHandle(call.id).terminate();
  await workflows().start('toolCall', {
    workflowId: call.id,
    taskQueue: QUEUE,
    args: [{ tool: 'probe_elevated', arguments: args('swapped-evil') }],
  });
  await expect.poll(async () => (await here.show(call.id)).arguments).toEqual(args('swapped-evil'));
  const now = await here.show(call.id);
  expect(longCode(now.request.digest)).not.toBe(seen);
  // By the listing, which is behind.
  await expect.poll(async () => here.show(now.code).catch(() => undefined)).toMatchObject({ id: call.id });
  for (const name of [call.id, now.code, longCode(now.request.digest).slice(0, -1)]) {
    await expect(here.approve(name, { signer })).rejects.toMatchObject({ code: 'invalid_usage' });
    await expect(here.deny(name, { signer, reason: 'no' })).rejects.toMatchObject({ code: 'invalid_usage' });
  }
  await expect(here.approve(seen, { signer })).rejects.toMatchObject({ code: 'call_not_found' });
  expect(signatures).toBe(0);
  expect(await here.approve(open, { signer })).toMatchObject({ answer: 'digest_mismatch' });
  expect([await ran('swapped'), await ran('swapped-evil')]).toEqual([0, 0]);
  expect(await here.deny(longCode(now.request.digest), { signer, reason: 'no' })).toMatchObject({ answer: 'accepted' });
  expect(await session.callHandle('swapped').outcome()).toMatchObject({ status: 'denied' });
});

// ── grants ──────────────────────────────────────────────────────────────────

test('a grant lets run what it covers only where its maker signed it, and until it is revoked', async () => {
  const grant: Grant = {
    id: 'e2e-grant',
    tool: 'probe_elevated',
    arguments: { log: { exact: service.log }, mark: { glob: 'granted-*' } },
    scope: { session: 'signatures' },
    place: here(),
    expiresAt: Date.now() + 3_600_000,
    by: 'ada',
    at: Date.now(),
  };
  const good = await signGrant(grant, ada.signer);
  const attempts: [string, Grant][] = [
    ['granted-unsigned', grant],
    ['granted-mallory', await signGrant(grant, { ...mallory.signer, name: 'ada' })],
    ['granted-unknown', await signGrant(grant, mallory.signer)],
    ['granted-expired', await signGrant({ ...grant, at: 1, expiresAt: 2 }, ada.signer)],
    ['granted-there', await signGrant({ ...grant, place: { ...here(), namespace: 'theirs' } }, ada.signer)],
    ['granted-beside', await signGrant({ ...grant, place: { ...here(), workspace: '/elsewhere' } }, ada.signer)],
    [
      'granted-moved',
      { ...(await signGrant({ ...grant, place: { ...here(), namespace: 'theirs' } }, ada.signer)), place: here() },
    ],
    ['granted-braces', { ...good, arguments: { ...good.arguments, mark: { glob: '{a,b}'.repeat(30) } } }],
    ['granted-stretched', { ...good, expiresAt: good.expiresAt + 1 }],
    ['elsewhere', good],
    ['widened', { ...good, arguments: { ...good.arguments, mark: { glob: '*' } } }],
  ];
  for (const [callId, forgedGrant] of attempts) {
    const handle = await forger(callId);
    expect([
      callId,
      await handle.execute({ tool: 'probe_elevated', arguments: args(callId), grant: forgedGrant }),
    ]).toMatchObject([callId, { status: 'refused', error: { code: 'approval_missing' } }]);
    await handle.terminate();
    expect(await ran(callId)).toBe(0);
  }
  const granted = await forger('granted-good');
  expect(await granted.execute({ tool: 'probe_elevated', arguments: args('granted-good'), grant: good })).toMatchObject(
    { status: 'completed' },
  );
  await granted.terminate();
  expect(await ran('granted-good')).toBe(1);
  await revokeGrant(service.stateDir, 'e2e-grant');
  const revoked = await forger('granted-revoked');
  expect(
    await revoked.execute({ tool: 'probe_elevated', arguments: args('granted-revoked'), grant: good }),
  ).toMatchObject({ status: 'refused' });
  await revoked.terminate();
  expect(await ran('granted-revoked')).toBe(0);
});

// ── commands ────────────────────────────────────────────────────────────────

test('an approved script runs as it was approved, or not at all', async () => {
  const script = join(service.workspace, 'deploy.sh');
  const put = async (text: string): Promise<void> => {
    await writeFile(script, text);
    await chmod(script, 0o755);
  };
  const ask = async (callId: string): Promise<CallHandle> => {
    await put(`echo "begin ${callId}" >> ${service.log}\n`);
    const call = await session.start(
      'shell',
      { command: './deploy.sh', sandbox: false, reason: 'deploys' },
      { callId },
    );
    expect(await call.settled()).toMatchObject({ state: 'waiting' });
    return call;
  };
  const kept = await ask('script-kept');
  const shown = await service.countersign.approvals.show(kept.id);
  expect(shown.bound).toMatchObject({ cwd: service.workspace, scripts: [{ path: script }], partly: true });
  await service.countersign.approvals.approve(shown, { signer: ada.signer });
  expect(await kept.outcome()).toMatchObject({ status: 'completed', output: { exitCode: 0 } });
  const changed = await ask('script-changed');
  const before = await service.countersign.approvals.show(changed.id);
  await put(`echo "begin script-evil" >> ${service.log}\n`);
  await service.countersign.approvals.approve(before, { signer: ada.signer });
  expect(await changed.outcome()).toMatchObject({ status: 'denied', error: { code: 'digest_mismatch' } });
  expect([await ran('script-kept'), await ran('script-changed'), await ran('script-evil')]).toEqual([1, 0, 0]);
});

// ── optional signatures ─────────────────────────────────────────────────────

test('where signatures are optional an unsigned decision counts, unverified; one that is badly signed does not', async () => {
  service.configure('{}');
  try {
    const { call, open } = await waiting('optional');
    expect(await decide({ ...(await signDecision(decisionOn(open), mallory.signer)), approver: 'ada' })).toMatchObject({
      answer: 'bad_signature',
    });
    expect(await decide({ ...decisionOn(open), override: true })).toMatchObject({ answer: 'bad_signature' });
    expect(await decide(decisionOn(open))).toMatchObject({ answer: 'accepted' });
    expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada', verified: false } });
    const past = await waiting('optional-forged');
    await signal(past.call, await sealed(decisionOn(past.open), mallory.signer));
    await signal(past.call, sealDecisions([decisionOn(past.open)], true));
    await expect
      .poll(() => refusals('optional-forged'))
      .toEqual([expect.stringContaining('lists no approver'), expect.stringContaining('says more than the decision')]);
    expect([await ran('optional'), await ran('optional-forged')]).toEqual([1, 0]);
    await past.call.cancel();
    await past.call.outcome();
  } finally {
    service.configure(approvals());
  }
});
