/**
 * Protected paths inside a workspace that do not exist, and whose folder does not either, or lies behind a link: no door can be shut there (see doors.ts), so what a command
 * puts in such a place is taken away when it ends. Folders that were there before cannot be exchanged meanwhile (see sandbox.ts);
 * what is new on the way is taken away where it is a link, and entered where it is a folder.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { NOTHING_PROTECTED, through, withPlace, type Protection } from '../files/beneath.ts';
import { removePlace } from '../files/remove.ts';
import { canonicalPath } from '../files/canonical.ts';

export interface AbsentPath {
  path: string;
  /** Where links on the way led before the command. */
  canonical: string;
}

/** Those that could be planted: in the workspace, and absent now. */
export const absentPaths = (root: string, { paths }: Protection): AbsentPath[] =>
  paths
    .filter((path) => path.startsWith(`${root}/`) && lstatSync(path, { throwIfNoEntry: false }) === undefined)
    .map((path) => ({ path, canonical: canonicalPath(path, '/', true) }));

export async function removePlanted(root: string, absent: readonly AbsentPath[]): Promise<void> {
  for (const { path, canonical } of absent) {
    // A link that a person set on the way stays, while it leads where it led; what it leads to is in the list by its own name.
    if (canonical !== path && canonicalPath(path, '/', true) === canonical) continue;
    const names = path.slice(root.length + 1).split('/');
    for (let i = 1; i <= names.length; i += 1) {
      const goOn = await lookAt(root, names.slice(0, i).join('/'), i === names.length);
      if (!goOn) break;
    }
  }
}

/** True when there is a folder to look into. Never follows a link: that could lead the removal itself outside. */
const lookAt = (root: string, path: string, last: boolean): Promise<boolean> =>
  withPlace(path, { root, protection: NOTHING_PROTECTED, followLast: false, refuseLinks: true }, async (place) => {
    if (place.entry === undefined) return false;
    // A door that another command of the workspace still needs; empty, it says nothing to anybody.
    if (last && place.entry.stats.isDirectory() && readdirSync(through(place.entry)).length === 0) return false;
    if (last || place.entry.stats.isSymbolicLink()) {
      // Not stopped by the call's own end: this is the tidying after it.
      await removePlace(place, {
        recursive: true,
        protection: NOTHING_PROTECTED,
        signal: new AbortController().signal,
      });
      return false;
    }
    return place.entry.stats.isDirectory();
  });
