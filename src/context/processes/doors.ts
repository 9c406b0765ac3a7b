/**
 * Places of ours in a workspace where nothing stands: an empty folder holds the name while commands run, because the sandbox can only shut a door that exists.
 * A folder, because neither git nor a copy of the tree takes anything along from it, and because taking it away cannot take what somebody else put there.
 * It goes with the last command that uses it, as those in `.git` do (see git-doors.ts).
 */
import { lstatSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONFIG_FILE } from '../../protocol/names.ts';
import { isErrno } from '../errno.ts';
import { isMountedSomewhere, WAITS_MS } from './git-doors.ts';

/** Commands that run now, by the path of the door that they use. */
const users = new Map<string, number>();

/**
 * Puts the folder there. `name` reaches it through the held folder above it, which stays held until `release` is done. Undefined where something else stands there, or
 * where this user can make nothing: then no command can either.
 */
export function shutDoor(path: string, name: string): { release(): Promise<void> } | undefined {
  if (!stands(path, name) && !make(name)) return undefined;
  users.set(path, (users.get(path) ?? 0) + 1);
  return {
    release: async () => {
      users.set(path, (users.get(path) ?? 1) - 1);
      for (const ms of WAITS_MS) {
        await sleep(ms);
        if ((users.get(path) ?? 0) > 0) return;
        if (isMountedSomewhere(path)) continue;
        users.delete(path);
        return takeAway(name);
      }
    },
  };
}

/** Another command's, or left by a worker that was killed: our configuration is no folder. */
function stands(path: string, name: string): boolean {
  const stats = lstatSync(name, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  return users.has(path) || (basename(path) === CONFIG_FILE && readdirSync(name).length === 0);
}

function make(name: string): boolean {
  try {
    mkdirSync(name);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST', 'ENOENT', 'EACCES', 'EPERM', 'EROFS')) return false;
    throw error;
  }
}

function takeAway(name: string): void {
  try {
    rmdirSync(name);
  } catch (error) {
    // A person put something in it, or took it away.
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) throw error;
  }
}
