/** A command that would write the rules that it is judged by. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalWorkspace } from '../../../src/context/index.ts';
import { bytes, codeOf, contextOf, eventually, scratch, text, type Scratch } from '../support.ts';

const NAME = 'countersign.config.jsonc';

async function shellOf(folders: Scratch, protectedPaths: string[] = []) {
  const { shell } = await contextOf(folders, { protectedPaths });
  if (shell === undefined) throw new Error('no shell');
  return async (command: string) => text((await shell.run({ command, timeoutMs: 10_000 })).stdout);
}

it('a configuration cannot be planted at the top of a workspace, not even while the command runs', async () => {
  const folders = scratch();
  const { workspace } = folders;
  const seen: string[] = [];
  const looking = setInterval(() => {
    try {
      seen.push(readFileSync(join(workspace, NAME), 'utf8'));
    } catch {
      // Nothing to read, as it should be.
    }
  }, 5);
  const run = await shellOf(folders);
  const ways = `echo '{}' > ${NAME}; rmdir ${NAME}; mv ${NAME} away; rm -rf ${NAME}; echo '{}' > new; mv -fT new ${NAME}; ln -sfn new ${NAME}; cp new ${NAME}; ln -f new ${NAME}/x; sleep 0.3; ls`;
  expect(await run(ways)).toBe(`${NAME}\nnew\n`);
  clearInterval(looking);
  expect(seen).toEqual([]);
  expect(readdirSync(workspace)).toEqual(['new']);
});

it('the place stays shut for the longer of two commands, and the workspace fit for sessions', async () => {
  const folders = scratch();
  const { base, workspace } = folders;
  const own = [folders.stateDir, join(workspace, NAME)];
  const run = await shellOf(folders, own);
  const long = run(
    `touch began; while [ ! -e go ]; do sleep 0.02; done; echo '{}' > ${NAME}; rmdir ${NAME}; ls -A ${NAME}`,
  );
  expect(await eventually(() => existsSync(join(workspace, 'began')))).toBe(true);
  expect(await run('echo short')).toBe('short\n');
  expect(await canonicalWorkspace(workspace, [base], own)).toBe(workspace);
  writeFileSync(join(workspace, 'go'), '');
  expect(await long).toBe('');
  expect(readdirSync(workspace).toSorted()).toEqual(['began', 'go']);
});

it('a copy of the tree and git take nothing along from the place', async () => {
  const folders = scratch();
  mkdirSync(join(folders.workspace, '.git'));
  writeFileSync(join(folders.workspace, 'a'), 'a');
  const run = await shellOf(folders);
  expect(await run('cp -r . /tmp/copy && tar cf /tmp/t . && git init -q x && cp a x && echo fine')).toBe('fine\n');
});

it('what a killed worker left goes with the next command, and what a person put there stays', async () => {
  const folders = scratch();
  mkdirSync(join(folders.workspace, NAME));
  const run = await shellOf(folders);
  expect(await run(`echo '{}' > ${NAME}/x; ls -A ${NAME}`)).toBe('');
  expect(readdirSync(folders.workspace)).toEqual([]);
  writeFileSync(join(folders.workspace, NAME), '{"deny": ["web"]}');
  expect(await run(`cat ${NAME}; echo '{}' > ${NAME}; rm -f ${NAME}`)).toBe('');
  expect(readFileSync(join(folders.workspace, NAME), 'utf8')).toBe('{"deny": ["web"]}');
});

it('where our configuration is a link in the workspace, no command runs that could replace it', async () => {
  const folders = scratch();
  writeFileSync(join(folders.workspace, 'real.jsonc'), '{}');
  symlinkSync('real.jsonc', join(folders.workspace, NAME));
  const run = await shellOf(folders);
  expect(await codeOf(run('true'))).toBe('protected_path');
});

it('the file tools refuse the name in any workspace, there or not', async () => {
  const folders = scratch();
  const { writer } = await contextOf(folders);
  const write = () => codeOf(writer?.write(NAME, bytes('{}')) ?? Promise.resolve());
  expect(await write()).toBe('protected_path');
  writeFileSync(join(folders.workspace, NAME), '{}');
  expect(await write()).toBe('protected_path');
});
