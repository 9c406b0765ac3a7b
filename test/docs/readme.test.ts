/** The examples in README and ARCHITECTURE type-check; the first runs against a service and prints what the README says. */
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, type RunningProgram, runNode } from '../support/processes.ts';

let folder: string;
let example: string;
let printed: string;
let tool: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-readme-')));
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const architecture = await readFile(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  tool = /```ts\n(.*?)```/s.exec(architecture)?.[1] ?? '';
  [, example = '', printed = ''] = /```ts\n(.*?)```.*?```text\n(.*?)```/s.exec(readme) ?? [];
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const client = JSON.stringify(join(ROOT, 'src/client/index.ts'));

test('the first is short, and both type-check', { timeout: 120_000 }, async () => {
  expect(example.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
  await writeFile(join(folder, 'example.ts'), example);
  expect(tool).toContain('defineTool({');
  await writeFile(join(folder, 'tool.ts'), tool.replaceAll("'./", `'${join(ROOT, 'src/tools')}/`));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const paths = { countersign: [join(ROOT, 'src/client/index.ts')] };
  const options = { paths, rewriteRelativeImportExtensions: false };
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions: options, include: ['example.ts', 'tool.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await using tsc = runNode('node_modules/.bin/tsc', ['--project', folder, '--pretty', 'false']);
  expect([await tsc.ended, tsc.output()]).toEqual([0, '']);
});

test('the first prints what the README says', { timeout: 180_000 }, async () => {
  const workspace = join(folder, 'website');
  await mkdir(workspace);
  await writeFile(join(workspace, 'notes.md'), '# Notes\nShip on Monday.\n');
  await writeFile(join(folder, 'run.ts'), example.replace("'countersign'", client));
  const own = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|COUNTERSIGN)_/.test(name));
  const env = { ...Object.fromEntries(own), COUNTERSIGN_HOME: join(folder, 'home') };
  const start = ['start', '--port', '0', '--no-ui', '--json'];
  await using service: RunningProgram = runNode(join(ROOT, 'src/cli/main.ts'), start, { cwd: workspace, env });
  await service.until(/"address"/, 120_000);
  await using backend = runNode(join(folder, 'run.ts'), [], { cwd: workspace, env });
  expect([await backend.ended, backend.output()]).toEqual([0, printed]);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});
