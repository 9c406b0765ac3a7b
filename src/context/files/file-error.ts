/** The system's errors about files → ours. */
import { CountersignError } from '../../protocol/errors.ts';
import { isErrno } from '../../common/errno.ts';
import { withPlace, type Place, type Resolving } from './beneath.ts';

/** Like withPlace, for work on files only: what the system refuses while at it is told in our words. */
export async function atPlace<T>(path: string, how: Resolving, use: (place: Place) => Promise<T> | T): Promise<T> {
  try {
    return await withPlace(path, how, use);
  } catch (error) {
    throw told(error, path);
  }
}

function told(error: unknown, path: string): unknown {
  const say = (code: 'file_changed' | 'tool_failed', message: string): CountersignError =>
    new CountersignError(code, message, { cause: error });
  if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ESTALE', 'ELOOP'))
    return say('file_changed', `${path} was moved, deleted or exchanged by someone else meanwhile; look again`);
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return say('tool_failed', `${path}: no space is left on the disk; nothing was changed`);
  if (isErrno(error, 'EROFS')) return say('tool_failed', `${path} is on a read-only file system`);
  if (isErrno(error, 'EACCES', 'EPERM')) return say('tool_failed', `this user may not do that to ${path}`);
  if (isErrno(error, 'EMFILE', 'ENFILE')) return say('tool_failed', 'too many files are open at once; try again later');
  return error;
}
