import { expect, it } from 'vitest';
import type { Decision } from '../../src/protocol/approval.ts';
import type { Grant } from '../../src/protocol/grant.ts';
import { byCall } from '../../src/workflows/session-inbox.ts';
import { type Message, Session } from '../../src/workflows/session-state.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const decision = (callId: string, approver = 'x'): Decision => ({
  session: 's',
  callId,
  digest,
  decision: 'deny',
  approver,
});
const signalled = (callId: string, approver?: string): Message => ({
  kind: 'decide',
  decision: decision(callId, approver),
});
const asked = (callId: string, approver: string, ticket: number): Message => ({
  kind: 'decide',
  decision: decision(callId, approver),
  ticket,
});
const withdrawn = (callId: string): Message => ({ kind: 'withdraw', withdrawal: { session: 's', callId, runId: 'r' } });
const session = (): Session =>
  new Session({ id: 's', kind: 'main', main: 's', depth: 0, workspace: '/w', agent: 'default', channel: 'inbox' }, {});

it('a decision whose sender waits comes before those sent by signal, and before nothing else', () => {
  const batch = [
    signalled('a', 'first'),
    withdrawn('a'),
    signalled('a', 'forged'),
    signalled('b', 'other'),
    signalled('a', 'forged'),
    asked('a', 'ada', 1),
    asked('a', 'bob', 2),
  ];
  const order = byCall(batch)
    .get('s/a')
    ?.map((one) => (one.kind === 'decide' ? one.decision.approver : one.kind));
  expect(order).toEqual(['first', 'withdraw', 'ada', 'bob', 'forged', 'forged']);
});

it('of a flood on one call twenty are heard, with one notice; another call is heard as ever', () => {
  const self = session();
  for (let i = 0; i < 1_000; i += 1) self.put(signalled('a'));
  self.put(signalled('b'));
  void self.ask((ticket) => asked('a', 'ada', ticket), { answer: 'not_pending', message: '' });
  const groups = byCall(self.take());
  expect(groups.get('s/a')).toHaveLength(21);
  expect(groups.get('s/a')?.[0]).toHaveProperty('decision.approver', 'ada');
  expect(groups.get('s/b')).toHaveLength(1);
  expect(self.notices).toMatchObject([{ kind: 'flooded', text: expect.stringContaining('s/a') as string }]);
  self.put(signalled('a'));
  expect(self.take()).toHaveLength(1);
});

it('grants are made and revoked one after the other, beside all else', () => {
  const grant = {} as Grant;
  const revocation = { id: 'g', by: 'ada' };
  const groups = byCall([
    { kind: 'revokeGrant', revocation, ticket: 1 },
    signalled('a'),
    { kind: 'addGrant', grant, ticket: 2 },
    { kind: 'revokeGrant', revocation, ticket: 3 },
  ]);
  expect([...groups.values()].map((group) => group.map(({ kind }) => kind))).toEqual([
    ['revokeGrant', 'addGrant', 'revokeGrant'],
    ['decide'],
  ]);
});
