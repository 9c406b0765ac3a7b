/**
 * Places at the top of the workspace that other programs run or obey: CI, editors, shells, package managers, and what `protect` adds. In the sandbox they are read-only, for
 * a command there asks nobody, and `write` on them does. What is not there yet cannot be shut: it is told of when a command made it.
 */
import { readdirSync } from 'node:fs';
import type { Relate, Relation } from '../../policy/protected.ts';
import { CountersignError } from '../../protocol/errors.ts';

export interface Place {
  /** From the workspace. */
  names: readonly string[];
  /** `above`: a folder on the way to a protected place, which must not be put aside. */
  kind: Relation;
}

/** Each is a mount. */
const MOST_PLACES = 200;

/**
 * What stands there now, folders before what they hold. `.git` has doors of its own (git-doors.ts). Links are left out: nothing can be mounted over one.
 * @throws CountersignError `protected_path` where there are too many to shut
 */
export function placesIn(root: string, relate: Relate): Place[] {
  const found = [...look(root, [], relate)];
  if (found.length <= MOST_PLACES) return found;
  throw new CountersignError(
    'protected_path',
    `the workspace has more than ${MOST_PLACES} places at its top that other programs run (as ${found[0]?.names.join('/')}): no command runs beside so many; move them to a folder`,
  );
}

export const pathsOf = (places: readonly Place[]): string[] =>
  places.filter(({ kind }) => kind === 'protected').map(({ names }) => names.join('/'));

function* look(root: string, above: readonly string[], relate: Relate): Generator<Place> {
  for (const entry of entriesOf([root, ...above].join('/'))) {
    const names = [...above, entry.name];
    if (names[0] === '.git' || !(entry.isFile() || entry.isDirectory())) continue;
    const kind = relate(names);
    if (kind === 'protected') yield { names, kind };
    if (kind !== 'above' || !entry.isDirectory()) continue;
    const below = [...look(root, names, relate)];
    if (below.length > 0) yield { names, kind };
    yield* below;
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Gone meanwhile, or not this user's to read: then no command reads it either.
    return [];
  }
}
