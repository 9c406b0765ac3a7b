/** Small records in the state folder, each written whole or not at all. Folders are 0700 and files 0600: they hold what sessions did. */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../../common/errno.ts';

/**
 * Where a record of this name lies below `folder`. Names are hashed: `.` and `..` are session ids, file systems differ about case,
 * and a folder of a million files is slow, so there are 256.
 */
export function recordPath(folder: string, names: readonly string[], extension: string): string {
  const name = createHash('sha256').update(JSON.stringify(names)).digest('hex');
  return join(folder, name.slice(0, 2), `${name}.${extension}`);
}

/** Replaces the record at once; durable when it returns. */
export async function writeRecord(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = await writeBeside(path, content, true);
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** `false` where a power cut may take the record with it, or leave it empty: one that is missing then must do no harm. */
type Durable = boolean;

/**
 * Creates the record; false when there is one already. The content is complete before the name exists (a hard link, which is as
 * exclusive as O_EXCL), so that no crash leaves half a record. Where the file system has no hard links, O_EXCL alone.
 */
export async function createRecord(path: string, content: string, durable: Durable = true): Promise<boolean> {
  const temporary = await writeBeside(path, content, durable);
  try {
    await link(temporary, path);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
    if (!(await createExclusively(path, content))) return false;
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
  if (durable) await syncFolder(dirname(path));
  return true;
}

/** Undefined when there is none. */
export async function readRecord(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The record as JSON; undefined when there is none, or when it is damaged. */
export async function readJsonRecord(path: string): Promise<unknown> {
  const text = await readRecord(path);
  return text === undefined ? undefined : parsed(text);
}

/** Undefined for what is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes what was put into the folder outlive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } catch (error) {
    // Some file systems cannot; what they can, rename has done.
    if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EPERM')) throw error;
  } finally {
    await folder.close();
  }
}

async function writeBeside(path: string, content: string | Uint8Array, durable: Durable): Promise<string> {
  await makeFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}

async function createExclusively(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(content);
    await file.sync();
    await file.close();
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/** A new folder's own name must be durable too, or what is in it is not. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await syncFolder(dirname(folder));
}
