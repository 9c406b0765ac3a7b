/** The workflows' border, proved on the bundle itself: its source map names every module that went in. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { workflowBundle } from '../../src/server/workflow-bundle.ts';

let sources: string[];
let bytes: number;

beforeAll(async () => {
  const { codePath } = await workflowBundle();
  const code = await readFile(codePath, 'utf8');
  const map = /sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)\s*$/.exec(code)?.[1] ?? '';
  sources = (JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] }).sources;
  bytes = Buffer.byteLength(code) - map.length;
});

/** The package or folder of ours that a module is of. */
function placeOf(source: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/|]+)/.exec(source)?.[1];
  return inPackage ?? /\/(src\/\w+)\/[^/]+\.(?:ts|cjs)$/.exec(source)?.[1] ?? source;
}

test('holds our workflows and protocol, and what Temporal brings', () => {
  const places = new Set(sources.map(placeOf).filter((place) => !place.startsWith('webpack/')));
  expect([...places].toSorted()).toEqual([
    '@temporalio/common',
    '@temporalio/workflow',
    'long',
    'ms',
    'nexus-rpc',
    'src/protocol',
    'src/workflows',
  ]);
});

test('stays small: each worker evaluates it when it starts', () => {
  expect(bytes).toBeLessThan(1_200_000);
});
