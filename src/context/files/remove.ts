/** Deleting a file or a tree without ever following a link out of it: each folder is held while its entries go. */
import { closeSync, constants, fstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { CountersignError } from '../../protocol/errors.ts';
import { identityOf, through, type Place, type Protection } from './beneath.ts';
import { isErrno } from '../../common/errno.ts';
import { stopIfAborted } from '../abort.ts';

interface Removing {
  recursive: boolean;
  protection: Protection;
  signal: AbortSignal;
}

/** Descriptors are one a level. */
const MAX_DEPTH = 256;

/** Returns the number of entries deleted. */
export async function removePlace({ parent, name, path, entry }: Place, how: Removing): Promise<number> {
  if (entry === undefined) return 0;
  if (!entry.stats.isDirectory()) {
    unlinkSync(through(parent, name));
    return 1;
  }
  if (!how.recursive) return removeEmpty(through(parent, name), name);
  const entries = await emptyFolder({ fd: entry.fd, path }, how, 0);
  rmdirSync(through(parent, name));
  return entries + 1;
}

function removeEmpty(path: string, name: string): number {
  try {
    rmdirSync(path);
    return 1;
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST'))
      throw new CountersignError(
        'not_a_file',
        `${name} is a folder that is not empty; set recursive to delete all in it`,
      );
    throw error;
  }
}

async function emptyFolder(held: { fd: number; path: string }, how: Removing, depth: number): Promise<number> {
  if (depth > MAX_DEPTH)
    throw new CountersignError(
      'tool_failed',
      `folders are nested deeper than ${MAX_DEPTH} levels at ${held.path.slice(0, 200)}…; delete the inner ones first`,
    );
  let entries = 0;
  for (const name of readdirSync(through(held))) {
    stopIfAborted(how.signal);
    // A large tree takes seconds; heartbeats and cancellation need the event loop.
    if (entries % 64 === 0) await setImmediate();
    const path = `${held.path}/${name}`;
    const child = openDirectory(through(held, name));
    if (child === undefined) {
      unlinkSync(through(held, name));
    } else {
      try {
        if (how.protection.identities.has(identityOf(fstatSync(child))))
          throw new CountersignError(
            'protected_path',
            `${path} is part of Countersign's own configuration or state; no tool may delete it`,
          );
        entries += await emptyFolder({ fd: child, path }, how, depth + 1);
      } finally {
        closeSync(child);
      }
      rmdirSync(through(held, name));
    }
    entries += 1;
  }
  return entries;
}

/** The folder of this name, held; undefined when it is none (a link to one is none). */
function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}
