import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editText, editorCommand, editorText } from '../../../src/cli/inbox/edit.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-editor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function editor(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

describe('what the editor gets', () => {
  it('is the same value, with nothing hidden in it and nothing that editors obey', () => {
    const args = {
      path: 'a\u202eb',
      text: '# vim: set foldexpr=system("x"):\n# -*- mode: sh; eval: (x) -*-\n# Local Variables:\n/* ex:set x: */ vim700: index: 1',
    };
    const text = editorText(args);
    expect(JSON.parse(text)).toEqual(args);
    expect(text).toBe(
      '{\n  "path": "a\\u202eb",\n  "text": "# vim\\u003a set foldexpr=system(\\"x\\"):\\n# -\\u002a- mode: sh; eval: (x) -\\u002a-\\n# Local Variables\\u003a\\n/* ex\\u003aset x: */ vim700\\u003a index: 1"\n}\n',
    );
  });
});

describe('the editor', () => {
  it('gets a file that only its user can read, which is gone afterwards', async () => {
    const command = await editor(
      'keep',
      `printf '%s ' "$@" > ${folder}/seen; stat -c %a "$2" > ${folder}/mode; stat -c %a "$(dirname "$2")" >> ${folder}/mode; echo changed > "$2"`,
    );
    expect(await editText('before', `${command} --wait`)).toBe('changed\n');
    const [option = '', file = ''] = (await readFile(join(folder, 'seen'), 'utf8')).split(' ');
    expect([option, await readFile(join(folder, 'mode'), 'utf8')]).toEqual(['--wait', '600\n700\n']);
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('is said to have failed where it did', async () => {
    const command = await editor('fails', `echo "$1" > ${folder}/where; exit 3`);
    await expect(editText('x', command)).rejects.toMatchObject({
      code: 'invalid_usage',
      message: `the editor (${command}) ended with status 3; set EDITOR to one that you have.`,
    });
    expect(existsSync((await readFile(join(folder, 'where'), 'utf8')).trim())).toBe(false);
    await expect(editText('x', '/nowhere/ed')).rejects.toMatchObject({
      message: expect.stringContaining('status 127') as string,
    });
  });

  it.each([
    [{ VISUAL: 'code --wait', EDITOR: 'ed' }, 'code --wait'],
    [{ VISUAL: '', EDITOR: 'ed' }, 'ed'],
    [{}, 'vi'],
  ])('of %j is %s', (env, command) => {
    expect(editorCommand(env)).toBe(command);
  });
});
