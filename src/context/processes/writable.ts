/**
 * Which folders sandboxed commands could write, and until when: so that a file that changed can be told from one that a command may have changed. What a sandbox shuts off by a
 * mount is open to the commands that run once somebody on the host puts another file in its place.
 */
import { statSync } from 'node:fs';
import { followed } from '../files/canonical.ts';

/** Of one workspace; times are those of `performance.now()`. */
interface Writers {
  running: number;
  ended: number;
}

/** What a command left behind may still be ending when its end is told. */
const LINGERS_MS = 1_000;

/** One entry for each workspace in which a command ran. */
const workspaces = new Map<string, Writers>();

/** Call before the sandbox is made; dispose of it when the command has ended. */
export function writes(workspace: string): Disposable {
  const writers = workspaces.get(workspace) ?? { running: 0, ended: 0 };
  workspaces.set(workspace, writers);
  writers.running += 1;
  return {
    [Symbol.dispose]: () => {
      writers.running -= 1;
      writers.ended = performance.now();
    },
  };
}

/**
 * True where a sandboxed command of this process ran, at any moment since then, that can write the file, or a link on the way to it. `since` is of `performance.now()`.
 * Commands without a sandbox do not count: they can write any file at any time.
 */
export function wasWritable(path: string, since: number): boolean {
  const open = [...workspaces].filter(([, { running, ended }]) => running > 0 || ended + LINGERS_MS >= since);
  if (open.length === 0) return false;
  const places = placesOf(path);
  return hasOtherNames(path) || places.some((place) => open.some(([workspace]) => place.startsWith(`${workspace}/`)));
}

/** Where those are nobody knows: perhaps in a workspace. */
function hasOtherNames(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.nlink > 1;
}

/** The file, and each link on the way to it: who can replace one of them can change what is read. */
function placesOf(path: string): string[] {
  const { canonical, links } = followed(path, '/', true);
  return [canonical, ...links];
}
