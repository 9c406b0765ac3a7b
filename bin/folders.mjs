/**
 * A user's folders, after the XDG base directory specification. Plain JavaScript: the command and the set-up look for the cache on whatever Node there is,
 * and before there is anything else.
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Below home where the variable names none. The specification says to ignore relative paths. */
export function baseDir(env, variable, fallback) {
  const value = env[variable];
  return value && isAbsolute(value) ? value : join(homedir(), fallback);
}

/** What can be made again: the Temporal server, workflow bundles, compiled code. Shared by all services of a user. */
export const cacheDir = (env = process.env) => join(baseDir(env, 'XDG_CACHE_HOME', '.cache'), 'countersign');
