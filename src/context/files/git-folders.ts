/**
 * Where git looks from the top of a workspace: into `.git`, or where a file or a link of that name leads (`git clone --separate-git-dir`, a bare repository with worktrees
 * beside it), and into the folder that such a one shares (`commondir`).
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import { GIT_CONTROL, gitControl } from '../../policy/protected.ts';
import { canonicalPath } from './subjects.ts';

/** A path and a little more. */
const MOST_BYTES = 5_000;

/** Canonical paths of those that lie in the workspace, outer ones first. What they hold does not count: a command could take away by what a repository is known, and put it back. */
export function gitFolders(root: string): string[] {
  const git = startOf(root);
  if (git === undefined) return [];
  const shared = firstLine(`${git}/commondir`);
  const all = [git, ...(shared === undefined ? [] : [attempt(() => canonicalPath(shared, git, true))])];
  return [...new Set(all)]
    .filter((path) => path !== undefined)
    .filter((path) => path.startsWith(`${root}/`))
    .toSorted((a, b) => a.length - b.length);
}

/** Policy has said the same of `.git` itself; what counts is the place that was opened. Throws `protected_path`. */
export function refuseGitControl(canonical: string, root: string): void {
  const reason = gitControl(canonical) ?? elsewhere(canonical, root);
  if (reason !== undefined) throw new CountersignError('protected_path', reason);
}

function elsewhere(canonical: string, root: string): string | undefined {
  const steers = gitFolders(root).some(
    (folder) =>
      `${folder}/`.startsWith(`${canonical}/`) ||
      GIT_CONTROL.some((name) => `${canonical}/`.startsWith(`${folder}/${name}/`)),
  );
  return steers ? gitControl(`${root}/.git`)?.replace(`${root}/.git`, canonical) : undefined;
}

function startOf(root: string): string | undefined {
  const path = `${root}/.git`;
  const stats = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  if (stats?.isDirectory()) return path;
  if (stats?.isSymbolicLink()) return attempt(() => canonicalPath(path, root, true));
  const [, target] = /^gitdir: (.+)$/.exec((stats && firstLine(path)) ?? '') ?? [];
  return target === undefined ? undefined : attempt(() => canonicalPath(target, root, true));
}

/** Of a file; undefined where there is none to read. */
function firstLine(path: string): string | undefined {
  return attempt(() => {
    // Whoever opens a FIFO would wait for its writer.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      if (!fstatSync(fd).isFile()) return undefined;
      const bytes = Buffer.alloc(MOST_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes)).split('\n', 1)[0];
    } finally {
      closeSync(fd);
    }
  });
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // Not there, or not for us to see.
    return undefined;
  }
}
