import { expect, it } from 'vitest';
import type { ApprovalRequest, Decision } from '../../src/protocol/approval.ts';
import {
  addRequest,
  collectedOf,
  matchDecision,
  noApprovals,
  settle,
  standing,
  withdrawRoute,
} from '../../src/workflows/approvals.ts';

const on = { session: 's', callId: 'c', digest: 'd' };
const approve: Decision = { ...on, decision: 'approve', approver: 'ada' };
const deny: Decision = { ...on, decision: 'deny', approver: 'ada' };
const edited = (path: string): Decision => ({ ...approve, arguments: { path } });

it.each([
  ['a denial', deny, approve, 'denied'],
  ['an approval', approve, deny, 'approved'],
  ['an edited approval', edited('a'), deny, 'approved with edited arguments'],
  ['an edited approval', edited('a'), approve, 'approved with edited arguments'],
  ['another edit', edited('a'), edited('b'), 'approved with another edit'],
  ['an approval without one', approve, edited('b'), 'approved without an edit'],
])('who comes after %s is told what stands', (_what, first, second, words) => {
  const approvals = noApprovals();
  addRequest(approvals, { ...on, runId: 'r', tool: 't', route: [] } as unknown as ApprovalRequest, 0, 10);
  settle(approvals, { ...first, verified: false, decisions: [first] });
  expect(matchDecision(approvals, first)).toEqual({
    answer: { answer: 'already_decided', message: 'ada decided the same before.' },
  });
  expect(matchDecision(approvals, second)).toEqual({
    answer: { answer: 'conflict', message: `ada decided otherwise before (${words}); that decision stands.` },
  });
});

it('what was decided without having been seen is never taken, and answered like any repeat once it is decided', () => {
  const approvals = noApprovals();
  addRequest(approvals, { ...on, runId: 'r', tool: 't', route: [] } as unknown as ApprovalRequest, 0, 10);
  expect(matchDecision(approvals, { ...approve, repeat: true })).toMatchObject({
    answer: { answer: 'digest_mismatch' },
  });
  settle(approvals, { ...approve, verified: false, decisions: [approve] });
  expect(matchDecision(approvals, { ...approve, repeat: true })).toMatchObject({
    answer: { answer: 'already_decided' },
  });
});

it('how a request stands: what counts, each since it was taken', () => {
  const approvals = noApprovals();
  expect(standing(approvals, on)).toBeNull();
  addRequest(approvals, { ...on, runId: 'r', tool: 't', route: [] } as unknown as ApprovalRequest, 0, 10);
  expect(standing(approvals, on)).toEqual({ digest: 'd', collected: [] });
  const bob: Decision = { ...approve, approver: 'bob' };
  const first = collectedOf([approve], [], 1);
  expect(collectedOf([approve, bob], first, 2)).toEqual([
    { decision: approve, takenAt: 1 },
    { decision: bob, takenAt: 2 },
  ]);
});

it('with a child session goes what came up through it, and nothing else', () => {
  const approvals = noApprovals();
  for (const route of [['main'], ['a', 'main'], ['a-1', 'a', 'main'], ['b', 'main']]) {
    addRequest(
      approvals,
      { ...on, session: route[0], runId: 'r', tool: 't', route } as unknown as ApprovalRequest,
      0,
      10,
    );
  }
  withdrawRoute(approvals, 'a');
  expect(Object.keys(approvals.pending)).toEqual(['main/c', 'b/c']);
});
