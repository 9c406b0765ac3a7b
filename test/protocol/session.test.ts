import { expect, it } from 'vitest';
import { sessionRecord } from '../../src/protocol/session.ts';
import { MAIN_FACTS as facts } from '../support/session-facts.ts';

const workflow = {
  workflowId: 'session/s',
  type: 'session',
  memo: { countersignSession: facts },
  status: { name: 'RUNNING' },
  searchAttributes: {},
};

it.each([
  ['RUNNING', 'open', 'open'],
  ['RUNNING', 'closing', 'closing'],
  ['COMPLETED', 'closed', 'closed'],
  ['TERMINATED', 'open', 'closed'],
  ['FAILED', 'closing', 'closed'],
])('a session whose workflow is %s and says %s is %s', (name, said, state) => {
  const searchAttributes = { CountersignState: [said] };
  expect(sessionRecord({ ...workflow, status: { name }, searchAttributes })).toEqual({ facts, state });
});

it('what was refused is no session', () => {
  const searchAttributes = { CountersignState: ['refused'] };
  for (const name of ['RUNNING', 'FAILED'])
    expect(sessionRecord({ ...workflow, status: { name }, searchAttributes })).toBeUndefined();
});

it.each([
  ['has no facts', { memo: {} }],
  ['has no memo', { memo: undefined }],
  ['has the facts of another', { workflowId: 'session/other' }],
  ['has facts without a workspace', { memo: { countersignSession: { ...facts, workspace: undefined } } }],
  ['has facts of other forms', { memo: { countersignSession: { ...facts, agent: 7 } } }],
  ['has facts without a channel', { memo: { countersignSession: { ...facts, channel: undefined } } }],
  ['is called as a call is', { workflowId: 'call/s/s' }],
  ['is of another type', { type: 'toolCall' }],
])('a workflow that %s is no session', (_, other) => {
  expect(sessionRecord({ ...workflow, ...other })).toBeUndefined();
});

it('facts are built anew of what is known', () => {
  const child = { ...facts, kind: 'branch', parent: 'p', main: 'p', depth: 1, owner: 'ann' };
  const memo = { countersignSession: { ...child, verdict: 'run' } };
  expect(sessionRecord({ ...workflow, memo })?.facts).toEqual(child);
});
