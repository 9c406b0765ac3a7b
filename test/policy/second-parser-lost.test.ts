import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type * as SecondParser from '../../src/policy/shell/second-parser.ts';

const FILES = ['second-parser.ts', 'mvdan-thread.ts', 'mvdan.ts'];
let folder: string;
let parser: typeof SecondParser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-parser-'));
  const source = join(import.meta.dirname, '../../src/policy/shell');
  for (const file of FILES) await copyFile(join(source, file), join(folder, file));
  // Where they lie now there is no package sh-syntax.
  parser = (await import(join(folder, 'second-parser.ts'))) as typeof SecondParser;
});
afterAll(() => rm(folder, { recursive: true }));

it('that cannot be loaded has no opinion, and says so once', () => {
  let said = 0;
  parser.startSecondParser(() => (said += 1));
  expect(parser.hasSecondParser()).toBe(false);
  expect(parser.secondReading('echo a')).toBeUndefined();
  parser.startSecondParser(() => (said += 1));
  expect(said).toBe(1);
});
