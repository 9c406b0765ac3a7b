/**
 * Names in `.git` that git obeys and that are not there: the sandbox cannot shut a door that does not exist, so a harmless one stands there while commands run
 * (see mount-points.ts).
 */
import { linkSync, lstatSync, mkdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { isErrno } from '../../common/errno.ts';
import { identityOf, through } from '../files/beneath.ts';
import { GIT_CONTROL } from '../../policy/protected.ts';
import { attempt } from '../attempt.ts';
import { MountPoints } from './mount-points.ts';

type Held = { fd: number; path: string };

/** `.git` itself: what git takes for the common folder where this file is missing. */
const SELF = '.\n';
const FOLDERS: ReadonlySet<string> = new Set(['hooks', 'modules', 'worktrees']);

/** By the identity of the `.git` folder; of each, by name, what was made: `dev:ino`. */
const doors = new MountPoints<Map<string, string>>();

/** Makes what is missing; the folder stays held until `release` is done. Throws where that fails for a reason that a command could get around. */
export function shutGitDoors(git: Held): { release(): Promise<void> } {
  const key = identityOf(lstatSync(`${through(git)}/.`));
  const made = doors.use(key, new Map());
  try {
    // `hooks` first: in it the others are prepared.
    for (const name of GIT_CONTROL.toSorted((a, b) => Number(b === 'hooks') - Number(a === 'hooks'))) {
      if (entryOf(git, name) !== undefined || !make(git, name)) continue;
      const stats = entryOf(git, name);
      // Hooks stay, as git itself makes them.
      if (stats !== undefined && name !== 'hooks') made.set(name, identityOf(stats));
    }
  } catch (error) {
    doors.leave(key);
    throw error;
  }
  return { release: () => doors.release(key, `${git.path}/commondir`, (all) => open(git, all)) };
}

/** Takes away what was made. */
function open(git: Held, made: ReadonlyMap<string, string>): void {
  for (const [name, identity] of made) takeAway(git, name, identity);
  // Left by a worker that was killed; no repository has this of its own.
  if (isSelf(git)) takeAway(git, 'commondir');
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
  return (
    stats?.isFile() === true &&
    stats.size === SELF.length &&
    attempt(() => readFileSync(through(git, 'commondir'), 'utf8')) === SELF
  );
}
