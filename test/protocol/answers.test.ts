/** What workflows answer, where anybody may have started them. */
import { expect, test } from 'vitest';
import { readGrants, readOutcome, readSessionClosed, readSessionView } from '../../src/protocol/answers.ts';

const facts = { id: 's', kind: 'main', main: 's', depth: 0, workspace: '/w', agent: 'a', channel: null } as const;

test('an outcome of ours is read as it is', () => {
  const outcome = {
    status: 'failed',
    output: { a: [1, null] },
    display: 'x',
    artifacts: [{ hash: `sha256:${'0'.repeat(64)}`, bytes: 3, mediaType: 'text/plain', name: 'stdout' }],
    error: { kind: 'ExecutionError', code: 'tool_failed', message: 'no' },
    attempts: 2,
    tries: 1,
    approval: { approver: 'ada', verified: true, decision: 'approve', edited: true, arguments: { a: 1 } },
  };
  expect(readOutcome(outcome)).toEqual(outcome);
});

test.each([null, undefined, 'completed', [], {}, { status: 'done' }, { status: ['completed'] }])(
  '%j is no outcome',
  (value) => {
    expect(readOutcome(value)).toBeUndefined();
  },
);

test('of anything else the known fields of their forms are left', () => {
  const odd = {
    status: 'denied',
    display: 1,
    artifacts: [null, { hash: 'x' }],
    attempts: 'x',
    tries: -1,
    approval: [],
  };
  expect(readOutcome({ ...odd, error: { code: 'made_up' } })).toMatchObject({
    status: 'denied',
    artifacts: [],
    error: { code: 'internal' },
    attempts: 0,
    tries: 0,
  });
  for (const value of [null, 1, [], { children: [1, 'a b', 'c'], notices: [null], state: 'x' }])
    expect(readSessionView(value, { facts, state: 'open' })).toMatchObject({ ...facts, state: 'open', notices: [] });
  expect(readSessionView({ children: ['a b', 'c'] }, { facts, state: 'open' }).children).toEqual(['c']);
  expect(readSessionClosed({ childrenLeft: ['a b', 'c'] })).toEqual({
    reason: 'not said',
    callsEnded: 0,
    callsLeft: 0,
    childrenLeft: ['c'],
  });
  expect([readGrants(null), readGrants([{ id: 'x' }])]).toEqual([[], []]);
});
