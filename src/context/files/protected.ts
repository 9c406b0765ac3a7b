/** What no session may touch: our own configuration and state, and the parts of a git repository that git itself executes. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CONFIG_FILE } from '../../protocol/names.ts';
import { identityOf, type Protection } from './beneath.ts';
import { canonicalPath } from './canonical.ts';

/** Both by name (also for what does not exist yet) and by identity (also through a hard link or another spelling). */
export function protectionOf(paths: readonly string[]): Protection {
  const names = new Set<string>();
  const identities = new Set<string>();
  for (const path of paths) {
    const absolute = resolve(path);
    names.add(absolute);
    // Also where links lead to it, or would when it is made.
    names.add(canonicalPath(absolute, '/', true));
    const stats = statSync(absolute, { throwIfNoEntry: false });
    if (stats !== undefined) identities.add(identityOf(stats));
  }
  return { paths: [...names], identities };
}

/** For a session: `own`, and at the top of its workspace the file that a service started there would go by. */
export const sessionProtection = (workspace: string, own: readonly string[]): Protection =>
  protectionOf([...own, join(workspace, CONFIG_FILE)]);

/** True where one of the paths is the folder itself or lies in it. */
export const holdsProtected = (folder: string, { paths }: Protection): boolean =>
  paths.some((path) => path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`));
