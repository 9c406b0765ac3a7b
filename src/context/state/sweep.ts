/** What the state folder no longer has to keep. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../errno.ts';

/** Folders of folders of records. */
const SWEPT = ['claims', 'journal', 'artifacts', join('artifacts', 'readers')];

/**
 * Deletes claims, outcomes, journal entries and artifacts older than this many milliseconds. It must be longer than the namespace's
 * retention: an id whose claim is gone can run again. Returns how many files went.
 */
export async function sweepState(stateDir: string, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  let swept = 0;
  for (const folder of SWEPT) {
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
