/** When decisions settle a request. */
import { describe, expect, it } from 'vitest';
import { approvalsOn } from '../../src/approval/collected.ts';
import { quorum, requiredFor } from '../../src/approval/quorum.ts';
import type { CountedDecision } from '../../src/approval/verify.ts';
import type { CollectedDecision, Decision } from '../../src/protocol/approval.ts';
import { decision, request } from './support.ts';

const by = (
  name: string,
  over: Partial<Decision> & { identity?: string; roles?: string[]; verified?: boolean } = {},
): CountedDecision => {
  const { identity = `key-${name}`, roles = [], verified = true, ...rest } = over;
  return { decision: decision({ approver: name, ...rest }), identity, roles, verified };
};
const state = (decisions: CountedDecision[], required = 2, owner?: string) => {
  const result = quorum(decisions, { required, owner });
  return [result.state, result.by.map((one) => one.decision.approver)];
};

describe('a quorum', () => {
  const cases: [string, CountedDecision[], number, [string, string[]]][] = [
    ['of one', [by('ada')], 1, ['approved', ['ada']]],
    ['of nobody', [], 1, ['more', []]],
    ['of two, with one', [by('ada')], 2, ['more', ['ada']]],
    ['of two', [by('ada'), by('bob')], 2, ['approved', ['ada', 'bob']]],
    ['of two, one of them twice', [by('ada'), by('ada')], 2, ['more', ['ada']]],
    ['of two names with one key', [by('ada', { identity: 'k' }), by('bob', { identity: 'k' })], 2, ['more', ['bob']]],
    ['with a denial', [by('ada'), by('bob', { decision: 'deny' })], 2, ['denied', ['bob']]],
    [
      'with a denial, though there are enough',
      [by('carl', { decision: 'deny' }), by('ada'), by('bob')],
      2,
      ['denied', ['carl']],
    ],
    [
      'on two different edits',
      [by('ada', { arguments: { a: 1 } }), by('bob', { arguments: { a: 2 } })],
      2,
      ['more', ['bob']],
    ],
    [
      'on the same edit, written otherwise',
      [by('ada', { arguments: { a: 1, b: 2 } }), by('bob', { arguments: { b: 2, a: 1 } })],
      2,
      ['approved', ['ada', 'bob']],
    ],
    ['on an edit and the original', [by('ada'), by('bob', { arguments: { a: 1 } })], 2, ['more', ['bob']]],
    ['on an empty edit and the original', [by('ada'), by('bob', { arguments: {} })], 2, ['more', ['bob']]],
    [
      'begun again by an edit, then joined',
      [by('ada'), by('bob', { arguments: { a: 1 } }), by('ada', { arguments: { a: 1 } })],
      2,
      ['approved', ['bob', 'ada']],
    ],
    [
      'left by one who changes their mind',
      [by('ada', { arguments: { a: 1 } }), by('ada'), by('bob', { arguments: { a: 1 } })],
      2,
      ['more', ['bob']],
    ],
    ['overridden', [by('ada'), by('eve', { override: true, roles: ['emergency'] })], 3, ['approved', ['eve']]],
    ['overridden without the role', [by('eve', { override: true })], 2, ['more', ['eve']]],
    [
      'overridden without a signature',
      [by('eve', { override: true, roles: ['emergency'], verified: false })],
      2,
      ['more', ['eve']],
    ],
    [
      'overridden against a denial',
      [by('eve', { override: true, roles: ['emergency'] }), by('ada', { decision: 'deny' })],
      2,
      ['denied', ['ada']],
    ],
  ];
  it.each(cases)('%s', (_, decisions, required, expected) => expect(state(decisions, required)).toEqual(expected));

  it('does not count the one for whom the session acts, however the name is written', () => {
    expect(state([by('ada'), by('bob')], 2, 'ada')).toEqual(['more', ['bob']]);
    expect(state([by('Ada '), by('bob')], 2, 'ada')).toEqual(['more', ['bob']]);
    expect(state([by('ada', { decision: 'deny' })], 2, 'ada')).toEqual(['denied', ['ada']]);
    expect(state([by('ada')], 1, 'ada')).toEqual(['approved', ['ada']]);
  });

  it('says whose approvals an edit puts out of the count; the requester’s own puts out none', () => {
    const dropped = (decisions: CountedDecision[], owner?: string) => {
      const result = quorum(decisions, { required: 3, owner });
      return result.state === 'more' ? result.dropped.map(({ decision: { approver } }) => approver) : result.state;
    };
    const edit = { arguments: { a: 1 } };
    expect(dropped([by('ada'), by('bob')])).toEqual([]);
    expect(dropped([by('ada'), by('bob'), by('eve', edit)])).toEqual(['ada', 'bob']);
    expect(dropped([by('ada'), by('ada', edit)])).toEqual([]);
    expect(dropped([by('ada'), by('bob', edit)], 'bob')).toEqual([]);
    expect(state([by('ada'), by('bob', edit)], 2, 'bob')).toEqual(['more', ['ada']]);
  });

  it('is verified where every one that counts is', () => {
    expect(quorum([by('ada'), by('bob', { verified: false })], { required: 2 })).toMatchObject({
      state: 'approved',
      verified: false,
    });
    expect(quorum([by('ada'), by('bob')], { required: 2 })).toMatchObject({ state: 'approved', verified: true });
    expect(quorum([by('eve', { override: true, roles: ['emergency'] })], { required: 2 })).toMatchObject({
      override: true,
      verified: true,
    });
  });
});

describe('what a session says of the approvals so far', () => {
  const one = (name: string, over: Partial<Decision> = {}) => ({
    decision: decision({ approver: name, ...over }),
    takenAt: 1,
  });
  const { session, callId, digest } = decision();
  const names = (collected: CollectedDecision[]) =>
    approvalsOn({ session, callId, digest }, collected).map(({ decision: { approver } }) => approver);

  it.each<[string, CollectedDecision[], string[]]>([
    ['both of the same', [one('ada'), one('bob')], ['ada', 'bob']],
    [
      'both of the same edit',
      [one('ada', { arguments: { a: 1, b: 2 } }), one('bob', { arguments: { b: 2, a: 1 } })],
      ['ada', 'bob'],
    ],
    ['of two edits', [one('ada'), one('bob', { arguments: { a: 1 } })], ['bob']],
    ['on another request', [one('ada', { digest: 'sha256:other' }), one('bob', { callId: 'other' })], []],
    ['a denial', [one('ada', { decision: 'deny' })], []],
    ['an edit that nobody can sign', [one('ada', { arguments: { a: '\ud800' } })], []],
  ])('counts %s', (_, collected, expected) => expect(names(collected)).toEqual(expected));
});

describe('how many approvers a call needs', () => {
  const { tool } = request();
  const cases: [Record<string, number>, 'workspace' | 'system' | 'elevated', number][] = [
    [{}, 'elevated', 1],
    [{ elevated: 2 }, 'elevated', 2],
    [{ elevated: 2 }, 'system', 1],
    [{ workspace: 2 }, 'elevated', 2],
    [{ shell: 3, elevated: 2 }, 'elevated', 3],
    [{ 'group:runtime': 3 }, 'workspace', 3],
    [{ SHELL: 3 }, 'workspace', 3],
    [{ write: 3 }, 'elevated', 1],
    [{ 'group:mine': 4 }, 'system', 4],
  ];
  it.each(cases)('%j, tier %s', (special, tier, expected) => {
    expect(
      requiredFor({ required: 1, requiredFor: special }, { tool, tier, groups: { 'group:mine': ['shell'] } }),
    ).toBe(expected);
  });
});
