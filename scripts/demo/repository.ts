/** The scratch repository of the demo: a small shell program with a fault, its tests, and a remote to push to. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** The line of slug.sh that loses digits, and what mends it. */
const FAULTY = "tr -cs 'a-z' '-'";
const MENDED = "tr -cs 'a-z0-9' '-'";

const SLUG = `#!/bin/sh
# Makes a file name of a title: "Hello, World" becomes hello-world.
# TODO: digits are lost.
slug() {
  printf '%s' "$1" | tr 'A-Z' 'a-z' | ${FAULTY} | sed 's/^-//; s/-$//'
}
`;

/** slug.sh as the agent writes it. */
export const MENDED_SLUG = SLUG.replace('# TODO: digits are lost.\n', '').replace(FAULTY, MENDED);

const TESTS = `#!/bin/sh
. ./slug.sh
passed=0 failed=0
check() {
  got=$(slug "$1")
  if [ "$got" = "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "slug '$1': $got, not $2"; fi
}
check 'Hello, World' hello-world
check '  spaces  ' spaces
check 'Chapter 2' chapter-2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
`;

export interface Repository {
  /** The working copy: the sessions' workspace. */
  workspace: string;
  /** The bare repository that `origin` is. */
  remote: string;
  /** A folder outside of the workspace that somebody still needs. */
  release: string;
}

export async function makeRepository(folder: string): Promise<Repository> {
  const workspace = join(folder, 'slugs');
  const remote = join(folder, 'slugs.git');
  const release = join(folder, 'releases', '1.0');
  await mkdir(release, { recursive: true });
  await writeFile(join(release, 'slug.sh'), SLUG);
  await git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
  await git(folder, 'init', '--quiet', '--initial-branch=main', workspace);
  // Set in the repository, so that the person's own git settings play no part.
  await git(workspace, 'config', 'user.name', 'Demo');
  await git(workspace, 'config', 'user.email', 'demo@example.com');
  await git(workspace, 'config', 'commit.gpgSign', 'false');
  await git(workspace, 'remote', 'add', 'origin', remote);
  await writeFile(join(workspace, 'slug.sh'), SLUG);
  await writeFile(join(workspace, 'test.sh'), TESTS);
  await git(workspace, 'add', '.');
  await git(workspace, 'commit', '--quiet', '--message', 'Slugs');
  await git(workspace, 'push', '--quiet', 'origin', 'main');
  return { workspace, remote, release };
}

/** Subject of the newest commit on the remote's main. */
export const pushedCommit = ({ remote }: Repository): Promise<string> =>
  git(remote, 'log', '-1', '--format=%s', 'main');
/** Tags on the remote, one a line. */
export const pushedTags = ({ remote }: Repository): Promise<string> => git(remote, 'tag');

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await exec('git', args, { cwd });
  return stdout.trim();
}
