/** Who may end a halt, by the configuration. */
import { describe, expect, test } from 'vitest';
import { mayDecide } from '../../src/approval/approvers.ts';
import { verifyResume } from '../../src/approval/resume.ts';
import { signResume } from '../../src/approval/sign.ts';
import type { Halt, Resume } from '../../src/protocol/control.ts';
import { approver } from './support.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const ada = approver('ada');
const bob = approver('bob', { may: ['elevated'] });
const eve = approver('eve', { may: ['read_only', 'control:resume'] });
const gone = approver('gone', { until: '2026-01-01' });
const mallory = approver('mallory');
const approvers = [ada.listed, bob.listed, eve.listed, gone.listed];

const halt: Halt = { id: 'h1', by: 'anybody', reason: 'fire', at: NOW - 60_000 };
const namespace = 'default';
const about = { halt, namespace, reason: 'over' };
const required = { signatures: 'required', approvers } as const;
const check = (resume: Resume, settings: Parameters<typeof verifyResume>[2] = required, now = NOW) =>
  verifyResume(resume, { halt, namespace }, settings, now);

describe('where signatures are required', () => {
  test.each([
    ['an approver who may do all', ada],
    ['one whose may says so', eve],
  ])('%s', async (_who, { signer }) => {
    expect(check(await signResume(about, signer, NOW))).toEqual({ ok: true, verified: true });
  });

  const refused: [string, () => Resume | Promise<Resume>, string][] = [
    ['unsigned', () => ({ by: 'ada', reason: 'over' }), 'asks for a signed resume'],
    ['one whose may does not say so', () => signResume(about, bob.signer, NOW), 'may not resume'],
    ['one who was an approver', () => signResume(about, gone.signer, NOW), 'was an approver until'],
    ['nobody of the list', () => signResume(about, mallory.signer, NOW), 'lists no approver'],
    ['another key in her name', () => signResume(about, { ...mallory.signer, name: 'ada' }, NOW), 'not that of "ada"'],
    ['another halt', () => signResume({ ...about, halt: { ...halt, id: 'h0' } }, ada.signer, NOW), 'another halt'],
    [
      'another halt under this id',
      () => signResume({ ...about, halt: { ...halt, reason: 'drill' } }, ada.signer, NOW),
      'not that of "ada"',
    ],
    [
      'a resume moved to this halt',
      async () => ({ ...(await signResume({ ...about, halt: { ...halt, id: 'h0' } }, ada.signer, NOW)), halt: 'h1' }),
      'not that of "ada"',
    ],
    ['another namespace', () => signResume({ ...about, namespace: 'prod' }, ada.signer, NOW), 'not that of "ada"'],
    ['before the halt', () => signResume(about, ada.signer, NOW - 3_600_000), 'before the halt'],
    ['in the future', () => signResume(about, ada.signer, NOW + 3_600_000), 'in the future'],
    [
      'another reason',
      async () => ({ ...(await signResume(about, ada.signer, NOW)), reason: 'changed' }),
      'not that of "ada"',
    ],
    [
      'no time',
      async () => {
        const { at: _, ...timeless } = await signResume(about, ada.signer, NOW);
        return timeless;
      },
      'before the halt',
    ],
  ];
  test.each(refused)('not %s', async (_what, make, reason) => {
    expect(check(await make())).toMatchObject({
      ok: false,
      code: 'bad_signature',
      reason: expect.stringContaining(reason) as string,
    });
  });
});

describe('where signatures are optional', () => {
  const optional = { signatures: 'optional', approvers } as const;
  test('anybody, unverified', () => {
    expect(check({ by: 'anybody', reason: 'over' }, optional)).toEqual({ ok: true, verified: false });
  });
  test('but not with a broken signature', async () => {
    const forged = { ...(await signResume(about, mallory.signer, NOW)), by: 'ada' };
    expect(check(forged, optional)).toMatchObject({ ok: false });
  });
});

test('control:resume lets nobody decide on more or on less', () => {
  const asked = {
    tool: { name: 'shell', tier: 'system', effect: 'once', groups: [], needs: [] },
    tier: 'elevated',
    agent: 'default',
  } as const;
  expect(mayDecide({ name: 'x', may: ['elevated', 'control:resume'] }, asked)).toBe(true);
  expect(mayDecide({ name: 'x', may: ['control:resume'] }, asked)).toBe(false);
});
