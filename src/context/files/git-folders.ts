/**
 * Where git looks from the top of a workspace: into `.git`, or where a file or a link of that name leads (`git clone --separate-git-dir`, a bare repository with worktrees
 * beside it), and into the folder that such a one shares (`commondir`).
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import { GIT_CONTROL, gitControl } from '../../policy/protected.ts';
import { attempt } from '../attempt.ts';
import { canonicalPath } from './canonical.ts';

/** Of a configuration; more is not looked at. */
const MOST_BYTES = 64 * 1024;

/** Canonical paths of those that lie in the workspace, outer ones first. What they hold does not count: a command could take away by what a repository is known, and put it back. */
export function gitFolders(root: string): string[] {
  const git = startOf(root);
  if (git === undefined) return [];
  const shared = textOf(`${git}/commondir`)?.split('\n', 1)[0];
  const all = [git, ...(shared === undefined ? [] : [attempt(() => canonicalPath(shared, git, true))])];
  return [...new Set(all)]
    .filter((path) => path !== undefined)
    .filter((path) => path.startsWith(`${root}/`))
    .toSorted((a, b) => a.length - b.length);
}

/** A line that names hooks or a further configuration, in whatever section: one too many does no harm. */
const NAMES = /^[ \t]*(hookspath|path)[ \t]*=[ \t]*"?([^"\n#;]+)/gim;

/** Canonical paths, in the workspace and outside of those folders, of what their configuration names: hooks (`core.hooksPath`) and further configuration (`include.path`). */
export function gitNamed(root: string, folders = gitFolders(root)): string[] {
  const found = folders.flatMap((folder) =>
    [...(textOf(`${folder}/config`) ?? '').matchAll(NAMES)].flatMap(([, name = '', value = '']) => {
      const from = name.toLowerCase() === 'path' ? folder : root;
      return attempt(() => canonicalPath(value.trim(), from, true)) ?? [];
    }),
  );
  return [...new Set(found)].filter(
    (path) => path.startsWith(`${root}/`) && !folders.some((folder) => path.startsWith(`${folder}/`)),
  );
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
  const [, target] = /^gitdir: (.+)$/m.exec((stats && textOf(path)) ?? '') ?? [];
  return target === undefined ? undefined : attempt(() => canonicalPath(target, root, true));
}

/** Of a file; undefined where there is none to read. */
function textOf(path: string): string | undefined {
  return attempt(() => {
    // Whoever opens a FIFO would wait for its writer.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      if (!fstatSync(fd).isFile()) return undefined;
      const bytes = Buffer.alloc(MOST_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes));
    } finally {
      closeSync(fd);
    }
  });
}
