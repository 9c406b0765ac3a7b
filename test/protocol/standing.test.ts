import { expect, it } from 'vitest';
import { readStanding } from '../../src/protocol/forms.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const decision = { session: 's', callId: 'c', digest, decision: 'approve', approver: 'ada' };

it('how a request stands is built anew of known, bounded fields, whoever says it', () => {
  const takenAt = 5;
  expect(readStanding({ digest, collected: [{ decision, takenAt }], junk: 1 })).toEqual({
    digest,
    collected: [{ decision, takenAt }],
  });
  const rubbish = [
    null,
    1,
    {},
    { decision },
    { decision, takenAt: 'now' },
    { decision: { ...decision, approver: '' }, takenAt },
  ];
  expect(readStanding({ digest, collected: rubbish })).toEqual({ digest, collected: [] });
  const crowd = Array.from({ length: 1_000 }, () => ({ decision, takenAt, junk: 1 }));
  expect(readStanding({ digest, collected: crowd })?.collected).toHaveLength(10);
  for (const value of [undefined, null, 'x', [], {}, { digest }, { digest: 'x', collected: [] }])
    expect(readStanding(value)).toBeUndefined();
});
