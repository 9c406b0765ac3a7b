import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isCountersignError } from '../../../src/protocol/errors.ts';
import { bytes, contextOf, scratch, text } from '../support.ts';

/**
 * Two traps, set and taken away as fast as a process can: `swap` is a link that leads inside or outside by turns (there is always one: rename over rename), and
 * `folder` is a real folder that is moved away for a link to the outside and comes back. In both stands `f`, a file or a link to the secret.
 */
const SWAPPER = `
const { renameSync, symlinkSync } = require('node:fs');
const [workspace, outside] = process.argv.slice(1);
process.chdir(workspace);
let swaps = 0;
process.on('SIGTERM', () => { console.log(swaps); process.exit(0); });
const link = (target, path) => { symlinkSync(target, path + '.tmp'); renameSync(path + '.tmp', path); };
function round() {
  for (let i = 0; i < 20; i += 1) {
    link(outside, 'swap');
    renameSync('folder', 'away');
    symlinkSync(outside, 'folder');
    link('inside', 'swap');
    renameSync('folder', 'gone');
    renameSync('away', 'folder');
    link(outside + '/secret.txt', 'inside/g');
    link('f', 'inside/g');
    swaps += 4;
  }
  setImmediate(round);
}
console.log('ready');
round();
`;

it('neither reads nor writes nor lists nor deletes outside, whatever is swapped meanwhile', async () => {
  const folders = scratch();
  const { workspace, outside } = folders;
  writeFileSync(join(outside, 'only-outside'), 'SECRET');
  for (const name of ['inside', 'folder']) {
    mkdirSync(join(workspace, name));
    writeFileSync(join(workspace, name, 'f'), 'inside');
  }
  symlinkSync('inside', join(workspace, 'swap'));
  symlinkSync(outside, join(workspace, 'always'));
  const { files, writer } = await contextOf(folders);
  if (files === undefined || writer === undefined) throw new Error('no handles');

  const swapper = spawn(process.execPath, ['-e', SWAPPER, workspace, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  swapper.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(swapper.stdout, 'data');

  const found = { inside: 0, refused: 0, leaked: 0, odd: [] as string[] };
  const attempt = async (work: () => Promise<string>): Promise<void> => {
    try {
      if ((await work()).includes('SECRET')) found.leaked += 1;
      else found.inside += 1;
    } catch (error) {
      if (isCountersignError(error)) found.refused += 1;
      else found.odd.push(String(error));
    }
  };
  const end = Date.now() + 4_000;
  let rounds = 0;
  while (Date.now() < end) {
    rounds += 1;
    await attempt(async () => text((await files.read('swap/f')).bytes));
    await attempt(async () => text((await files.read('inside/g')).bytes));
    await attempt(async () => text((await files.read('swap/only-outside')).bytes));
    await attempt(async () => text((await files.read('folder/f')).bytes));
    await attempt(async () => text((await files.read('folder/only-outside')).bytes));
    for (const name of ['swap', 'folder']) {
      await attempt(async () =>
        (await files.list(name)).entries.some((entry) => entry.name === 'only-outside') ? 'SECRET' : 'none',
      );
      if (rounds % 4 === 2) await attempt(async () => (await writer.remove(`${name}/only-outside`)).path);
    }
    if (rounds % 4 === 0) await attempt(async () => (await writer.write('swap/new/w', bytes('written'))).path);
    if (rounds % 4 === 1) await attempt(async () => (await writer.write('swap/secret.txt', bytes('inside'))).path);
    if (rounds % 8 === 3) await attempt(async () => (await writer.remove('swap/new', { recursive: true })).path);
  }
  swapper.kill('SIGTERM');
  await once(swapper, 'exit');
  const swaps = Number(printed.trim().split('\n').at(-1));
  console.log(
    `symlink race: ${rounds} rounds, ${swaps} swaps, ${found.inside} inside, ${found.refused} refused, ${found.leaked} leaked`,
  );

  expect(found.leaked).toBe(0);
  expect(found.odd).toEqual([]);
  // The race was really run: both outcomes happened.
  expect(found.inside).toBeGreaterThan(100);
  expect(found.refused).toBeGreaterThan(100);
  expect(swaps).toBeGreaterThan(2_000);
  expect(readdirSync(outside)).toEqual(['only-outside', 'secret.txt']);
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
  expect(existsSync(join(outside, 'new'))).toBe(false);
}, 60_000);

it.each([
  ['in the sandbox', {}],
  ['without one', { sandbox: { bubblewrap: '/bin/false' } }],
])('finds nothing outside, %s', async (_name, options) => {
  const folders = scratch();
  const { workspace, outside } = folders;
  for (const name of ['inside', 'folder']) {
    mkdirSync(join(workspace, name));
    writeFileSync(join(workspace, name, 'f'), 'inside');
  }
  symlinkSync('inside', join(workspace, 'swap'));
  const { searcher } = await contextOf(folders, options);
  const swapper = spawn(process.execPath, ['-e', SWAPPER, workspace, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(swapper.stdout, 'data');
  const found = new Set<string>();
  const end = Date.now() + 1_500;
  while (Date.now() < end) {
    for (const path of ['.', 'folder', 'swap']) {
      const result = await searcher
        ?.search({ pattern: 'SECRET|inside', path, maxMatches: 50 })
        .catch((error: unknown) => {
          if (!isCountersignError(error)) throw error;
          return undefined;
        });
      for (const match of result?.matches ?? []) found.add(match.text);
    }
  }
  swapper.kill('SIGTERM');
  await once(swapper, 'exit');
  expect([...found]).toEqual(['inside']);
});
