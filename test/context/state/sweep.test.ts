import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openArtifacts } from '../../../src/context/state/artifacts.ts';
import { claimTry, readClaim, recordExecution } from '../../../src/context/state/claims.ts';
import { openJournal } from '../../../src/context/state/journal.ts';
import { sweepState } from '../../../src/context/state/sweep.ts';
import { bytes, codeOf, filesIn, scratch, text } from '../support.ts';

const claim = { session: 's', callId: 'c', content: 'sha256:1', runId: 'run-1' };
const about = { mediaType: 'text/plain' };

/** Makes all that is there older than anything that is kept. */
const age = (folder: string): void => {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(folder, name), 1_000, 1_000);
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
