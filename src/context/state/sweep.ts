/** What the state folder no longer has to keep. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../common/errno.ts';

/** Folders of folders of records. */
const WORK = ['journal', 'artifacts', join('artifacts', 'readers')];
/** What keeps from running again: claims of calls with the approvals that are used up, and revocations of grants. */
const SPENT = ['claims', 'revoked'];

/**
 * Least age at which those go, in milliseconds. An approval can be used for 31 days (a request waits 30 at most, and what was
 * approved may run for a day after), a grant for 30; and the clock of the machine that signed may be ahead. A call's run can outlast the
 * namespace's retention, which only counts from its end.
 */
const SPENT_MS = 60 * 86_400_000;

/**
 * Deletes records older than this many milliseconds by their last change. It must be longer than the namespace's retention: an id whose
 * claim is gone can run again. Claims and revocations are kept for {@link SPENT_MS} at least. Returns how many files went.
 */
export async function sweepState(stateDir: string, olderThanMs: number): Promise<number> {
  const now = Date.now();
  const work = await sweepFolders(stateDir, WORK, now - olderThanMs);
  return work + (await sweepFolders(stateDir, SPENT, now - Math.max(olderThanMs, SPENT_MS)));
}

async function sweepFolders(stateDir: string, folders: readonly string[], before: number): Promise<number> {
  let swept = 0;
  for (const folder of folders) {
    for (const shard of await names(join(stateDir, folder))) {
      for (const name of await names(join(stateDir, folder, shard)))
        swept += await sweep(join(stateDir, folder, shard, name), before);
    }
  }
  return swept;
}

async function sweep(path: string, before: number): Promise<number> {
  try {
    const file = await stat(path);
    if (!file.isFile() || file.mtimeMs >= before) return 0;
    await unlink(path);
    return 1;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0;
    throw error;
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
