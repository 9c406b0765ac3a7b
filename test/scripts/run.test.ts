import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, run, runNode } from '../support/processes.ts';

// A clone that is set up, whose `check` task is a program that says what it is given and how it is ended.
let clone: string;
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'countersign-run-'));
  for (const path of [
    'scripts/run.mjs',
    'scripts/set-up.mjs',
    'bin',
    'package-lock.json',
    'temporal-server',
    '.ci/run',
  ]) {
    await cp(join(ROOT, path), join(clone, path), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  await writeFile(
    join(clone, 'scripts', 'test.ts'),
    `const [, , ...args]: string[] = process.argv;
     console.log(JSON.stringify({ args, major: process.versions.node.split('.')[0], pid: process.pid }));
     if (args.includes('--wait')) {
       for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { console.log('got ' + signal); process.exit(7); });
       setInterval(() => {}, 1000);
       console.log('waiting');
     } else process.exit(3);`,
  );
});
afterAll(() => rm(clone, { recursive: true, force: true }));

/** Node 20 cannot exec; there the task is a child that gets the signals. */
const WITHOUT_EXEC = ['--import', 'data:text/javascript,process.execve=undefined'];

describe.each([
  ['with exec', []],
  ['without exec', WITHOUT_EXEC],
])('npm scripts, %s', (_, flags) => {
  const task = (...args: string[]) => run(process.execPath, [...flags, join(clone, 'scripts/run.mjs'), ...args]);

  test('run on Node 24 with the given arguments, and end with the same status', async () => {
    await using program = task('check', 'one', '--two');
    expect(await program.ended).toBe(3);
    expect(JSON.parse(program.output())).toMatchObject({ args: ['--checks', 'one', '--two'], major: '24' });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('pass on %s and wait for the end', async (signal) => {
    await using program = task('check', '--wait');
    await program.until(/waiting/);
    program.child.kill(signal);
    expect(await program.ended).toBe(7);
    expect(program.output().match(new RegExp(`got ${signal}`, 'g'))).toHaveLength(1);
  });

  test('refuse an unknown task', async () => {
    await using program = task('constructor');
    expect(await program.ended).toBe(2);
    expect(program.output()).toContain('usage: ');
  });
});

describe('npm test', () => {
  test('ends with the true figures', async () => {
    await using program = runNode('scripts/test.ts', ['test/scripts/compose.test.ts']);
    expect(await program.ended).toBe(0);
    const passed = /Tests\s+(\d+) passed/.exec(program.output())?.[1];
    expect(program.output().trimEnd().split('\n').at(-1)).toBe(`${passed} passed, 0 failed`);
  });

  test('fails when there is nothing to run', async () => {
    await using program = runNode('scripts/test.ts', ['test/no/such.test.ts']);
    expect(await program.ended).toBe(1);
    expect(program.output().trimEnd().split('\n').at(-1)).toBe('0 passed, 1 failed');
  });
});

describe('.ci/run', () => {
  test.each([
    ['echo "3 passed, 0 failed"', 0, '3 passed, 0 failed'],
    ['echo "3 passed, 1 failed"; exit 1', 1, '3 passed, 1 failed'],
    ['exit 1', 1, '0 passed, 1 failed'],
  ])('says how `npm test` ended: %s', async (script, status, lastLine) => {
    await writeFile(join(clone, 'package.json'), JSON.stringify({ name: 'clone', scripts: { test: script } }));
    await chmod(join(clone, '.ci/run'), 0o755);
    await mkdir(join(clone, 'elsewhere'), { recursive: true });
    await using ci = run(join(clone, '.ci/run'), [], { cwd: join(clone, 'elsewhere') });
    expect(await ci.ended).toBe(status);
    expect(ci.output().trimEnd().split('\n').at(-1)).toBe(lastLine);
  });
});
