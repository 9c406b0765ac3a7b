/**
 * The workflows' modules are evaluated once for a worker and shared by all workflows in it (workflow-bundle.ts), so what
 * one of them kept in a module, another would see.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/processes.ts';

const folders = ['src/workflows', 'src/protocol'];
const files = (
  await Promise.all(
    folders.map(async (folder) => (await readdir(join(ROOT, folder))).map((name) => join(folder, name))),
  )
).flat();

/** Declarations at the top level that can hold something: variables, collections that are not read-only, expressions that remember where they were. */
const KEEPS =
  /^(?:export )?(?:let|var) |^(?:export )?const (?!\w+: Readonly)[^=]+= (?:new (?:Weak)?(?:Map|Set)\b|\[\];|\{\};|\/.*\/[a-z]*[gy][a-z]*;)/m;

test.each(files)('%s keeps nothing between workflows', async (file) => {
  expect((await readFile(join(ROOT, file), 'utf8')).match(KEEPS)?.[0]).toBeUndefined();
});

test.each([
  'let count = 0;',
  'export var x;',
  'const seen = new Map<string, number>();',
  'const found: string[] = [];',
  'const WORD = /a+/g;',
])('would notice %s', (line) => {
  expect(KEEPS.test(`// first\n${line}\n`)).toBe(true);
});
