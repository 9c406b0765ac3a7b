/** Paths without links, for who looks at them by name. What is to be opened is held instead (see beneath.ts). */
import { lstatSync, readlinkSync } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import { checkPathForm } from './beneath.ts';

/**
 * Absolute, without `.`, `..` and symbolic links as far as the path exists; the rest as written. `~` is a name like any other, a backslash too, and names that differ
 * in Unicode normalisation are different names, as they are to the kernel.
 */
export const canonicalPath = (path: string, workspace: string, followLast: boolean): string =>
  followed(path, workspace, followLast).canonical;

/** {@link canonicalPath}, and where the links stand by which it goes. */
export function followed(
  path: string,
  workspace: string,
  followLast: boolean,
): { canonical: string; links: readonly string[] } {
  checkPathForm(path);
  const names = (path.startsWith('/') ? path : `${workspace}/${path}`).split('/');
  let done: string[] = [];
  const links: string[] = [];
  while (names.length > 0) {
    const name = names.shift() ?? '';
    if (name === '' || name === '.') continue;
    if (name === '..') {
      done.pop();
      continue;
    }
    const here = `/${[...done, name].join('/')}`;
    const target = names.length > 0 || followLast ? linkAt(here) : undefined;
    if (target === undefined) {
      done.push(name);
      continue;
    }
    links.push(here);
    if (links.length > 40)
      throw new CountersignError(
        'invalid_arguments',
        'the path goes through more than 40 symbolic links, perhaps in a circle',
      );
    if (target.startsWith('/')) done = [];
    names.unshift(...target.split('/'));
  }
  return { canonical: `/${done.join('/')}`, links };
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // Not there, or not for us to see: from here on the path is as written.
    return undefined;
  }
}
