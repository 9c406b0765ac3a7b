/** Reloads the configuration when its file changes. */
import { statSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CountersignError } from '../protocol/errors.ts';
import type { KnownTool } from './names.ts';
import { type LoadedConfig, parseConfig } from './load.ts';

/** Editors write in several steps; a change is read when this long has passed without another. */
const SETTLE_MS = 100;
/** Between two looks at the content: what the folder does not tell is a link whose target changes, a folder that is replaced, a mounted ConfigMap. */
const LOOK_MS = 2_000;

/**
 * Calls `onChange` with each new configuration that is valid and differs, and `onError` with what is wrong with one that is
 * not: the caller then keeps what it has. Watches the folder, because editors replace the file, and looks at the content every {@link LOOK_MS}. `current` is the hash that
 * the caller has loaded, so that a change between loading and watching is not missed. Returns how to stop.
 */
export function watchConfig(
  path: string,
  onChange: (loaded: LoadedConfig) => void,
  onError: (error: Error) => void,
  current?: string,
  tools?: readonly KnownTool[],
): () => void {
  const file = resolve(path);
  let last = current;
  /** What was looked at last, so that a broken file is told of once. */
  let seen: string | Error | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const load = async (): Promise<void> => {
    const found = await textOf(file);
    if (stopped || isSame(found, seen)) return;
    seen = found;
    try {
      if (found instanceof Error) throw found;
      const loaded = { ...parseConfig(found, file, tools), path: file };
      const before = last;
      last = loaded.hash;
      if (before !== undefined && loaded.hash !== before) onChange(loaded);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), SETTLE_MS);
  };
  const look = async (): Promise<void> => {
    if (!isSame(await textOf(file), seen) && !stopped) soon();
  };

  const ready = load();
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === null || name === basename(file)) void ready.then(soon);
  });
  watcher.on('error', onError);
  const looking = setInterval(() => void ready.then(look), LOOK_MS).unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
    clearInterval(looking);
    watcher.close();
  };
}

/**
 * Calls `onAppeared` when a file comes to stand where none stood, each time. It is not read: a service that began without it goes on without it, because whoever
 * put it there may be a session. Returns how to stop.
 */
export function watchForFile(path: string, onAppeared: () => void): () => void {
  // A folder only holds the name, while commands run in the workspace.
  const stands = (): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  let stood = false;
  const looking = setInterval(() => {
    const before = stood;
    stood = stands();
    if (stood && !before) onAppeared();
  }, LOOK_MS).unref();
  return () => clearInterval(looking);
}

/** The text, or why there is none. */
async function textOf(file: string): Promise<string | CountersignError> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = error instanceof Error ? error.message : String(error);
    return new CountersignError('invalid_config', `${file}: ${gone ? 'the file is gone' : `cannot be read: ${why}`}`);
  }
}

const isSame = (found: string | Error, seen: string | Error | undefined): boolean =>
  found instanceof Error ? seen instanceof Error && seen.message === found.message : found === seen;
