/** What a call would do, said by the program that shows it: the approver's own, or the worker that tells people. */
import type { ApprovalDetails } from '../protocol/approval.ts';
import type { Excerpt, Preview } from '../protocol/preview.ts';
import { previewOf } from './preview.ts';

/**
 * Made here, of the arguments that are shown, so that no worker says in its place what a command does or an edit changes. What a file
 * held is not known here: for `write`, the diff that came along is taken where all that it adds is of the content, and shown as the
 * service's word. So is the shell's backend, where a call asks for the sandbox.
 */
export async function previewHere({
  request,
  arguments: args,
  preview: sent,
}: Pick<ApprovalDetails, 'request' | 'arguments' | 'preview'>): Promise<Preview | undefined> {
  const made = await previewOf(request.tool, args, {
    readText: () => Promise.reject(new Error('not on this machine')),
    backend: sent?.kind === 'command' && sent.where === 'sandbox' ? 'sandbox' : 'host',
  });
  if (request.tool !== 'write' || made?.kind !== 'diff') return made;
  if (!isDiff(sent) || sent.path !== made.path) return made;
  const diff = wholeLines(sent.diff);
  return isOf(String(args['content']), diff) ? { ...sent, diff } : made;
}

type Diff = Extract<Preview, { kind: 'diff' }>;
const CHANGES: Readonly<Record<Diff['change'], true>> = {
  create: true,
  change: true,
  none: true,
  refused: true,
  unknown: true,
};

/** Whether it is one that can be shown: a stranger who runs the call's workflow sends what they like. */
function isDiff(sent: Preview | undefined): sent is Diff {
  if (sent?.kind !== 'diff') return false;
  const { change, added, removed, diff } = sent as Partial<Diff>;
  const { head, tail = '', left = { lines: 0, characters: 0 } } = diff ?? {};
  return (
    Object.hasOwn(CHANGES, String(change)) &&
    [added, removed, left?.lines, left?.characters].every(Number.isFinite) &&
    typeof head === 'string' &&
    typeof tail === 'string'
  );
}

/** A text is cut anywhere, also within a line; what is left of such lines is left out, too. */
function wholeLines(diff: Excerpt): Excerpt {
  const { head, left, tail = '' } = diff;
  if (!left) return { head };
  const end = Math.max(0, head.lastIndexOf('\n'));
  const start = tail.includes('\n') ? tail.indexOf('\n') + 1 : tail.length;
  const characters = left.characters + head.length - end + start;
  return { head: head.slice(0, end), left: { lines: left.lines + 2, characters }, tail: tail.slice(start) };
}

const NOT_OF_THE_NEW_FILE = /^(-.*|@@ -\d+,\d+ \+\d+,\d+ @@|\\ No newline at end of file|)$/s;

/** Whether a text is a diff by its form, and all that it has of the new file stands in that content, in its order. */
function isOf(content: string, { head, tail = '' }: Excerpt): boolean {
  const lines = content.split('\n');
  let from = 0;
  return [...head.split('\n'), ...tail.split('\n')].every((shown) => {
    if (!/^[+ ]/.test(shown)) return NOT_OF_THE_NEW_FILE.test(shown);
    from = lines.indexOf(shown.slice(1), from) + 1;
    return from > 0;
  });
}
