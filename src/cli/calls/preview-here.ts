/** What a call would do, said by the approver's own program. */
import { previewOf } from '../../approval/preview.ts';
import type { OpenRequest } from '../../client/index.ts';
import type { Preview } from '../../protocol/preview.ts';

/**
 * Made here, of the arguments that are shown, so that no worker says in its place what a command does. What a file held is not known
 * here: for that, the preview that came along is taken, as far as it speaks of the same file. So is the shell's backend.
 */
export async function previewHere({
  request,
  arguments: args,
  preview: sent,
}: OpenRequest): Promise<Preview | undefined> {
  const made = await previewOf(request.tool, args, {
    readText: () => Promise.reject(new Error('not on this machine')),
    backend: sent?.kind === 'command' && sent.where !== 'sandbox' ? 'host' : 'sandbox',
  });
  if (made?.kind !== 'diff') return made;
  return sent?.kind === 'diff' && sent.path === made.path ? sent : undefined;
}
