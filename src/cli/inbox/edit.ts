/** Text in the person's own editor. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { safeJson } from '../../approval/render/safe-text.ts';
import { CountersignError } from '../../protocol/errors.ts';
import type { JsonObject } from '../../protocol/json.ts';

/**
 * Arguments as they go into the editor: the same JSON value, with everything hidden written as `\u…`, and with what editors obey
 * in the files that they open (mode lines, local variables) taken apart.
 */
export const editorText = (args: JsonObject): string =>
  `${safeJson(args, 2)
    .replace(/\b(vim?|ex)([<=>]?\d*):/gi, '$1$2\\u003a')
    .replace(/(Local Variables|kate):/gi, '$1\\u003a')
    .replaceAll('-*-', '-\\u002a-')}\n`;

/** As git does it: the variable may hold a program with its arguments. */
export const editorCommand = (env: NodeJS.ProcessEnv = process.env): string => env['VISUAL'] || env['EDITOR'] || 'vi';

/**
 * What the person made of the text. It lies in a file of mode 0600 in a folder of its own, which is gone afterwards.
 * Throws `invalid_usage` when the editor can't be run or ends with an error.
 */
export async function editText(text: string, command = editorCommand()): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-edit-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  try {
    const file = join(folder, 'arguments.json');
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    await runEditor(command, file);
    return readFileSync(file, 'utf8');
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function runEditor(command: string, file: string): Promise<void> {
  // Ctrl-C is for the editor now; without a listener of ours it would end this program, too.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const editor = spawn('/bin/sh', ['-c', `${command} "$@"`, command, file], { stdio: 'inherit' });
  return new Promise<void>((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new CountersignError('invalid_usage', `the editor (${command}) ${why}; set EDITOR to one that you have.`));
    editor.once('error', (error) => failed(`cannot be run: ${error.message}`));
    editor.once('close', (code, signal) =>
      code === 0 ? resolve() : failed(`ended with ${signal ?? `status ${code}`}`),
    );
  }).finally(() => process.off('SIGINT', ignore));
}
