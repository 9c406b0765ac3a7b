/** The hands of an approved elevated call: they reach past the workspace and the sandbox, and still not everywhere. */
import { homedir } from 'node:os';
import { CountersignError } from '../../protocol/errors.ts';
import type { Elevated } from '../../tools/tool-context.ts';
import type { JudgedPaths, Protection } from '../files/beneath.ts';
import { atPlace } from '../files/file-error.ts';
import { runOnHost, workingFolderOf } from './processes.ts';
import { holdsProtected } from '../files/protected.ts';
import { removePlace } from '../files/remove.ts';

export interface ElevatedOptions {
  root: string;
  protection: Protection;
  signal: AbortSignal;
  /** Where the call's paths led when it was judged. */
  judged?: JudgedPaths | undefined;
}

/** Deletes by the path that the approver saw: one with a link in it is refused, because a link can lead elsewhere by now. */
export function openElevated({ root, protection, signal, judged }: ElevatedOptions): Elevated {
  return {
    run: async (line) =>
      runOnHost(line, { cwd: await workingFolderOf(line.cwd ?? '.', root, protection, judged), root }, signal),
    remove: (path, { recursive = false } = {}) => {
      if (!path.startsWith('/'))
        throw new CountersignError(
          'outside_workspace',
          `${path} is relative; outside of the workspace only absolute paths are deleted`,
        );
      return atPlace(path, { root: '/', protection, followLast: false, refuseLinks: true }, async (place) => {
        refuseVital(place.path, protection);
        if (place.entry === undefined) throw new CountersignError('file_not_found', `${place.path} does not exist`);
        return { path: place.path, entries: await removePlace(place, { recursive, protection, signal }) };
      });
    },
  };
}

/** No approval covers these: nobody who knows what they are means them. */
function refuseVital(path: string, protection: Protection): void {
  const home = homedir();
  const vital = path === '/' || /^\/[^/]+$/.test(path) || path === home || home.startsWith(`${path}/`);
  if (vital)
    throw new CountersignError(
      'protected_path',
      `${path} is never deleted by a tool, approved or not: it is the root, a system folder or a home folder`,
    );
  if (holdsProtected(path, protection))
    throw new CountersignError(
      'protected_path',
      `${path} holds Countersign's own configuration or state; no tool may delete it`,
    );
}
