/** What a file tells of the program that it is. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isErrno } from '../../common/errno.ts';
import { baseName } from '../../policy/shell/forms.ts';

/** `at`: where its name was found. `path`: where links lead from there, perhaps to one that runs otherwise under that name. */
export interface Program {
  at: string;
  path: string;
}

/** By its path: where packages of the system are, which only its administrator changes. A name stands for that program there, and nowhere else. */
export const isSystemProgram = (path: string): boolean =>
  /^\/(?:usr\/(?!local\/)|bin\/|sbin\/|nix\/store\/)/.test(path);

/** Of what does not exist yet: whether it can be made. */
export function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return isErrno(error, 'ENOENT') && dirname(path) !== path && canWrite(dirname(path));
  }
}

export const isFile = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
};

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

/** First lines that start a shell and nothing before it, by its path or, with `env`, by its name. */
export const SHEBANG = /^#![ \t]*(?:\/usr\/bin\/env[ \t]+([a-z]+)|(\/(?:usr\/)?bin\/[a-z]+)(?:[ \t]+-[euxv]+)?)[ \t]*$/;

/** The interpreter that a script's first line names, with that line; `sh` and '' for text without one, undefined for a binary program. */
export function shebangOf(bytes: Uint8Array): { name: string; line: string } | undefined {
  const [head = ''] = Buffer.from(bytes.subarray(0, 256)).toString('latin1').split('\n', 1);
  const words = /^#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(head);
  if (words?.[1] === undefined) return bytes.subarray(0, 256).includes(0) ? undefined : { name: 'sh', line: '' };
  const name = baseName(words[1]);
  return { name: name === 'env' ? baseName(words[2] ?? 'env') : name, line: head };
}
