import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, runNode } from '../support/processes.ts';

const exec = promisify(execFile);

// A backend's project with the packed tarball installed, as npm would install it from a registry.
let project: string;
let contents: string[];
let example: string;
let backend: string;
beforeAll(async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  [example = '', backend = ''] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text ?? '');
  project = await realpath(await mkdtemp(join(tmpdir(), 'countersign-package-')));
  const npm = (args: string[], cwd: string) =>
    exec('npm', [...args, '--loglevel=error'], { cwd, maxBuffer: 10_000_000 });
  const { stdout } = await npm(['pack', '--json', '--pack-destination', project], ROOT);
  const answer = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as PackAnswer[] | Record<string, PackAnswer>;
  const [packed] = Object.values(answer);
  contents = packed?.files.map(({ path }) => path) ?? [];
  await writeFile(join(project, 'package.json'), '{ "name": "backend", "type": "module" }');
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', join(project, packed?.filename ?? '')], project);
}, 180_000);
afterAll(async () => {
  for (const folder of [project, `${project}-home`]) await rm(folder, { recursive: true, force: true });
});

interface PackAnswer {
  filename: string;
  files: { path: string }[];
}

const BACKEND = `
import { Countersign, type Outcome } from 'countersign';
import { startService } from 'countersign/server';
import { defineTool } from 'countersign/tools';

const workspace = process.argv[2] ?? '';
const service = await startService({ trust: workspace, port: 0, ui: false });
const countersign = await Countersign.connect({ worker: service.worker });
const session = await countersign.openSession({ workspace });
const outcome: Outcome = await session.call('read', { path: 'hello.txt' });
console.log(JSON.stringify({ status: outcome.status, output: outcome.output, tool: typeof defineTool }));
await countersign.close();
await service.stop();
`;

describe('the published package', () => {
  test('holds JavaScript, types, the workflow bundle and what builds the server, and no sources or tests', () => {
    expect(contents).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'bin/countersign.mjs',
        'dist/client/index.js',
        'dist/client/index.d.ts',
        'dist/workflow-bundle.js',
        'temporal-server/go.mod',
        'temporal-server/go.sum',
      ]),
    );
    expect(contents.filter((path) => /^(src|test|scripts)\/|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('type-checks in a strict project, and so do the examples of the README', async () => {
    await writeFile(join(project, 'backend.ts'), BACKEND);
    await writeFile(join(project, 'readme-client.ts'), `export {};\n${example}`);
    await writeFile(join(project, 'readme-backend.ts'), backend);
    const options = ['--target', 'es2024', '--lib', 'es2024,esnext.disposable,dom', '--module', 'nodenext', '--noEmit'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const strict = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
      'false',
    ];
    const files = ['backend.ts', 'readme-client.ts', 'readme-backend.ts'];
    await using tsc = runNode(
      join(ROOT, 'node_modules/.bin/tsc'),
      ['--ignoreConfig', '--pretty', 'false', ...options, ...types, ...strict, ...files],
      { cwd: project },
    );
    await tsc.ended;
    // Temporal's own declarations have errors under these options; ours and the user's have none.
    const ours = tsc.output().match(/^(backend|readme-|node_modules\/countersign\/).*$/gm);
    expect(ours).toBeNull();
    expect(tsc.output()).not.toMatch(/^error/m);
  });

  test('runs a call in a backend that embeds the worker', async () => {
    const workspace = join(project, 'workspace');
    await mkdir(workspace);
    await writeFile(join(workspace, 'hello.txt'), 'hello\n');
    await writeFile(join(project, 'backend.ts'), BACKEND);
    await using program = runNode('backend.ts', [workspace], {
      cwd: project,
      env: { ...process.env, COUNTERSIGN_HOME: join(project, 'home') },
    });
    const [line] = await program.until(/^\{.*\}$/m);
    expect(JSON.parse(line)).toMatchObject({ status: 'completed', tool: 'function' });
    expect(await program.ended).toBe(0);
  });

  test('runs the backend of the README, which ends by itself', async () => {
    await writeFile(join(project, 'readme-backend.ts'), backend);
    await using program = runNode('readme-backend.ts', [], {
      cwd: project,
      env: { ...process.env, COUNTERSIGN_HOME: `${project}-home` },
    });
    expect([await program.ended, program.output()]).toEqual([
      0,
      expect.stringMatching(/^\.: \d+ entries\n(.*\n)* {2}readme-backend\.ts \(/m) as string,
    ]);
  });
});
