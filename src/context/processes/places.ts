/**
 * Places at the top of the workspace that other programs run or obey: CI, editors, shells, package managers, and what `protect` adds. In the sandbox they are read-only, for
 * a command there asks nobody, and `write` on them does. What is not there yet cannot be shut, nor what is a link or a file with other names: it is told of when a command made
 * or changed it.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { GIT_CONTROL, type Relate, type Relation } from '../../policy/protected.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { attempt } from '../attempt.ts';

export interface Place {
  /** From the workspace. */
  names: readonly string[];
  /** `above`: a folder on the way to a protected place, which must not be put aside. `link`: one in a place of either kind, over which nothing can be mounted. */
  kind: Relation | 'link';
}

/** Each is a mount. */
const MOST_PLACES = 200;
/** Entries that are looked at before others have their turn: a command can make a million. */
const AT_ONCE = 1_000;

/** What stands there now, folders before what they hold. `.git` has doors of its own (git-doors.ts). */
export const placesIn = (root: string, relate: Relate): Promise<Place[]> => look(root, [], relate);

/**
 * Those that can be shut.
 * @throws CountersignError `protected_path` where there are too many
 */
export function shutIn(places: readonly Place[]): Place[] {
  const found = places.filter(({ kind }) => kind !== 'link');
  if (found.length <= MOST_PLACES) return found;
  throw new CountersignError(
    'protected_path',
    `the workspace has more than ${MOST_PLACES} places at its top that other programs run (as ${found[0]?.names.join('/')}): no command runs beside so many; move them to a folder`,
  );
}

export const pathsOf = (places: readonly Place[]): string[] =>
  places.filter(({ kind }) => kind === 'protected').map(({ names }) => names.join('/'));

/**
 * By path, what tells whether a place is still the same: where a link leads, and the state of a file. A mount on a file is gone once somebody on the host puts another in its place;
 * one on a folder holds what is in it, but for files that have other names.
 */
export type Standing = ReadonlyMap<string, string>;

/** Of these places, of what lies in them, and of what git obeys. */
export async function standingOf(root: string, places: readonly Place[]): Promise<Standing> {
  const standing = new Map<string, string>();
  const note = (path: string, names: bigint): void => {
    const state = stateOf(`${root}/${path}`, names);
    if (state !== undefined && (state !== '' || names === 1n)) standing.set(path, state);
  };
  for (const [i, { names, kind }] of places.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (kind === 'above') continue;
    const path = names.join('/');
    note(path, 1n);
    for (const one of below(root, path)) note(one, 2n);
  }
  for (const path of ['.git', '.git/config']) note(path, 1n);
  for (const name of GIT_CONTROL) if (!REPOSITORIES.has(name)) note(`.git/${name}`, 2n);
  for (const path of below(root, '.git/hooks')) note(path, 2n);
  return standing;
}

/** Paths of what is there now and was not before, or was another. */
export const madeSince = (before: Standing, now: Standing): string[] =>
  [...now].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);

/** Folders of whole repositories, too large to look through. */
const REPOSITORIES: ReadonlySet<string> = new Set(['modules', 'worktrees']);
/** Entries of one protected folder that are looked at. */
const MOST_ENTRIES = 1_000;

/** Empty for what has no state: folders, and files of fewer names. */
function stateOf(path: string, names: bigint): string | undefined {
  const stats = attempt(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  if (stats?.isSymbolicLink()) return `to ${attempt(() => readlinkSync(path))}`;
  return stats?.isFile() && stats.nlink >= names ? `${stats.ino} ${stats.ctimeNs}` : stats && '';
}

/** Links are named and not followed. */
function below(root: string, folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && found.length < MOST_ENTRIES; next = folders.pop()) {
    for (const entry of isFolder(`${root}/${next}`) ? entriesOf(`${root}/${next}`) : []) {
      found.push(`${next}/${entry.name}`);
      if (entry.isDirectory()) folders.push(`${next}/${entry.name}`);
    }
  }
  return found.slice(0, MOST_ENTRIES);
}

const isFolder = (path: string): boolean => attempt(() => lstatSync(path).isDirectory()) === true;

async function look(root: string, above: readonly string[], relate: Relate): Promise<Place[]> {
  const found: Place[] = [];
  for (const [i, entry] of entriesOf([root, ...above].join('/')).entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const names = [...above, entry.name];
    if (names[0] === '.git' || !(entry.isFile() || entry.isDirectory() || entry.isSymbolicLink())) continue;
    const kind = relate(names);
    if (kind !== undefined && entry.isSymbolicLink()) found.push({ names, kind: 'link' });
    else if (kind === 'protected') found.push({ names, kind });
    if (kind !== 'above' || !entry.isDirectory()) continue;
    const inside = await look(root, names, relate);
    if (inside.length > 0) found.push({ names, kind });
    for (const place of inside) found.push(place);
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Gone meanwhile, or not this user's to read: then no command reads it either.
    return [];
  }
}
