/**
 * Places of ours in a workspace where nothing stands: an empty folder holds the name while commands run, because the sandbox can only shut a door that exists.
 * A folder, because neither git nor a copy of the tree takes anything along from it, and because taking it away cannot take what somebody else put there.
 * It goes with the last command that uses it (see mount-points.ts).
 */
import { lstatSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { basename } from 'node:path';
import { CONFIG_FILE } from '../../protocol/names.ts';
import { isErrno } from '../../common/errno.ts';
import { MountPoints } from './mount-points.ts';

/** By path. */
const doors = new MountPoints<undefined>();

/**
 * Puts the folder there. `name` reaches it through the held folder above it, which stays held until `release` is done. Undefined where something else stands there, or
 * where this user can make nothing: then no command can either.
 */
export function shutDoor(path: string, name: string): { release(): Promise<void> } | undefined {
  if (!stands(path, name) && !make(name)) return undefined;
  doors.use(path, undefined);
  return { release: () => doors.release(path, path, () => takeAway(name)) };
}

/** Another command's, or left by a worker that was killed: our configuration is no folder. */
function stands(path: string, name: string): boolean {
  const stats = lstatSync(name, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  return doors.has(path) || (basename(path) === CONFIG_FILE && readdirSync(name).length === 0);
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
