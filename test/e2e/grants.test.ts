/** Grants on a real server: made by an act of their own, exact, ending, revocable. */
import { userInfo } from 'node:os';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { verifyCall } from '../../src/cli/judge/verify-call.ts';
import { verifyCalls } from '../../src/cli/judge/verify-calls.ts';
import { readHistory } from '../../src/client/history.ts';
import type { Grants, SessionHandle } from '../../src/client/index.ts';
import { updateSession } from '../../src/client/transport.ts';
import { parseConfig } from '../../src/config/index.ts';
import type { Grant } from '../../src/protocol/grant.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;
let grants: Grants;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'grants' });
  session = await service.countersign.openSession({ id: 'grants', workspace: service.workspace });
  grants = service.countersign.grants('grants');
});
afterAll(() => service[Symbol.asyncDispose]());

const args = (mark: string) => ({ log: service.log, mark });
const exactly = (mark: string) => ({ log: { exact: service.log }, mark: { exact: mark } });
const HOUR = 3_600_000;

test('a granted call runs without asking, and the record names the grant', async () => {
  const grant = await grants.add({
    tool: 'probe_elevated',
    arguments: exactly('granted'),
    forMs: HOUR,
    by: 'ada',
    id: 'first',
  });
  expect(await grants.list()).toEqual([grant]);
  const outcome = await session.call('probe_elevated', args('granted'));
  expect(outcome).toMatchObject({
    status: 'completed',
    approval: { approver: 'ada', verified: false, decision: 'approve', grant: 'first' },
  });
  expect(await marks(service.log, 'begin granted')).toBe(1);
});

test('it covers nothing else, and children of the session too', async () => {
  const other = await session.start('probe_elevated', args('not-granted'));
  expect(await other.settled()).toMatchObject({ state: 'waiting' });
  await other.cancel();
  const branch = await session.branch();
  expect(await branch.call('probe_elevated', args('granted'))).toMatchObject({
    status: 'completed',
    approval: { grant: 'first' },
  });
});

test('a new grant lets what waits and is covered go on', async () => {
  const covered = await session.start('probe_elevated', args('released'));
  const other = await session.start('probe_elevated', args('unreleased'));
  await covered.settled();
  await other.settled();
  await grants.add({ tool: 'probe_elevated', arguments: exactly('released'), forMs: HOUR, by: 'ada', id: 'second' });
  expect(await covered.outcome()).toMatchObject({ status: 'completed', approval: { grant: 'second' } });
  expect((await session.view()).pending).toBe(1);
  await other.cancel();
  expect(await marks(service.log, 'begin unreleased')).toBe(0);
});

test('deny rules win over a grant', async () => {
  service.configure('{"deny":["group:core"]}');
  try {
    expect(await session.call('probe_elevated', args('granted'))).toMatchObject({
      status: 'denied',
      error: { code: 'policy_denied' },
    });
  } finally {
    service.configure('{}');
  }
});

test('a revoked grant lets nothing run any more, and its name is not used again', async () => {
  await grants.revoke('first');
  expect((await grants.list()).map(({ id }) => id)).not.toContain('first');
  const call = await session.start('probe_elevated', args('granted'));
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
  expect(await grants.revoke('first')).toEqual({ listed: false, by: userInfo().username });
  const again = { tool: 'probe_elevated', arguments: exactly('granted'), forMs: HOUR, by: 'ada', id: 'first' };
  await expect(grants.add(again)).rejects.toMatchObject({ code: 'invalid_id' });
});

test('a grant that its session no longer lists is revoked all the same, and a kept copy of it lets nothing run', async () => {
  const { client } = service.worker;
  const lost = await service.countersign.openSession({ id: 'grants-lost', workspace: service.workspace });
  const options = { tool: 'probe_elevated', arguments: exactly('lost'), forMs: HOUR, by: 'ada', id: 'lost' };
  const kept = await service.countersign.grants(lost.id).add(options);
  await client.workflow.getHandle('session/grants-lost').terminate();
  await service.countersign.openSession({ id: 'grants-lost', workspace: service.workspace });
  const send = async (callId: string) => {
    const call = await lost.start('probe_elevated', args('lost'), { callId });
    await call.settled();
    const { digest } = (await service.countersign.approvals.show(call.id)).request;
    const decision = { session: lost.id, callId, digest, decision: 'approve', approver: 'ada', reason: 'grant lost' };
    await client.workflow
      .getHandle(call.id)
      .signal('decision', { ...decision, verified: false, decisions: [], grant: kept });
    return call;
  };
  expect(await (await send('lost-kept')).outcome()).toMatchObject({ status: 'completed' });
  expect(await service.countersign.grants(lost.id).revoke('lost', 'eva')).toEqual({ listed: false, by: 'eva' });
  const call = await send('lost-revoked');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
  expect(await marks(service.log, 'begin lost')).toBe(1);
  await expect(service.countersign.grants(lost.id).add(options)).rejects.toMatchObject({ code: 'invalid_id' });
});

test('an expired grant is none', { timeout: 20_000 }, async () => {
  await grants.add({ tool: 'probe_elevated', arguments: exactly('short'), forMs: 3_000, by: 'ada' });
  await new Promise((resolve) => setTimeout(resolve, 3_200));
  const call = await session.start('probe_elevated', args('short'));
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
});

test(
  'many calls that ask at once all come to wait: looking for grants holds nobody up',
  { timeout: 60_000 },
  async () => {
    const calls = await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        session.start('probe_elevated', args(`burst-${i}`), { callId: `burst-${i}` }),
      ),
    );
    const states = await Promise.all(calls.map(async (call) => (await call.settled()).state));
    expect(states.filter((state) => state === 'waiting')).toHaveLength(120);
    await Promise.all(calls.map((call) => call.cancel()));
  },
);

test('a grant that is sent once more, with no answer to the first, is accepted and there once', async () => {
  const { client } = service.worker;
  const [known] = (await grants.list()).filter(({ id }) => id === 'second');
  const again = (grant: object) => updateSession(client, 'grants', 'addGrant', grant);
  const { scope, ...rest } = known as Grant;
  expect(await again({ scope, ...rest })).toEqual({ accepted: true });
  expect((await grants.list()).filter(({ id }) => id === 'second')).toEqual([known]);
  expect(await again({ ...known, by: 'eva' })).toMatchObject({ accepted: false, code: 'invalid_id' });
});

test('of two grants under one name at the same moment one is made, and the other is told', async () => {
  const options = { tool: 'probe_elevated', forMs: HOUR, id: 'twice' };
  const made = await Promise.allSettled([
    grants.add({ ...options, arguments: exactly('twice-a'), by: 'ada' }),
    grants.add({ ...options, arguments: exactly('twice-b'), by: 'bob' }),
  ]);
  const [lost] = made.filter(({ status }) => status === 'rejected');
  expect(lost).toMatchObject({ reason: { code: 'invalid_id' } });
  const [won] = made.filter((one) => one.status === 'fulfilled');
  expect((await grants.list()).filter(({ id }) => id === 'twice')).toEqual([won?.value]);
});

test('a grant that is revoked while it is made is listed nowhere afterwards, and lets nothing run', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `raced-${i}`);
  const raced = names.map(async (id, i) => {
    const options = { tool: 'probe_elevated', arguments: exactly('raced'), forMs: HOUR, by: 'ada', id };
    const [add, revoke] = [() => grants.add(options), () => grants.revoke(id)];
    const both = i % 2 === 0 ? [add(), revoke()] : [revoke(), add()];
    return Promise.allSettled(both);
  });
  const settled = (await Promise.all(raced)).flat();
  for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'invalid_id' });
  expect((await grants.list()).map(({ id }) => id).filter((id) => names.includes(id))).toEqual([]);
  const call = await session.start('probe_elevated', args('raced'));
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  await call.cancel();
});

test('a grant is refused where its calls need several approvers, and lets nothing run once they do', async () => {
  const shell = {
    tool: 'shell',
    arguments: { command: { glob: 'truncate *' }, sandbox: { exact: false }, reason: { glob: '*' } },
    forMs: HOUR,
    by: 'ada',
  };
  const probe = { tool: 'probe_elevated', arguments: exactly('several'), forMs: HOUR, by: 'ada' };
  const anyMark = { ...probe, arguments: { log: { exact: service.log }, mark: { glob: '{a,b}*' } } };
  try {
    service.configure('{"approvals":{"requiredFor":{"elevated":2}}}');
    for (const options of [shell, probe, anyMark])
      await expect(grants.add(options)).rejects.toMatchObject({
        code: 'invalid_usage',
        message: expect.stringContaining('need 2 approvers, and a grant is the word of one') as string,
      });
    await grants.add({ ...shell, arguments: { command: { glob: 'truncate *' } } });
    service.configure('{}');
    await grants.add(shell);
    await grants.add(probe);
    service.configure('{"approvals":{"requiredFor":{"elevated":2}}}');
    const call = await session.start('probe_elevated', args('several'));
    expect(await call.settled()).toMatchObject({ state: 'waiting' });
    await call.cancel();
    service.configure('{}');
    expect(await session.call('probe_elevated', args('several'))).toMatchObject({ status: 'completed' });
    expect(await marks(service.log, 'begin several')).toBe(1);
  } finally {
    service.configure('{}');
  }
});

test('a grant lets nothing run outside of the sandbox that may run more than its words say', async () => {
  const outside = { sandbox: { exact: false }, reason: { glob: '*' } };
  const rest = { tool: 'shell', forMs: HOUR, by: 'ada' };
  const tar = `tar -xf a.tar --to-command=./x.sh`;
  for (const command of [{ glob: 'tar *' }, { exact: tar }]) {
    await expect(grants.add({ ...rest, arguments: { command, ...outside } })).rejects.toMatchObject({
      code: 'invalid_usage',
      message: expect.stringContaining('tar may run more than its words say') as string,
    });
  }
  // Of a pattern like this no call is made up beforehand.
  await grants.add({ ...rest, arguments: { command: { glob: 'tar -{x,t}*' }, ...outside } });
  const call = await session.start('shell', { command: tar, sandbox: false, reason: 'unpack' });
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  expect((await service.countersign.approvals.show(call.id)).bound).toMatchObject({ partly: true });
  await call.cancel();
  await grants.add({ ...rest, arguments: { command: { glob: 'touch *' }, ...outside } });
  const touched = await session.call('shell', { command: 'touch touched', sandbox: false, reason: 'mark' });
  expect(touched).toMatchObject({ status: 'completed', approval: { approver: 'ada' } });
});

test('an approver of one agent makes grants for sessions of that agent, and of no other', async () => {
  const only = (agent: string) =>
    JSON.stringify({ approvals: { approvers: [{ name: 'ada', may: [`agent:${agent}`] }] }, agents: { other: {} } });
  const options = { tool: 'probe_elevated', arguments: exactly('agents'), forMs: HOUR, by: 'ada' };
  try {
    service.configure(only('other'));
    await expect(grants.add(options)).rejects.toMatchObject({ code: 'bad_signature' });
    service.configure(only('default'));
    await expect(grants.add({ ...options, scope: { session: 'nowhere' } })).rejects.toMatchObject({
      code: 'bad_signature',
    });
    await grants.add(options);
    const call = await session.start('probe_elevated', args('agents'), { callId: 'agents' });
    expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada' } });
    const settings = parseConfig(only('default'), 'test.jsonc').config;
    const [checked] = await verifyCalls(service.worker.client, [call.id], settings);
    expect(checked).toMatchObject({ holds: true, checks: [{ ok: true }, { ok: true }, { ok: true }] });
    const events = await readHistory(service.worker.client, call.id);
    const name = { session: 'grants', callId: 'agents' };
    const facts = { name: 'probe_elevated', tier: 'elevated', effect: 'once', groups: [], needs: [] } as const;
    const known = await service.countersign.sessions();
    const sessions = known.map(({ facts: one }) => one).filter(({ id }) => id === 'grants');
    expect(await verifyCall(events, name, () => facts, settings, { sessions, namespace: 'theirs' })).toMatchObject([
      { what: 'grant', ok: false },
      { what: 'execution', ok: false },
      { what: 'outcome', ok: false },
    ]);
  } finally {
    service.configure('{}');
  }
});

test('a grant for an agent covers its sessions below this main session, and no other', async () => {
  service.configure('{"agents":{"other":{}}}');
  try {
    const grant = { tool: 'probe_elevated', arguments: exactly('of-other'), forMs: HOUR, by: 'ada', id: 'of-other' };
    await grants.add({ ...grant, scope: { agent: 'other' } });
    const below = await session.branch({ agent: 'other' });
    expect(await below.call('probe_elevated', args('of-other'))).toMatchObject({
      status: 'completed',
      approval: { grant: 'of-other' },
    });
    const elsewhere = await service.countersign.openSession({
      id: 'grants-other',
      workspace: service.workspace,
      agent: 'other',
    });
    for (const uncovered of [session, await session.branch(), elsewhere]) {
      const call = await uncovered.start('probe_elevated', args('of-other'));
      expect(await call.settled()).toMatchObject({ state: 'waiting' });
      await call.cancel();
    }
    expect(await marks(service.log, 'begin of-other')).toBe(1);
  } finally {
    service.configure('{}');
  }
});

test('a session holds 100 grants, however many come at the same moment, and takes more once some are gone', async () => {
  const full = await service.countersign.openSession({ id: 'grants-full', workspace: service.workspace });
  const held = service.countersign.grants(full.id);
  const add = (i: number) =>
    held.add({ tool: 'probe_elevated', arguments: exactly(`full-${i}`), forMs: HOUR, by: 'ada', id: `full-${i}` });
  for (let i = 0; i < 96; i += 4) await Promise.all([0, 1, 2, 3].map((more) => add(i + more)));
  const last = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => add(96 + i)));
  expect(last.filter(({ status }) => status === 'rejected')).toMatchObject(
    Array.from({ length: 4 }, () => ({
      reason: { code: 'session_limit', message: 'A session holds 100 grants at most; revoke some first.' },
    })),
  );
  expect(await held.list()).toHaveLength(100);
  // The last of a full session is heard like the first.
  const [taken] = last.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
  expect(await full.call('probe_elevated', args(String(taken)))).toMatchObject({ approval: { grant: taken } });
  await held.revoke('full-0');
  await add(200);
  expect(await held.list()).toHaveLength(100);
});

test.each([
  ['without an end', { forMs: Number.POSITIVE_INFINITY }, 'invalid_usage'],
  ['that lasts too long', { forMs: 31 * 24 * HOUR }, 'invalid_usage'],
  ['for a tool that is none', { tool: 'nothing' }, 'unknown_tool'],
  ['under a name in use', { id: 'second' }, 'invalid_id'],
])('a grant %s is refused', async (_what, change, code) => {
  const grant = { tool: 'probe_elevated', arguments: exactly('x'), forMs: HOUR, by: 'ada', ...change };
  await expect(grants.add(grant)).rejects.toMatchObject({ code });
});

test('a grant outlives continue-as-new', async () => {
  const facts = {
    id: 'grants-can',
    kind: 'main',
    main: 'grants-can',
    depth: 0,
    workspace: service.workspace,
    agent: 'default',
    channel: 'inbox',
  };
  const { workflow } = service.countersign.temporal;
  await workflow.start('session', {
    workflowId: 'session/grants-can',
    taskQueue: 'grants',
    args: [{ continueAfterEvents: 15 }],
    memo: { countersignSession: facts },
  });
  const short = await service.countersign.openSession({ id: 'grants-can', workspace: service.workspace });
  await service.countersign
    .grants('grants-can')
    .add({ tool: 'probe_elevated', arguments: exactly('carried'), forMs: HOUR, by: 'ada', id: 'carried' });
  while ((await short.view()).continuedAsNew < 2) {
    await workflow
      .getHandle('session/grants-can')
      .signal('withdrawApproval', { session: 'none', callId: 'none', runId: 'none' });
  }
  expect(await short.call('probe_elevated', args('carried'))).toMatchObject({
    status: 'completed',
    approval: { grant: 'carried' },
  });
});
