/** Reloads the configuration when its file changes. */
import { constants, statSync, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isErrno } from '../common/errno.ts';
import { CountersignError } from '../protocol/errors.ts';
import type { KnownTool } from './names.ts';
import { type LoadedConfig, parseConfig } from './load.ts';

/** Editors write in several steps; a change is read when this long has passed without another. */
const SETTLE_MS = 100;
/** Between two looks at the content: what the folder does not tell is a link whose target changes, a folder that is replaced, a mounted ConfigMap. */
const LOOK_MS = 2_000;
/** Larger ones are not read. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface ConfigWatch {
  /** Called with each new configuration that is valid and differs. */
  onChange(loaded: LoadedConfig): void;
  /** Called with why a file is not taken; the caller then keeps what it has. */
  onError(error: Error): void;
  /** Hash of what the caller has loaded, so that a change between loading and watching is not missed. */
  current?: string;
  /** Those that rules may name, where they are not the built-in ones alone. */
  tools?: readonly KnownTool[];
  /**
   * Whether a command could write the file at any moment since then, of `performance.now()`. What changed meanwhile is not taken until it is saved again. Not asked of
   * the first look, which is before any command.
   */
  exposed?(path: string, since: number): boolean;
}

/** Watches the folder, because editors replace the file, and looks at the content every {@link LOOK_MS}. Returns how to stop. */
export function watchConfig(
  path: string,
  { onChange, onError, current, tools, exposed = () => false }: ConfigWatch,
): () => void {
  const file = resolve(path);
  let inForce: { hash?: string | undefined; content?: string } = { hash: current };
  let seen: Look | undefined;
  /** The content that was judged last, so that a broken file is told of once. */
  let judged: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const take = ({ content, error }: Look, since: number | undefined): void => {
    const [before, { hash }] = [judged, inForce];
    judged = undefined;
    if (content === inForce.content) return;
    // Not even what is wrong with it is told: those would be the command's words.
    if (since !== undefined && exposed(file, since)) throw changedByCommand(file);
    judged = content;
    if (content === before) return;
    if (error) throw error;
    const loaded = { ...parseConfig(content, file, tools), path: file };
    inForce = { hash: loaded.hash, content };
    if (hash !== undefined && loaded.hash !== hash) onChange(loaded);
  };
  const load = async (): Promise<void> => {
    const before = seen;
    const found = await lookAt(file);
    if (stopped) return;
    seen = found;
    if (!isSame(found, before)) take(found, before?.at);
  };
  const look = async (): Promise<void> => {
    const found = await lookAt(file);
    if (isSame(found, seen)) seen = found;
    else if (!stopped) soon();
  };
  let work = Promise.resolve();
  /** One after the other: what was looked at earlier must not be taken later. */
  const next = (step: () => Promise<void>): void => {
    work = work
      .then(step)
      .catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))));
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => next(load), SETTLE_MS);
  };

  next(load);
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === null || name === basename(file)) soon();
  });
  watcher.on('error', onError);
  const looking = setInterval(() => next(look), LOOK_MS).unref();
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

/** What stood at the path. */
interface Look {
  /** When the look began, of `performance.now()`. */
  at: number;
  /**
   * Which file, and when it was written last: one that is saved again as it was is another. Not when its names or rights changed: tools that delete another name of it
   * would save what a command had written.
   */
  version: string;
  /** Its text, or why there is none. */
  content: string;
  error?: CountersignError;
}

async function lookAt(file: string): Promise<Look> {
  const at = performance.now();
  try {
    // Whoever opens a FIFO would wait for its writer.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat({ bigint: true });
    const { dev, ino, size, mtimeNs } = stats;
    // The sandbox holds the name with a folder while a command runs.
    if (stats.isDirectory()) return { at, ...none(file, 'the file is gone') };
    if (!stats.isFile()) return { at, ...none(file, 'is no file') };
    if (size > MOST_BYTES) return { at, ...none(file, `is larger than ${MOST_BYTES} bytes`) };
    return { at, version: [dev, ino, size, mtimeNs].join(), content: await handle.readFile('utf8') };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { at, ...none(file, isErrno(error, 'ENOENT') ? 'the file is gone' : `cannot be read: ${why}`) };
  }
}

function none(file: string, why: string): Omit<Look, 'at'> {
  const error = new CountersignError('invalid_config', `${file}: ${why}`);
  return { version: '', content: error.message, error };
}

const isSame = (found: Look, seen: Look | undefined): boolean =>
  found.version === seen?.version && found.content === seen.content;

const changedByCommand = (file: string): CountersignError =>
  new CountersignError(
    'invalid_config',
    `${file}: changed while a command ran that can write in its folder, so a command may have written it. Read it, and save it again when none runs there: then it is taken up`,
  );
