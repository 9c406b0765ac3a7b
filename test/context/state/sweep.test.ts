import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openArtifacts } from '../../../src/context/state/artifacts.ts';
import { claimTry, readClaim, recordExecution } from '../../../src/context/state/claims.ts';
import { openJournal } from '../../../src/context/state/journal.ts';
import { isRevoked, revokeGrant } from '../../../src/context/state/revoked-grants.ts';
import { sweepState } from '../../../src/context/state/sweep.ts';
import { spendApproval, useApproval } from '../../../src/context/state/used-approvals.ts';
import { bytes, codeOf, filesIn, scratch, text } from '../support.ts';

const claim = { session: 's', callId: 'c', content: 'sha256:1', runId: 'run-1' };
const about = { mediaType: 'text/plain' };

/** Makes all that is there as old as this; older than anything that is kept unless given. */
const age = (folder: string, days = 10_000): void => {
  const then = Date.now() / 1_000 - days * 86_400;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(folder, name), then, then);
};

it('takes claims, outcomes and journal entries that are older, and nothing else', async () => {
  const { stateDir } = scratch();
  expect(await sweepState(stateDir, 1_000)).toBe(0);
  await claimTry(stateDir, claim);
  await recordExecution(stateDir, claim, { status: 'completed', output: 1, display: '' });
  await openJournal(stateDir, 's', 'c').write('f', { before: 'a', after: 'b', note: null });
  age(stateDir);
  await claimTry(stateDir, { ...claim, callId: 'new' });
  expect(await sweepState(stateDir, 60_000)).toBe(3);
  expect(await readClaim(stateDir, claim)).toBeUndefined();
  expect(await readClaim(stateDir, { session: 's', callId: 'new' })).toMatchObject({ runId: 'run-1' });
});

it('takes old artifacts with the records of who may read them', async () => {
  const { stateDir } = scratch();
  const artifacts = openArtifacts(stateDir, 'branch', ['main']);
  const { hash } = await artifacts.put(bytes('old'), about);
  age(stateDir);
  const { hash: young } = await artifacts.put(bytes('young'), about);
  expect(await sweepState(stateDir, 60_000)).toBe(3);
  expect(await codeOf(artifacts.get(hash))).toBe('artifact_not_found');
  expect(text((await artifacts.get(young)).bytes)).toBe('young');
  expect(filesIn(stateDir)).toHaveLength(3);
});

it('an old artifact that is made again is kept for who made it, and no longer for who made it first', async () => {
  const { stateDir } = scratch();
  const [first, second] = [openArtifacts(stateDir, 'first', []), openArtifacts(stateDir, 'second', [])];
  const { hash } = await first.put(bytes('same'), about);
  age(stateDir);
  await second.put(bytes('same'), about);
  expect(await sweepState(stateDir, 60_000)).toBe(1);
  expect(text((await second.get(hash)).bytes)).toBe('same');
  expect(await codeOf(first.get(hash))).toBe('artifact_not_found');
});

const DAY_MS = 86_400_000;

it('keeps claims, used approvals and revocations for 60 days, however short the retention is', async () => {
  const { stateDir } = scratch();
  await claimTry(stateDir, claim);
  await useApproval(stateDir, 'sha256:used', 1);
  await useApproval(stateDir, 'sha256:spent', 3);
  await spendApproval(stateDir, 'sha256:spent');
  await revokeGrant(stateDir, 'grant');
  await openJournal(stateDir, 's', 'c').write('f', { before: 'a', after: 'b', note: null });
  age(stateDir, 59);
  expect(await sweepState(stateDir, 2 * DAY_MS)).toBe(1);
  expect(await claimTry(stateDir, claim)).toMatchObject({ claimed: false });
  expect(await useApproval(stateDir, 'sha256:used', 1)).toBe(false);
  expect(await useApproval(stateDir, 'sha256:spent', 3)).toBe(false);
  expect(await isRevoked(stateDir, 'grant')).toBe(true);
  age(stateDir, 61);
  expect(await sweepState(stateDir, 2 * DAY_MS)).toBe(5);
  expect(filesIn(stateDir)).toEqual([]);
});

it('keeps them as long as the retention asks for, where that is longer', async () => {
  const { stateDir } = scratch();
  await useApproval(stateDir, 'sha256:used', 1);
  await revokeGrant(stateDir, 'grant');
  age(stateDir, 100);
  expect(await sweepState(stateDir, 180 * DAY_MS)).toBe(0);
  expect(await useApproval(stateDir, 'sha256:used', 1)).toBe(false);
  expect(await isRevoked(stateDir, 'grant')).toBe(true);
});

it('a grant that is revoked once more is revoked from then on', async () => {
  const { stateDir } = scratch();
  await revokeGrant(stateDir, 'grant');
  age(stateDir, 61);
  await revokeGrant(stateDir, 'grant');
  expect(await sweepState(stateDir, 2 * DAY_MS)).toBe(0);
  expect(await isRevoked(stateDir, 'grant')).toBe(true);
});
