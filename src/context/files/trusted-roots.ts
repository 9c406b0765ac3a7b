/** Which folders may be workspaces: those under a root that the owner of this machine trusts. */
import { readdirSync, statSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { CountersignError } from '../../protocol/errors.ts';
import { checkPathForm } from './beneath.ts';
import { isErrno } from '../../common/errno.ts';
import { protectionOf } from './protected.ts';
import { parsed, writeRecord } from '../state/state-files.ts';

/**
 * The folder's real path, when it lies in a trusted root (or is one). Throws `untrusted_workspace` otherwise, and always for `/`, a home folder as a whole or what
 * holds one, and for Countersign's own configuration and state, what holds them and what lies in them.
 */
export async function canonicalWorkspace(
  dir: string,
  trustedRoots: readonly string[],
  protectedPaths: readonly string[],
): Promise<string> {
  const workspace = await realFolder(dir);
  refuseUnfit(workspace, protectedPaths);
  for (const root of trustedRoots) {
    // A root that has been removed trusts nothing; one that is a link trusts what it leads to now.
    const real = await realpath(root).catch(() => undefined);
    if (real !== undefined && real !== '/' && within(workspace, real)) return workspace;
  }
  throw new CountersignError(
    'untrusted_workspace',
    `${workspace} is in no trusted folder; if you trust what lies there: countersign workspace add ${quoted(workspace)}`,
  );
}

/** Adds the folder's real path to the list in `file`; returns it. Throws `untrusted_workspace` for what can be no workspace. */
export async function addTrustedRoot(
  file: string,
  dir: string,
  protectedPaths: readonly string[] = [],
): Promise<string> {
  const root = await realFolder(dir);
  refuseUnfit(root, protectedPaths);
  const roots = await listTrustedRoots(file);
  if (!roots.includes(root)) await save(file, [...roots, root]);
  return root;
}

/** The list in `file`, sorted; empty when there is no such file. Throws `invalid_config` when it cannot be read. */
export async function listTrustedRoots(file: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw new CountersignError(
      'invalid_config',
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  const content = parsed(text);
  if (!isList(content))
    throw new CountersignError(
      'invalid_config',
      `${file} must be {"workspaces": ["/absolute/path", …]}; repair it, or delete it and add your folders again`,
    );
  return content.workspaces.toSorted();
}

/** True when the folder was in the list; by the path as listed, or the real path of what is given. */
export async function removeTrustedRoot(file: string, dir: string): Promise<boolean> {
  const roots = await listTrustedRoots(file);
  const named = resolve(dir);
  const real = await realpath(named).catch(() => named);
  const left = roots.filter((root) => root !== named && root !== real);
  if (left.length === roots.length) return false;
  await save(file, left);
  return true;
}

async function realFolder(dir: string): Promise<string> {
  checkPathForm(dir);
  try {
    const real = await realpath(resolve(dir));
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    throw new CountersignError(
      'untrusted_workspace',
      `the workspace ${dir} does not exist, or may not be entered; make the folder first`,
      { cause: error },
    );
  }
  throw new CountersignError('untrusted_workspace', `the workspace ${dir} is not a folder`);
}

function refuseUnfit(workspace: string, protectedPaths: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new CountersignError(
      'untrusted_workspace',
      `${workspace} can be no workspace: ${why}; use a folder of its own for the work`,
    );
  };
  if (workspace === '/') refuse('it is the whole machine');
  const home = resolve(homedir());
  if (within(home, workspace)) refuse('it is or holds a home folder');
  if (/^\/(?:home|Users)(?:\/[^/]+)?$|^\/root$/.test(workspace)) refuse('it is or holds a home folder');
  if (/^\/(?:proc|sys|dev|etc|boot)(?:\/|$)/.test(workspace)) refuse('it belongs to the system');
  for (const own of protectionOf(protectedPaths).paths) {
    if (within(workspace, own)) refuse("it lies in Countersign's own configuration or state");
    // A file of ours in a project (its configuration) is shut off inside; a folder of ours makes what holds it no workspace.
    if (within(own, workspace) && isFolder(own)) refuse("it holds Countersign's own configuration or state");
  }
}

/** An empty one holds nothing of ours: the sandbox puts one where our configuration could stand, while commands run. */
const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(path).length > 0;

const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

const quoted = (path: string): string =>
  /^[A-Za-z0-9_./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

const save = (file: string, workspaces: readonly string[]): Promise<void> =>
  writeRecord(file, `${JSON.stringify({ workspaces: workspaces.toSorted() }, null, 2)}\n`);

const isList = (value: unknown): value is { workspaces: string[] } =>
  typeof value === 'object' &&
  value !== null &&
  'workspaces' in value &&
  Array.isArray(value.workspaces) &&
  value.workspaces.every((item) => typeof item === 'string' && item.startsWith('/'));
