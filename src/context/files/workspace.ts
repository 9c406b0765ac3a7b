/** Files of the workspace, and of nothing else: every path goes through beneath.ts. */
import { constants, lstatSync, readdirSync, unlinkSync, type Stats } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { CountersignError } from '../../protocol/errors.ts';
import type { DirectoryEntry, FileReader, FileWriter } from '../../tools/tool-context.ts';
import { abortedBy, stopIfAborted } from '../abort.ts';
import { through, type JudgedPaths, type Place, type Protection, type Resolving } from './beneath.ts';
import { isErrno } from '../../common/errno.ts';
import { atPlace } from './file-error.ts';
import type { Journal } from '../state/journal.ts';
import { syncFolder } from '../state/state-files.ts';
import { refuseGitControl } from './git-folders.ts';
import { holdsProtected } from './protected.ts';
import { removePlace } from './remove.ts';

/** Largest file that is read or written. */
export const MAX_FILE_BYTES = 100 * 1024 * 1024;

export interface WorkspaceOptions {
  /** Canonical absolute path. */
  root: string;
  protection: Protection;
  signal: AbortSignal;
  /** Largest file that is read or written; 100 MB unless given. */
  maxFileBytes?: number;
  /** Where the call's paths led when it was judged. */
  judged?: JudgedPaths | undefined;
}

/**
 * Reads. FIFOs, sockets and devices are refused without being opened. Hard links are read like any file: a session has no way to
 * make one to a file outside (the sandbox sees other mounts, no tool links), and package managers fill workspaces with them.
 */
export function openReader({
  root,
  protection,
  signal,
  maxFileBytes = MAX_FILE_BYTES,
  judged,
}: WorkspaceOptions): FileReader {
  const how: Resolving = { root, protection, followLast: true, judged };
  return {
    read: (path) =>
      atPlace(path, how, async (place) => ({
        bytes: await readPlace(place, signal, maxFileBytes),
        path: relative(root, place.path),
      })),
    list: (path) =>
      atPlace(path, how, async (place) => {
        if (!existing(place).stats.isDirectory())
          throw new CountersignError(
            'not_a_directory',
            `${relative(root, place.path)} is not a folder; use read or stat`,
          );
        return { path: relative(root, place.path), entries: await entriesOf(place, protection, signal) };
      }),
    stat: (path) =>
      atPlace(path, how, (place) => {
        const { stats } = existing(place);
        return { path: relative(root, place.path), ...entryOf(place.name === '' ? '.' : place.name, stats) };
      }),
  };
}

/** Changes. A file that is replaced is a new inode: other hard links keep the old content. */
export function openWriter(options: WorkspaceOptions & { journal: Journal }): FileWriter {
  const { root, protection, signal, journal, maxFileBytes = MAX_FILE_BYTES, judged } = options;
  const how: Resolving = { root, protection, followLast: true, createParents: true, judged };
  return {
    write: (path, bytes, { ifHash } = {}) =>
      atPlace(path, how, async (place) => {
        checkWritable(place, root, bytes, maxFileBytes);
        const hash = sha256(bytes);
        if (ifHash !== undefined) {
          const present = place.entry === undefined ? undefined : sha256(await readPlace(place, signal, maxFileBytes));
          if (present === hash) return { path: relative(root, place.path), created: false, hash };
          if (present !== ifHash) throw changed(relative(root, place.path), present);
        }
        await replace(place, bytes, signal);
        return { path: relative(root, place.path), created: place.entry === undefined, hash };
      }),

    update: (path, change, { ifHash } = {}) =>
      atPlace(path, { ...how, createParents: false }, async (place) => {
        const name = relative(root, place.path);
        const present = await readPlace(place, signal, maxFileBytes);
        const before = sha256(present);
        const earlier = await journal.read(name);
        if (earlier !== undefined) {
          if (before === earlier.after) return { path: name, hash: earlier.after, note: earlier.note };
          if (before !== earlier.before) {
            throw new CountersignError(
              'file_changed',
              `${name} was changed by someone else after an earlier try of this call, so whether the edit took place cannot be told; read the file and edit again`,
            );
          }
        }
        if (ifHash !== undefined && before !== ifHash) throw changed(name, before);
        const { bytes, note } = change(present, maxFileBytes);
        checkWritable(place, root, bytes, maxFileBytes);
        const after = sha256(bytes);
        await journal.write(name, { before, after, note });
        await replace(place, bytes, signal, before);
        return { path: name, hash: after, note };
      }),

    remove: (path, { recursive = false } = {}) =>
      atPlace(path, { root, protection, followLast: false, judged }, async (place) => {
        if (place.name === '')
          throw new CountersignError('protected_path', 'the workspace itself is not deleted by a tool');
        existing(place);
        refuseGitControl(place.path, root);
        if (holdsProtected(place.path, protection))
          throw new CountersignError(
            'protected_path',
            `${relative(root, place.path)} holds Countersign's own configuration or state; no tool may delete it`,
          );
        return {
          path: relative(root, place.path),
          entries: await removePlace(place, { recursive, protection, signal }),
        };
      }),
  };
}

/** The path from the workspace, as models write it; '.' for the workspace itself. */
export function relative(root: string, path: string): string {
  if (path === root) return '.';
  return root !== '/' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function existing(place: Place): { fd: number; stats: Stats } {
  if (place.entry === undefined)
    throw new CountersignError(
      'file_not_found',
      `${place.name} does not exist in ${place.parent.path}; use list to see what does`,
    );
  return place.entry;
}

async function readPlace(place: Place, signal: AbortSignal, maxFileBytes: number): Promise<Uint8Array> {
  const { fd, stats } = existing(place);
  if (stats.isDirectory())
    throw new CountersignError('not_a_file', `${place.name || 'the workspace'} is a folder; use list`);
  if (!stats.isFile())
    throw new CountersignError(
      'not_a_file',
      `${place.name} is a device, FIFO, socket or link that leads nowhere; only regular files can be read`,
    );
  // The held descriptor cannot be read from; this opens the same inode again, whatever its name leads to by now.
  let file: FileHandle;
  try {
    file = await open(through({ fd, path: place.path }), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isErrno(error, 'EACCES', 'EPERM'))
      throw new CountersignError('tool_failed', `this user may not read ${place.name}`, { cause: error });
    throw error;
  }
  try {
    return await readAll(file, stats.size, { name: place.name, maxFileBytes }, signal);
  } finally {
    await file.close();
  }
}

/** With two digits at most; `4 bytes`, `1.5 KB`, `100 MB`. */
function sizeOf(bytes: number): string {
  const [unit, name] = bytes < 1024 ? [1, 'bytes'] : bytes < 1024 ** 2 ? [1024, 'KB'] : [1024 ** 2, 'MB'];
  return `${Math.round((bytes / unit) * 100) / 100} ${name}`;
}

/** To the end as it is when reached, for files that grow; never past the limit. */
async function readAll(
  file: FileHandle,
  expected: number,
  { name, maxFileBytes }: { name: string; maxFileBytes: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const tooLarge = () =>
    new CountersignError(
      'file_too_large',
      `${name} is larger than ${sizeOf(maxFileBytes)} (limits.fileBytes); use search, or shell with head or sed`,
    );
  if (expected > maxFileBytes) throw tooLarge();
  let buffer = Buffer.allocUnsafeSlow(expected + 1);
  let length = 0;
  for (;;) {
    stopIfAborted(signal);
    if (length === buffer.length) {
      if (length > maxFileBytes) throw tooLarge();
      const larger = Buffer.allocUnsafeSlow(Math.min(length * 2, maxFileBytes + 1));
      buffer.copy(larger);
      buffer = larger;
    }
    const { bytesRead } = await file.read(buffer, length, Math.min(buffer.length - length, 8 * 1024 * 1024), length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
}

async function entriesOf(place: Place, protection: Protection, signal: AbortSignal): Promise<DirectoryEntry[]> {
  const held = { fd: existing(place).fd, path: place.path };
  const entries: DirectoryEntry[] = [];
  for (const [i, name] of readdirSync(through(held)).entries()) {
    // A folder of a hundred thousand files takes half a second; heartbeats need the event loop.
    if (i % 1_000 === 999) await setImmediate();
    stopIfAborted(signal);
    const stats = lstatSync(through(held, name), { throwIfNoEntry: false });
    if (stats === undefined || protection.identities.has(`${stats.dev}:${stats.ino}`)) continue;
    entries.push(entryOf(name, stats));
  }
  // By code unit: the same order on every machine.
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function entryOf(name: string, stats: Stats): DirectoryEntry {
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'symlink'
        : 'other';
  return { name, kind, bytes: kind === 'file' ? stats.size : 0, modifiedAt: Math.round(stats.mtimeMs) };
}

function checkWritable(place: Place, root: string, bytes: Uint8Array, maxFileBytes: number): void {
  if (place.name === '' || place.entry?.stats.isDirectory())
    throw new CountersignError('not_a_file', `${place.name || 'the workspace'} is a folder; give the path of a file`);
  if (place.entry !== undefined && !place.entry.stats.isFile())
    throw new CountersignError(
      'not_a_file',
      `${place.name} is a device, FIFO or socket; only regular files can be written`,
    );
  if (bytes.length > maxFileBytes)
    throw new CountersignError('file_too_large', `content is larger than ${sizeOf(maxFileBytes)} (limits.fileBytes)`);
  refuseGitControl(place.path, root);
}

/** Writes beside the target and renames over it, both relative to the held folder; then the folder itself is made durable. */
async function replace(place: Place, bytes: Uint8Array, signal: AbortSignal, ifPresent?: string): Promise<void> {
  stopIfAborted(signal);
  const { parent, name, entry } = place;
  const temporary = through(parent, `.countersign-${randomBytes(8).toString('hex')}.tmp`);
  const target = through(parent, name);
  const file = await open(
    temporary,
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
    0o600,
  ).catch((error: unknown) => {
    if (isErrno(error, 'EACCES', 'EPERM', 'EROFS'))
      throw new CountersignError('tool_failed', `this user may not write in ${parent.path}`, { cause: error });
    throw error;
  });
  try {
    try {
      await file.writeFile(bytes, { signal });
      await file.chmod(entry === undefined ? 0o666 & ~process.umask() : entry.stats.mode & 0o777);
      if (entry !== undefined && process.getuid?.() === 0) await file.chown(entry.stats.uid, entry.stats.gid);
      await file.sync();
    } finally {
      await file.close();
    }
    stopIfAborted(signal);
    if (ifPresent !== undefined) await checkUnchanged(place, ifPresent, signal);
    await rename(temporary, target);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // Renamed, or its folder is gone; the error that led here says more.
    }
    throw isErrno(error, 'ABORT_ERR') ? abortedBy(signal) : error;
  }
  await syncFolder(through(parent));
}

/** The last look before the rename: what a person saved while the edit was prepared is not lost. */
async function checkUnchanged({ parent, name, path }: Place, hash: string, signal: AbortSignal): Promise<void> {
  const stats = lstatSync(through(parent, name), { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) throw changed(name, undefined);
  const file = await open(
    through(parent, name),
    constants.O_RDONLY | constants.O_NOFOLLOW | (constants.O_NONBLOCK ?? 0),
  );
  try {
    const present = sha256(await readAll(file, stats.size, { name: path, maxFileBytes: MAX_FILE_BYTES }, signal));
    if (present !== hash) throw changed(name, present);
  } finally {
    await file.close();
  }
}

const changed = (name: string, present: string | undefined): CountersignError =>
  new CountersignError(
    'file_changed',
    present === undefined
      ? `${name} does not exist any more; read the folder and decide anew`
      : `${name} has other content now (sha256 ${present}); read it again and use its present hash`,
  );
