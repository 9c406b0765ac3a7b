/**
 * Private copies of the scripts that an approved command names. The command runs them from there, by paths of their own: a file bound
 * over the original's place is not enough, because renaming another file over it, from outside of the sandbox, takes the bind away.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isErrno } from '../../common/errno.ts';
import type { CommandBinding, ScriptFile } from './bind-command.ts';

/** Where the sandbox shows copies. */
const INSIDE = '/run/countersign';

export interface SealedCommand extends AsyncDisposable {
  /** The command to run in place of the one that was approved. */
  command: string;
  /** Copies to show in the sandbox; empty for a command that runs outside of it. */
  files: { path: string; inside: string }[];
}

/** Longer than any command runs. */
const LEFT_BEHIND_MS = 24 * 60 * 60_000;

/** Copies under `<stateDir>/sealed`, which no session reaches; gone when disposed of. */
export async function sealCommand(stateDir: string, binding: CommandBinding): Promise<SealedCommand> {
  const all = join(stateDir, 'sealed');
  const folder = join(all, randomBytes(12).toString('hex'));
  if (binding.sealable.length > 0) await sweep(all);
  const files: { path: string; inside: string }[] = [];
  const pathOf = new Map<ScriptFile, string>();
  for (const [index, script] of binding.sealable.entries()) {
    const name = basename(script.path);
    const path = join(folder, String(index), name);
    await mkdir(join(folder, String(index)), { recursive: true, mode: 0o700 });
    await writeFile(path, script.bytes, { flag: 'wx', mode: script.executable ? 0o500 : 0o400 });
    const inside = `${INSIDE}/${index}/${name}`;
    pathOf.set(script, binding.inside ? inside : path);
    if (binding.inside) files.push({ path, inside });
  }
  return {
    command: binding.command((script) => pathOf.get(script) ?? script.path),
    files,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Takes away what workers that were killed left behind. */
async function sweep(all: string): Promise<void> {
  try {
    for (const name of await readdir(all)) {
      const { mtimeMs } = await stat(join(all, name));
      if (mtimeMs < Date.now() - LEFT_BEHIND_MS) await rm(join(all, name), { recursive: true, force: true });
    }
  } catch (error) {
    // None yet, or another worker was quicker.
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}
