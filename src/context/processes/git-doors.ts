/**
 * Names in `.git` that git obeys and that are not there: the sandbox cannot shut a door that does not exist, so a harmless one stands there while commands run.
 *
 * Taking a mount point away on the host also unmounts it in every sandbox. So what was made here goes only with the last command that uses it, and only when
 * no process sees it mounted any more: neither one that the last command left and that is still dying, nor one of another worker. Else it stays until a later command ends.
 */
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno } from '../errno.ts';
import { identityOf, through } from '../files/beneath.ts';
import { GIT_CONTROL } from '../files/protected.ts';

type Held = { fd: number; path: string };

/** `.git` itself: what git takes for the common folder where this file is missing. */
const SELF = '.\n';
const FOLDERS: ReadonlySet<string> = new Set(['hooks', 'modules', 'worktrees']);
/** A sandbox that was killed is gone within milliseconds. */
export const WAITS_MS = [0, 2, 5, 10, 25, 50, 100, 200, 400];

interface Doors {
  users: number;
  /** By name, what was made: `dev:ino`. */
  made: Map<string, string>;
}

/** By the identity of the `.git` folder. */
const all = new Map<string, Doors>();

/** Makes what is missing; the folder stays held until `release` is done. Throws where that fails for a reason that a command could get around. */
export function shutGitDoors(git: Held): { release(): Promise<void> } {
  const key = identityOf(lstatSync(`${through(git)}/.`));
  const doors = all.get(key) ?? { users: 0, made: new Map<string, string>() };
  all.set(key, doors);
  doors.users += 1;
  const release = async (): Promise<void> => {
    doors.users -= 1;
    for (const ms of WAITS_MS) {
      await sleep(ms);
      if (doors.users > 0) return;
      if (isMountedSomewhere(`${git.path}/commondir`)) continue;
      for (const [name, identity] of doors.made) takeAway(git, name, identity);
      doors.made.clear();
      // Left by a worker that was killed; no repository has this of its own.
      if (isSelf(git)) takeAway(git, 'commondir');
      if (all.get(key) === doors) all.delete(key);
      return;
    }
  };
  try {
    // `hooks` first: in it the others are prepared.
    for (const name of GIT_CONTROL.toSorted((a, b) => Number(b === 'hooks') - Number(a === 'hooks'))) {
      if (entryOf(git, name) !== undefined || !make(git, name)) continue;
      const stats = entryOf(git, name);
      // Hooks stay, as git itself makes them.
      if (stats !== undefined && name !== 'hooks') doors.made.set(name, identityOf(stats));
    }
  } catch (error) {
    doors.users -= 1;
    throw error;
  }
  return { release };
}

const entryOf = (git: Held, name: string) => lstatSync(through(git, name), { throwIfNoEntry: false });

/** False where it is not ours to make (then it is no command's either), or was made meanwhile. */
function make(git: Held, name: string): boolean {
  try {
    if (FOLDERS.has(name)) mkdirSync(through(git, name));
    else if (name === 'commondir') makeCommonDir(git);
    else writeFileSync(through(git, name), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST', 'EACCES', 'EPERM', 'EROFS')) return false;
    throw error;
  }
}

/** In one step, because git fails on an empty one; prepared in a folder that no command can write to, because who holds another name of the file can change it. */
function makeCommonDir(git: Held): void {
  const prepared = through(git, `hooks/.countersign-${randomBytes(6).toString('hex')}.tmp`);
  if (entryOf(git, 'hooks')?.isDirectory() === true) {
    try {
      writeFileSync(prepared, SELF, { flag: 'wx' });
      return linkSync(prepared, through(git, 'commondir'));
    } catch (error) {
      if (isErrno(error, 'EEXIST')) throw error;
      // No hard links here, or no writing in this folder.
    } finally {
      attempt(() => unlinkSync(prepared));
    }
  }
  try {
    writeFileSync(through(git, 'commondir'), SELF, { flag: 'wx' });
  } catch (error) {
    // Made, but not written: the disk is full.
    if (!isErrno(error, 'EEXIST') && entryOf(git, 'commondir')?.size === 0)
      attempt(() => unlinkSync(through(git, 'commondir')));
    throw error;
  }
}

/** Only what is still as it was made: a person may have put something there. */
function takeAway(git: Held, name: string, identity?: string): void {
  const stats = entryOf(git, name);
  if (stats === undefined || (identity !== undefined && identityOf(stats) !== identity)) return;
  // A folder that holds something is not removed.
  if (stats.isDirectory()) attempt(() => rmdirSync(through(git, name)));
  else if (name === 'commondir' ? isSelf(git) : stats.size === 0) attempt(() => unlinkSync(through(git, name)));
}

function isSelf(git: Held): boolean {
  const stats = entryOf(git, 'commondir');
  return stats?.isFile() === true && stats.size === SELF.length && readSafely(through(git, 'commondir')) === SELF;
}

/** Whether a process that we may look at has something mounted there, in a mount namespace other than ours. */
export function isMountedSomewhere(path: string): boolean {
  const point = ` ${path.replace(/[ \t\n\\]/g, (found) => `\\${found.charCodeAt(0).toString(8).padStart(3, '0')}`)} `;
  const seen = new Set([namespaceOf('self')]);
  return readdirSync('/proc').some((pid) => {
    const namespace = /^[0-9]+$/.test(pid) ? namespaceOf(pid) : undefined;
    if (namespace === undefined || seen.has(namespace)) return false;
    const mounts = readSafely(`/proc/${pid}/mountinfo`);
    // Ended meanwhile; another process of the namespace may not have.
    if (mounts === undefined) return false;
    seen.add(namespace);
    return mounts.includes(point);
  });
}

const namespaceOf = (pid: string): string | undefined => attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
const readSafely = (path: string): string | undefined => attempt(() => readFileSync(path, 'utf8'));

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
