/** `audit --verify`: digests and signatures of a real history hold, and do not once a byte of it is another. */
import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { verifyCall } from '../../src/cli/judge/verify-call.ts';
import { verifyCalls } from '../../src/cli/judge/verify-calls.ts';
import { callsUnder } from '../../src/client/audit-session.ts';
import { type HistoryEvent, readHistory, valueOf } from '../../src/client/history.ts';
import type { ApproveOptions, CallHandle, SessionHandle } from '../../src/client/index.ts';
import { type LoadedConfig, parseConfig } from '../../src/config/index.ts';
import { sealDecisions } from '../../src/protocol/approval.ts';
import { approver } from '../approval/support.ts';
import { probeTools } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const { ResetWorkflowExecutionRequest } = proto.temporal.api.workflowservice.v1;
const address = inject('temporalAddress');
const ada = approver('ada');
const mallory = approver('mallory');
const config = JSON.stringify({ approvals: { signatures: 'required', approvers: [ada.listed] } });

let service: TestService;
let session: SessionHandle<Record<string, unknown>>;
beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'verify', config });
  session = await service.countersign.openSession({ id: 'verify', workspace: service.workspace });
  const call = await session.start('probe_elevated', { log: service.log, mark: 'verified' }, { callId: 'signed' });
  await call.settled();
  await approveShown(call, { signer: ada.signer, reason: 'fine' });
  expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada', verified: true } });
});
afterAll(() => service[Symbol.asyncDispose]());

const events = (): Promise<HistoryEvent[]> => readHistory(service.countersign.temporal, 'call/verify/signed');
const settings = (text = config): LoadedConfig['config'] => parseConfig(text, 'test.jsonc').config;
const check = async (history: HistoryEvent[], text?: string, callId = 'signed') =>
  (
    await verifyCall(
      history,
      { session: 'verify', callId },
      (name) => probeTools.find((tool) => tool.name === name) ?? (probeTools[0] as (typeof probeTools)[0]),
      settings(text),
    )
  ).map(({ what, ok }) => [what, ok]);

const HOLDS = [
  ['request', true],
  ['decision', true],
  ['execution', true],
  ['outcome', true],
];

const approveShown = async (call: CallHandle, options: ApproveOptions) =>
  service.countersign.approvals.approve(await service.countersign.approvals.show(call.id), options);

test('what happened holds', async () => {
  expect(await check(await events())).toEqual(HOLDS);
});

/** The history with one text in one kind of event replaced. */
async function forged(
  where: (event: HistoryEvent) => object | null | undefined,
  from: string,
  to: string,
): Promise<HistoryEvent[]> {
  const history = await events();
  for (const event of history) {
    const attributes = where(event) as
      | { input?: { payloads?: { data?: Uint8Array | null }[] | null } }
      | null
      | undefined;
    for (const payload of attributes?.input?.payloads ?? []) {
      const text = Buffer.from(payload.data ?? []).toString();
      payload.data = Buffer.from(text.replace(from, to));
    }
  }
  return history;
}

test.each([
  ['another reason', '"fine"', '"fun"'],
  ['another approver', '"approver":"ada"', '"approver":"eva"'],
])('%s in the decision does not hold', async (_what, from, to) => {
  const history = await forged((event) => event.workflowExecutionSignaledEventAttributes, from, to);
  const checks = await check(history);
  expect(checks).toContainEqual(['decision', false]);
  expect(checks).toContainEqual(['execution', false]);
});

test('a decision that was put out of its form was not heard, and lets nothing hold that ran', async () => {
  const from = (event: HistoryEvent) => event.workflowExecutionSignaledEventAttributes;
  expect(await check(await forged(from, '"decisions":[', '"decisions":[{"session":"verify"},'))).toEqual([
    ['request', true],
    ['decision', true],
    ['execution', false],
    ['outcome', false],
  ]);
});

test('an approver whose key is another does not hold', async () => {
  const other = JSON.stringify({
    approvals: { signatures: 'required', approvers: [{ ...mallory.listed, name: 'ada' }] },
  });
  expect(await check(await events(), other)).toEqual([
    ['request', true],
    ['decision', false],
    ['execution', false],
    ['outcome', false],
  ]);
});

test('an approval that was kept holds in no other run', async () => {
  const history = await events();
  const started = history[0]?.workflowExecutionStartedEventAttributes;
  if (!started) throw new Error('a history begins with its start');
  started.originalExecutionRunId = 'another';
  expect(await check(history)).toEqual([
    ['request', true],
    ['decision', true],
    ['execution', false],
    ['outcome', true],
  ]);
});

/** A run that begins after the named event of the last one: after the first task that was done since. */
async function reset(after: (event: HistoryEvent) => unknown): Promise<HistoryEvent[]> {
  const history = await events();
  const since = history.slice(history.findIndex(after));
  const done = since.find((event) => event.workflowTaskCompletedEventAttributes);
  const { workflowService, workflow } = service.countersign.temporal;
  await workflowService.resetWorkflowExecution(
    ResetWorkflowExecutionRequest.create({
      namespace: 'default',
      workflowExecution: { workflowId: 'call/verify/signed' },
      reason: 'test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: done?.eventId ?? null,
    }),
  );
  await workflow.getHandle('call/verify/signed').result();
  return events();
}

test('what an operator resets holds: what ran before it, and what is denied after it', async () => {
  expect(await check(await reset((event) => event.activityTaskCompletedEventAttributes))).toEqual(HOLDS);
  const denied = await reset((event) => event.workflowExecutionSignaledEventAttributes);
  const ended = denied.findLast((event) => event.activityTaskCompletedEventAttributes);
  expect(valueOf(ended?.activityTaskCompletedEventAttributes?.result)).toMatchObject({ status: 'denied' });
  expect(await check(denied)).toEqual(HOLDS);
});

test('other arguments than those of the digest do not hold', async () => {
  const history = await events();
  for (const { markerRecordedEventAttributes: marker } of history) {
    for (const payloads of Object.values(marker?.details ?? {})) {
      for (const payload of payloads.payloads ?? []) {
        const value = JSON.stringify(defaultPayloadConverter.fromPayload(payload));
        if (value.includes('"mark":"verified"'))
          payload.data = Buffer.from(value.replaceAll('"mark":"verified"', '"mark":"forged"'));
      }
    }
  }
  expect(await check(history)).toEqual([
    ['request', false],
    ['decision', false],
    ['execution', false],
    ['outcome', false],
  ]);
});

test('of a session every call under it is checked; a forged decision in one of them does not hold, though it ran nothing', async () => {
  const main = await service.countersign.openSession({ id: 'verify-all', workspace: service.workspace });
  const branch = await main.branch({ id: 'verify-below' });
  const client = service.countersign.temporal;
  await main.call('list', { path: '.' }, { callId: 'quick' });
  const call = await branch.start('probe_elevated', { log: service.log, mark: 'below' }, { callId: 'below' });
  await call.settled();
  const { request } = await service.countersign.approvals.show(call.id);
  const approve = (approver: string) =>
    ({ session: 'verify-below', callId: 'below', digest: request.digest, decision: 'approve', approver }) as const;
  const all = async () => {
    const calls = await callsUnder(client, 'verify-all');
    const checked = await verifyCalls(client, calls, settings());
    return Object.fromEntries(checked.map(({ call: id, holds, checks }) => [id, [holds, checks.length]]));
  };
  const names = ['call/verify-all/quick', 'call/verify-below/below'];
  await expect.poll(async () => (await callsUnder(client, 'verify-all')).toSorted()).toEqual(names);
  expect(await all()).toEqual({ [String(names[0])]: [true, 0], [String(names[1])]: [true, 1] });

  await client.workflow.getHandle(call.id).signal('decision', sealDecisions([approve('ada')], true));
  // While the forged one is looked at, the call shows nothing to decide on: it is asked until it does.
  expect(await approveShown(call, { signer: ada.signer })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed', tries: 1 });
  const [below] = (await verifyCalls(client, [call.id], settings())).map(({ holds, checks }) => ({
    holds,
    checks: checks.map(({ what, ok, text }) => `${what} ${ok ? '✓' : '✗'} ${text.replace(/#\w+/, '#')}`),
  }));
  expect(below).toEqual({
    holds: false,
    checks: [
      'request ✓ #: its digest is that of its content',
      'decision ✗ approve by ada: not signed; signatures are required now, they may not have been then (countersign policy log says since when)',
      'execution ✓ refused: nothing ran',
      'decision ✓ approve by ada: signed, and the signature holds',
      'execution ✓ of #, as approved',
      'outcome ✓ names approve by ada',
    ],
  });
});

// Alterations of a real history with a quorum of two, one each.

const bob = approver('bob');
const two = JSON.stringify({
  approvals: { signatures: 'required', required: 2, approvers: [ada.listed, bob.listed] },
});
const grant = { id: 'nonsense' };

interface Value {
  tool: string;
  arguments: object;
  decisions: object[];
  approval: { approver: string; decision: { decisions: object[] } };
}
type Change = (value: Value, name: 'decision' | 'execution' | 'outcome') => object;

/** With the values of one place replaced by what `change` makes of them. */
function altered(history: HistoryEvent[], change: Change): HistoryEvent[] {
  for (const event of history) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const signal = event.workflowExecutionSignaledEventAttributes?.input;
    const outcome = event.workflowExecutionCompletedEventAttributes?.result;
    const execution = scheduled?.activityType?.name === 'executeTool' ? scheduled.input : undefined;
    for (const [name, payloads] of Object.entries({ decision: signal, execution, outcome })) {
      for (const payload of payloads?.payloads ?? []) {
        const value = change(defaultPayloadConverter.fromPayload<Value>(payload), name as Parameters<Change>[1]);
        payload.data = Buffer.from(JSON.stringify(value));
      }
    }
  }
  return history;
}

const only =
  (place: Parameters<Change>[1], change: (value: Value) => object): Change =>
  (value, name) =>
    name === place ? change(value) : value;
/** In the signal and in what was executed by it alike. */
const decisions =
  (change: (all: object[]) => (object | undefined)[]): Change =>
  (value, name) => {
    if (name === 'decision') return { ...value, decisions: change(value.decisions) };
    if (name !== 'execution') return value;
    const { approval } = value;
    return {
      ...value,
      approval: { ...approval, decision: { ...approval.decision, decisions: change(approval.decision.decisions) } },
    };
  };
const inExecution = (over: object): Change =>
  only('execution', (value) => ({
    ...value,
    approval: { ...value.approval, decision: { ...value.approval.decision, ...over } },
  }));

test('altered histories of a quorum of two do not hold', { timeout: 60_000 }, async () => {
  service.configure(two);
  try {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'quorum' }, { callId: 'two' });
    await call.settled();
    await approveShown(call, { signer: ada.signer });
    await approveShown(call, { signer: bob.signer });
    expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approvers: ['ada', 'bob'] } });
  } finally {
    service.configure(config);
  }
  const read = () => readHistory(service.countersign.temporal, 'call/verify/two');
  expect(await check(await read(), two, 'two')).toEqual([HOLDS[0], HOLDS[1], HOLDS[1], HOLDS[2], HOLDS[3]]);
  const cases: [string, Change, string][] = [
    ['one of two removed', decisions((all) => all.slice(1)), 'decision'],
    ['the same twice', decisions((all) => [all[1], all[1]]), 'decision'],
    ['another tool', only('execution', (value) => ({ ...value, tool: 'probe_once' })), 'execution'],
    ['other arguments', only('execution', (value) => ({ ...value, arguments: { mark: 'x' } })), 'execution'],
    ['another edit', inExecution({ arguments: { mark: 'x' } }), 'execution'],
    ['no decisions', inExecution({ decisions: [] }), 'execution'],
    ['a grant that is none', only('execution', ({ approval: _, ...value }) => ({ ...value, grant })), 'execution'],
    [
      'eve in the outcome',
      only('outcome', (value) => ({ ...value, approval: { ...value.approval, approver: 'eve' } })),
      'outcome',
    ],
  ];
  for (const [what, change, where] of cases) {
    expect([what, await check(altered(await read(), change), two, 'two')]).toEqual([
      what,
      expect.arrayContaining([[where, false]]),
    ]);
  }
  const twice = (await read()).flatMap((event) => {
    const { activityTaskScheduledEventAttributes: scheduled, activityTaskCompletedEventAttributes: completed } = event;
    if (scheduled) return [event, { ...event, eventId: 900 as never }];
    const again = completed && {
      ...event,
      activityTaskCompletedEventAttributes: { ...completed, scheduledEventId: 900 as never },
    };
    return again ? [event, again] : [event];
  });
  expect((await check(twice, two, 'two')).filter(([where]) => where === 'execution')).toEqual([
    ['execution', true],
    ['execution', false],
  ]);
  const unasked = (await read()).filter(({ markerRecordedEventAttributes: marker }) => !marker);
  expect(await check(unasked, two, 'two')).toContainEqual(['execution', false]);
});
