/** Several approvers, the ladder, and requests that outlast their timeout, on a real server. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { storyMarkdown, storyText } from '../../src/cli/render/audit-forms.ts';
import { storyOf } from '../../src/cli/render/audit.ts';
import type { SessionHandle } from '../../src/client/index.ts';
import { type Decision, sealDecisions } from '../../src/protocol/approval.ts';
import { approver } from '../approval/support.ts';
import { eventNames } from '../support/history.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'quorum' });
  session = await service.countersign.openSession({ id: 'quorum', workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());

const args = (mark: string) => ({ log: service.log, mark });

async function asked(callId: string, config: string) {
  service.configure(config);
  const call = await session.start('probe_elevated', args(callId), { callId });
  expect(await call.settled()).toMatchObject({ state: 'waiting', waiting: { for: 'approval' } });
  return call;
}

const TWO = '{"approvals":{"required":2}}';

test('two distinct approvers have to agree', async () => {
  const call = await asked('two', TWO);
  const { approvals } = service.countersign;
  const first = await approvals.approve(call.id, { approver: 'ada' });
  expect(first.answer).toBe('accepted');
  expect(first.message).toContain('1 of 2');
  expect((await approvals.approve(call.id, { approver: 'ada' })).message).toContain('1 of 2');
  expect(await marks(service.log, 'begin two')).toBe(0);
  expect(await approvals.approve(call.id, { approver: 'bob' })).toMatchObject({
    answer: 'accepted',
    message: 'The call has it.',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approvers: ['ada', 'bob'] } });
  expect(await marks(service.log, 'begin two')).toBe(1);
});

test('one denial denies, whoever agreed before', async () => {
  const call = await asked('two-denied', TWO);
  await service.countersign.approvals.approve(call.id, { approver: 'ada' });
  await service.countersign.approvals.deny(call.id, { approver: 'bob', reason: 'too risky' });
  const outcome = await call.outcome();
  expect(outcome).toMatchObject({ status: 'denied', error: { code: 'approval_denied' } });
  expect(outcome.error?.message).toContain('too risky');
});

test('the owner of the session is none of its approvers, by another writing of the name too', async () => {
  const config = '{"owners":["ada"],"approvals":{"required":2}}';
  service.configure(config);
  const own = await service.countersign.openSession({
    id: 'quorum-owned',
    workspace: service.workspace,
    owner: 'ada',
  });
  const call = await own.start('probe_elevated', args('owned'), { callId: 'owned' });
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  const { approvals } = service.countersign;
  await approvals.approve(call.id, { approver: 'bob' });
  for (const approver of ['ada', 'Ada']) {
    expect(await approvals.approve(call.id, { approver })).toMatchObject({
      answer: 'accepted',
      message: expect.stringContaining(`${approver} asked for this call and can't be one of its 2 approvers`) as string,
    });
  }
  // Nor where the call runs: past the session, with a record that says two agreed.
  const { digest } = (await approvals.show(call.id)).request;
  const by = (approver: string): Decision => ({
    session: own.id,
    callId: 'owned',
    digest,
    decision: 'approve',
    approver,
  });
  await service.countersign.temporal.workflow
    .getHandle(call.id)
    .signal('decision', sealDecisions([by('ada'), by('bob')], false));
  await expect
    .poll(async () => (await own.view()).notices.map(({ text }) => text))
    .toContainEqual(expect.stringContaining('1 of 2 approvers agreed'));
  expect(await marks(service.log, 'begin owned')).toBe(0);
  await approvals.approve(call.id, { approver: 'eva' });
  expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approvers: ['bob', 'eva'] } });
  expect(await marks(service.log, 'begin owned')).toBe(1);
});

test('an emergency override stands in the audit as what it was', async () => {
  const eve = approver('eve', { roles: ['emergency'] });
  const call = await asked(
    'overridden',
    JSON.stringify({ approvals: { required: 2, approvers: [eve.listed, { name: 'ada' }] } }),
  );
  const { approvals } = service.countersign;
  const open = await approvals.show(call.id);
  expect(await approvals.approve(open, { signer: eve.signer, override: true, reason: 'outage' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'eve', override: true } });
  const audit = await service.countersign.audit(call.id);
  expect(audit.entries.filter(({ what }) => what === 'decided')).toMatchObject([
    { approver: 'eve', decision: 'approve', override: true, reason: 'outage' },
  ]);
  const story = storyOf(audit, { trace: false });
  for (const text of [storyText(story), storyMarkdown(story)])
    expect(text).toMatch(/approved.* by eve \\?\(.*emergency override\\?\): outage/);
});

test('an edit starts the count again, which its approver is told; the next one is shown who approved what', async () => {
  const call = await asked('two-edited', TWO);
  const { approvals } = service.countersign;
  expect((await approvals.show(call.id)).collected).toEqual([]);
  await approvals.approve(call.id, { approver: 'ada', reason: 'fine' });
  expect((await approvals.show(call.id)).collected).toMatchObject([{ decision: { approver: 'ada', reason: 'fine' } }]);
  expect(await approvals.approve(call.id, { approver: 'bob', arguments: args('two-edit') })).toEqual({
    answer: 'accepted',
    message:
      '1 of 2 approvers agree so far; the approval of ada, with other arguments, no longer counts. The call waits for more.',
    agreed: { have: 1, need: 2 },
  });
  expect((await approvals.show(call.id)).collected).toMatchObject([
    { decision: { approver: 'bob', arguments: args('two-edit') }, takenAt: expect.any(Number) as number },
  ]);
  const story = (await service.countersign.audit(call.id)).entries;
  expect(story.filter(({ what }) => what === 'decision')).toMatchObject([
    { approver: 'ada', reason: 'fine', verified: false, answer: 'accepted', agreed: { have: 1, need: 2 } },
    { approver: 'bob', edited: { mark: 'two-edit' }, verified: false, agreed: { have: 1, need: 2 } },
  ]);
  expect(await approvals.approve(call.id, { approver: 'ada', arguments: args('two-edit') })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({
    status: 'completed',
    output: { ran: 'two-edit' },
    approval: { edited: true },
  });
  expect(await marks(service.log, 'begin two-edited')).toBe(0);
  expect((await service.countersign.audit(call.id)).entries).toContainEqual(
    expect.objectContaining({ what: 'decided', decisions: [{ approver: 'bob' }, { approver: 'ada' }] }),
  );
});

test('edits that wait for more approvers are bounded, so that the session can always continue as new', async () => {
  const { approvals } = service.countersign;
  const answers: string[] = [];
  for (const n of [1, 2, 3]) {
    const call = await asked(`large-${n}`, TWO);
    const edit = { log: service.log, mark: 'x'.repeat(99_000 + n) };
    answers.push(
      (await approvals.approve(call.id, { approver: 'ada', arguments: { ...edit, mark: edit.mark } })).answer,
    );
    await call.cancel();
    answers.push((await approvals.approve(call.id, { approver: 'ada' })).answer);
  }
  expect(answers.filter((answer) => answer === 'accepted').length).toBeGreaterThan(0);
  expect((await session.view()).state).toBe('open');
});

test('the ladder: people are reminded, then others are asked, then the request expires', async () => {
  const ladder = [
    { after: '1s', reassign: 'lead' },
    { after: '500ms', remind: true },
    { after: '1m', reassign: 'too late' },
  ];
  const approvers = [
    { name: 'ann', roles: ['lead'] },
    { name: 'bob' },
    { name: 'cy', roles: ['lead'], may: ['read_only'] },
  ];
  const call = await asked('ladder', JSON.stringify({ approvals: { timeout: '3s', ladder, approvers } }));
  const { requestedAt, roles } = await service.countersign.approvals.show(call.id);
  expect(roles).toEqual([{ role: 'lead', at: requestedAt + 1_000, approvers: ['ann'] }]);
  expect(await call.outcome()).toMatchObject({ status: 'expired' });
  const events = await eventNames(service.countersign.temporal, call.id);
  expect(events.filter((name) => name === 'timerFired')).toHaveLength(3);
  const told = service.told.filter(({ request }) => request.callId === 'ladder');
  expect(told.map(({ kind, role }) => [kind, role])).toEqual([
    ['requested', undefined],
    ['reminder', undefined],
    ['reassigned', 'lead'],
  ]);
});

test('with onTimeout wait a request outlasts its timeout', async () => {
  const call = await asked('patient', '{"approvals":{"timeout":"1s","onTimeout":"wait"}}');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});

test('limits of sessions follow the configuration', async () => {
  service.configure('{"limits":{"pendingRequests":1,"sessionChildren":1,"sessionDepth":1,"correctionMs":500}}');
  const limited = await service.countersign.openSession({ id: 'limited', workspace: service.workspace });
  const first = await limited.start('probe_elevated', args('limited'));
  await first.settled();
  expect(await limited.call('probe_elevated', args('limited'))).toMatchObject({
    status: 'denied',
    error: { code: 'too_many_pending' },
  });
  const child = await limited.branch();
  await expect(limited.branch()).rejects.toMatchObject({ code: 'session_limit' });
  await expect(child.branch()).rejects.toMatchObject({ code: 'session_limit' });
  expect(await limited.call('write', {})).toMatchObject({
    status: 'invalid',
    error: { code: 'correction_expired' },
    attempts: 1,
  });
  await first.cancel();
});
