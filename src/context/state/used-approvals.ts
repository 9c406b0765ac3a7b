/** An approval serves one execution. Of a tool that may be tried again, it serves that call's tries and no further. */
import { join } from 'node:path';
import { createRecord, readRecord, recordPath } from './state-files.ts';

/** Takes one of the tries that the approval of this digest is good for; false when none is left. */
export async function useApproval(stateDir: string, digest: string, maxTries: number): Promise<boolean> {
  if ((await readRecord(pathOf(stateDir, digest, 'spent'))) !== undefined) return false;
  for (let tried = 1; tried <= maxTries; tried += 1) {
    if (await createRecord(pathOf(stateDir, digest, `try-${tried}`), `${Date.now()}\n`)) return true;
  }
  return false;
}

/** The execution has ended otherwise than by a timeout: there is no further try. */
export async function spendApproval(stateDir: string, digest: string): Promise<void> {
  await createRecord(pathOf(stateDir, digest, 'spent'), `${Date.now()}\n`);
}

/** Among the claims, whose life they share. No call id has a colon, so no call's claim is meant. */
const pathOf = (stateDir: string, digest: string, extension: string): string =>
  recordPath(join(stateDir, 'claims'), ['approval', digest], extension);
