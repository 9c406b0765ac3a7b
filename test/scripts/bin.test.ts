import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, run } from '../support/processes.ts';

// `countersign` with a main program that says which one it is.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-bin-'));
  for (const kind of ['clone', 'published']) {
    await mkdir(join(folder, kind, 'dist/cli'), { recursive: true });
    await cp(join(ROOT, 'bin'), join(folder, kind, 'bin'), { recursive: true });
    await writeFile(join(folder, kind, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, kind, 'dist/cli/main.js'), `console.log('built', ...process.argv.slice(2));`);
  }
  await mkdir(join(folder, 'clone/src/cli'), { recursive: true });
  await writeFile(join(folder, 'clone/src/cli/main.ts'), `console.log('source' as string, ...process.argv.slice(2));`);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'clone/node_modules'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An older Node, as far as the program can see. */
const OLD_NODE = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.0.0'})`;

describe('the countersign command', () => {
  test.each([
    ['clone', [], 'source tools --json'],
    ['clone', ['--import', OLD_NODE], 'source tools --json'],
    ['published', [], 'built tools --json'],
  ])('in a %s, Node with %j, runs: %s', async (kind, flags, output) => {
    const bin = join(folder, kind, 'bin/countersign.mjs');
    await using program = run(process.execPath, [...flags, bin, 'tools', '--json']);
    expect(await program.ended).toBe(0);
    expect(program.output().trim()).toBe(output);
  });

  test.skipIf(process.platform === 'win32')('starts a service with a young heap that stays small', async () => {
    const bin = join(folder, 'published/bin/countersign.mjs');
    const told = `console.log(process.pid, process.env.MALLOC_ARENA_MAX, ...process.execArgv, ...process.argv.slice(2));`;
    await writeFile(join(folder, 'published/dist/cli/main.js'), told);
    await using program = run(process.execPath, [bin, 'start', '--json']);
    expect(await program.ended).toBe(0);
    // Under the process id that it was started with.
    expect(program.output().trim()).toBe(`${program.pid} 2 --max-semi-space-size=16 start --json`);
    await using own = run(process.execPath, ['--max-semi-space-size=32', bin, 'start'], {
      env: { ...process.env, MALLOC_ARENA_MAX: '4' },
    });
    expect(await own.ended).toBe(0);
    expect(own.output().trim()).toBe(`${own.pid} 4 --max-semi-space-size=32 start`);
  });

  test('says which Node it needs, where there is none', async () => {
    await using program = run(process.execPath, ['--import', OLD_NODE, join(folder, 'published/bin/countersign.mjs')]);
    expect(await program.ended).toBe(70);
    expect(program.output()).toContain('needs Node 24 or later');
  });
});
