import { expect, it } from 'vitest';
import { type SessionFacts, sessionRecord } from '../../src/protocol/session.ts';

const facts: SessionFacts = {
  id: 's',
  kind: 'main',
  main: 's',
  depth: 0,
  workspace: '/w',
  agent: 'default',
  channel: null,
};

it.each([
  ['RUNNING', 'open', 'open'],
  ['RUNNING', 'closing', 'closing'],
  ['COMPLETED', 'closed', 'closed'],
  ['TERMINATED', 'open', 'closed'],
  ['FAILED', 'closing', 'closed'],
])('a session whose workflow is %s and says %s is %s', (name, said, state) => {
  const description = {
    memo: { countersignSession: facts },
    status: { name },
    searchAttributes: { CountersignState: [said] },
  };
  expect(sessionRecord(description)).toEqual({ facts, state });
});

it('what was refused is no session, and neither is a workflow without facts', () => {
  const searchAttributes = { CountersignState: ['refused'] };
  for (const name of ['RUNNING', 'FAILED'])
    expect(sessionRecord({ memo: { countersignSession: facts }, status: { name }, searchAttributes })).toBeUndefined();
  expect(sessionRecord({ memo: {}, status: { name: 'RUNNING' }, searchAttributes: {} })).toBeUndefined();
  expect(sessionRecord({ status: { name: 'RUNNING' }, searchAttributes: {} })).toBeUndefined();
});
