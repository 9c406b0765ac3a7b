/**
 * Where Countersign keeps things, after the XDG base directory specification.
 *
 * COUNTERSIGN_HOME puts configuration and state under one folder (tests, the demo, several services on one machine).
 * The cache stays where it is even then: it holds only what can be made again, and making it again takes minutes.
 */
import { join, resolve } from 'node:path';
import { baseDir } from '../../bin/folders.mjs';
import { CONFIG_FILE } from '../protocol/names.ts';

export { cacheDir } from '../../bin/folders.mjs';

type Env = Readonly<Record<string, string | undefined>>;

/** Configuration: `config.jsonc` and what a person wrote. */
export const configDir = (env: Env = process.env): string => place(env, 'config', 'XDG_CONFIG_HOME', '.config');

/** State: the embedded server's database, artifacts, claims, keys, logs, `service.json`. */
export const stateDir = (env: Env = process.env): string => place(env, 'state', 'XDG_STATE_HOME', '.local/state');

/** No session may touch these, there or not. `config`: the configuration that was found; the one of the working folder is found first at the next start. */
export const ownPaths = (config?: string): string[] => [
  stateDir(),
  configDir(),
  resolve(CONFIG_FILE),
  ...(config === undefined ? [] : [config]),
];

/** The package's own root: holds `temporal-server/`, and either `src/` (a clone) or `dist/` (published). */
export const packageRoot = (): string => join(import.meta.dirname, '..', '..');

function place(env: Env, own: string, variable: string, fallback: string): string {
  if (env['COUNTERSIGN_HOME']) return join(resolve(env['COUNTERSIGN_HOME']), own);
  return join(baseDir(env, variable, fallback), 'countersign');
}
