/**
 * Protected paths inside a workspace that do not exist: the sandbox cannot shut a door that is not there, so what a command puts in such a place is
 * taken away when it ends, before anything could read it as our configuration.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Protection } from './beneath.ts';

/** Those that could be planted: in the workspace, and absent now. */
export const plantedPaths = (root: string, { paths }: Protection): string[] =>
  paths.filter((path) => path.startsWith(`${root}/`) && !existsSync(path));

export async function removePlanted(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
}
