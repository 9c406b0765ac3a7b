/** The main session of a folder: which id it has, and how it is found or opened. */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { SessionHandle } from '../../client/index.ts';
import { CountersignError, isCountersignError } from '../../protocol/errors.ts';
import type { AnyCountersign } from '../service/with-service.ts';

/** Sessions of one folder that were closed before a new one is refused. */
const GENERATIONS = 50;

/** A name to know the folder by and a hash of its real path, at most 64 characters: `my-project-5c0a1f93be27`. */
export function folderSessionId(realPath: string): string {
  const name = basename(realPath)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(realPath).digest('hex').slice(0, 12);
  return `${name || 'folder'}-${hash}`;
}

/**
 * The folder's open main session; opened when there is none. Ids are never reused, so after a closed one comes the same id
 * with `-2`, and so on.
 * @throws CountersignError `untrusted_workspace`, `session_exists`, `no_service`
 */
export async function mainSession(
  countersign: AnyCountersign,
  folder: string = process.cwd(),
): Promise<SessionHandle<object>> {
  const workspace = await realFolder(folder);
  const base = folderSessionId(workspace);
  for (let generation = 1; generation <= GENERATIONS; generation += 1) {
    const id = generation === 1 ? base : `${base}-${generation}`;
    const session = await openOrAttach(countersign, id, workspace);
    if (session) return session;
  }
  throw new CountersignError(
    'session_closed',
    `${GENERATIONS} sessions of this folder were closed. Open one: countersign session open --id ID, and use --session ID`,
  );
}

/** Undefined where a session of this id was closed. */
async function openOrAttach(
  countersign: AnyCountersign,
  id: string,
  workspace: string,
): Promise<SessionHandle<object> | undefined> {
  try {
    const session = await countersign.session(id);
    if (session.facts.workspace === workspace) return session;
    throw new CountersignError(
      'session_exists',
      `Session ${id} exists with another workspace (${session.facts.workspace}). Use --session.`,
    );
  } catch (error) {
    if (hasCode(error, 'session_closed')) return undefined;
    if (!hasCode(error, 'session_not_found')) throw error;
  }
  try {
    return await countersign.openSession({ id, workspace });
  } catch (error) {
    if (hasCode(error, 'session_closed')) return undefined;
    throw error;
  }
}

/** The real path of a folder that is given on the command line; one that only the worker's machine has stays as given. */
export async function realFolder(folder: string): Promise<string> {
  const full = resolve(folder);
  try {
    return await realpath(full);
  } catch {
    return full;
  }
}

const hasCode = (error: unknown, code: string): boolean => isCountersignError(error) && error.code === code;
