/** Reloads the configuration when its file changes. */
import { existsSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { CountersignError } from '../protocol/errors.ts';
import type { KnownTool } from './names.ts';
import { loadConfig, type LoadedConfig } from './load.ts';

/** Editors write in several steps; a change is read when this long has passed without another. */
const SETTLE_MS = 100;

/**
 * Calls `onChange` with each new configuration that is valid and differs, and `onError` with what is wrong with one that is
 * not: the caller then keeps what it has. Watches the folder, because editors replace the file. `current` is the hash that the
 * caller has loaded, so that a change between loading and watching is not missed. Returns how to stop.
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
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const load = async (first: boolean): Promise<void> => {
    // Without a file the defaults hold, and one may be made later; a file that was there and is gone is an error.
    if (first && !existsSync(file)) {
      last ??= 'no file';
      return;
    }
    const before = last;
    try {
      if (!existsSync(file)) throw new CountersignError('invalid_config', `${file}: the file is gone`);
      const loaded = await loadConfig(file, tools);
      if (stopped) return;
      last = loaded.hash;
      if (before !== undefined && loaded.hash !== before) onChange(loaded);
    } catch (error) {
      if (!stopped) onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(false), SETTLE_MS);
  };

  const ready = load(true);
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === null || name === basename(file)) void ready.then(soon);
  });
  watcher.on('error', onError);
  return () => {
    stopped = true;
    clearTimeout(timer);
    watcher.close();
  };
}
