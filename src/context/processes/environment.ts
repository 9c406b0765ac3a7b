/** The environment of commands: nothing of ours but a few names, and what the call itself asks for. */
import { realpathSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { CountersignError } from '../../protocol/errors.ts';
import { refusedVariable } from '../../tools/variables.ts';

/** Names that a host command inherits from the worker, where they are set. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const;

export type Environment = Record<string, string>;

/** The call's own variables, checked. Throws `invalid_arguments` with the failing name as `field`. */
export function requestedEnvironment(env: Readonly<Record<string, string>> = {}): Environment {
  for (const [name, value] of Object.entries(env)) {
    const field = `/env/${name}`;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new CountersignError('invalid_arguments', `"${name}" is no name of an environment variable`, { field });
    if (value.includes('\0'))
      throw new CountersignError('invalid_arguments', `the value of ${name} holds a NUL character`, { field });
    const refused = refusedVariable(name);
    if (refused !== undefined) throw new CountersignError('invalid_arguments', refused, { field });
  }
  return { ...env };
}

/** Inside the sandbox: fixed values, none from the machine. */
export const sandboxEnvironment = (path: string): Environment => ({
  PATH: path,
  HOME: '/tmp',
  TMPDIR: '/tmp',
  USER: 'user',
  LOGNAME: 'user',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  ...(process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] }),
});

/**
 * On the host: the allow-list of what the worker has. Programs are never looked for where tools can write: not in the workspace, not
 * by a relative folder, and not among a project's own commands (npm puts `node_modules/.bin` first).
 */
export function hostEnvironment(workspace: string): Environment {
  const env: Environment = { TERM: 'dumb' };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => isTrustedFolder(folder, workspace));
  env['PATH'] = folders.length > 0 ? folders.join(':') : SYSTEM_PATH;
  return env;
}

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

function isTrustedFolder(folder: string, workspace: string): boolean {
  if (!isAbsolute(folder)) return false;
  const places = [resolve(folder), realPathOf(folder)];
  return places.every((place) => {
    const names = place.split('/');
    const inside = place === workspace || place.startsWith(`${workspace}/`);
    return !inside && !names.includes('node_modules');
  });
}

function realPathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
