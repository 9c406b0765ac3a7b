/**
 * A lock on a file that ends with its process, however that ends.
 *
 * The operating system keeps it (an exclusive transaction on an empty SQLite file), so no crash leaves a stale lock
 * behind and no process id needs to be believed.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Lock extends Disposable {
  release(): void;
}

/** The lock, or undefined when another holds it. */
export async function tryLock(file: string): Promise<Lock | undefined> {
  const { DatabaseSync } = await import('node:sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  let held = true;
  const release = (): void => {
    if (held) database.close();
    held = false;
  };
  return { release, [Symbol.dispose]: release };
}

/** Waits for the lock; calls `onWait` once when there is something to wait for. */
export async function waitForLock(file: string, onWait: () => void = () => {}): Promise<Lock> {
  let lock = await tryLock(file);
  if (lock) return lock;
  onWait();
  while (!lock) {
    await sleep(500);
    lock = await tryLock(file);
  }
  return lock;
}

const SQLITE_BUSY = 5;

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
