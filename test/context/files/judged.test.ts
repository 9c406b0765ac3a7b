import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resolveSubjects } from '../../../src/context/files/subjects.ts';
import type { JsonObject } from '../../../src/protocol/json.ts';
import { createCatalogue } from '../../../src/tools/catalogue.ts';
import { codeOf, contextOf, factsOf, run, scratch } from '../support.ts';

const CALLS: readonly (readonly [tool: string, args: JsonObject])[] = [
  ['read', { path: 'x/tasks.json' }],
  ['list', { path: 'x' }],
  ['stat', { path: 'x/tasks.json' }],
  ['search', { pattern: 'kept', path: 'x' }],
  ['write', { path: 'x/tasks.json', content: 'evil' }],
  ['write', { path: 'x/new/tasks.json', content: 'evil' }],
  ['edit', { path: 'x/tasks.json', oldText: 'kept', newText: 'evil' }],
  ['delete', { path: 'x/tasks.json' }],
  ['shell', { command: 'rm tasks.json', cwd: 'x' }],
  ['shell', { command: 'rm tasks.json', cwd: 'x', sandbox: false, reason: 'test' }],
];

it.each(CALLS)('%s %j works where it was judged, and nowhere else', async (tool, args) => {
  const folders = scratch();
  const { workspace } = folders;
  const fill = (): void => {
    for (const folder of ['x', '.idea']) {
      mkdirSync(join(workspace, folder));
      writeFileSync(join(workspace, folder, 'tasks.json'), 'kept');
    }
  };
  const found = createCatalogue().get(tool);
  if (found === undefined) throw new Error(`no tool ${tool}`);
  fill();
  const subjects = await resolveSubjects(found.subjects(args), factsOf(folders));
  const call = async (): Promise<unknown> =>
    codeOf(run(tool, args, await contextOf(folders, { subjects, allowElevated: true })));
  expect(await call()).toMatchObject({ value: {} });

  for (const folder of ['x', '.idea']) rmSync(join(workspace, folder), { recursive: true });
  fill();
  renameSync(join(workspace, 'x'), join(workspace, 'away'));
  symlinkSync('.idea', join(workspace, 'x'));
  expect(await call()).toBe('file_changed');
  expect(readFileSync(join(workspace, '.idea/tasks.json'), 'utf8')).toBe('kept');
  expect(existsSync(join(workspace, '.idea/new'))).toBe(false);
});
