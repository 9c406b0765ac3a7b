/**
 * Private copies of the scripts that an approved command names. The command runs them from there, by paths of their own: a file bound
 * over the original's place is not enough, because renaming another file over it, from outside of the sandbox, takes the bind away.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CommandBinding, ScriptFile } from './bind-command.ts';

/** Where the sandbox shows copies. */
const INSIDE = '/run/countersign';

export interface SealedCommand extends AsyncDisposable {
  /** The command to run in place of the one that was approved. */
  command: string;
  /** Copies to show in the sandbox; empty for a command that runs outside of it. */
  files: { path: string; inside: string }[];
}

/** Copies under `<stateDir>/sealed`, which no session reaches; gone when disposed of. */
export async function sealCommand(stateDir: string, binding: CommandBinding): Promise<SealedCommand> {
  const folder = join(stateDir, 'sealed', randomBytes(12).toString('hex'));
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
