/** Every recorded path still replays: no workflow change breaks a call that waits. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { readHistory } from './history-file.ts';
import { workflowBundle } from '../../src/server/workflow-bundle.ts';

const folder = join(import.meta.dirname, 'histories');
const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();

let bundle: Awaited<ReturnType<typeof workflowBundle>>;
beforeAll(async () => {
  bundle = await workflowBundle();
});

test('every path is recorded', () => {
  expect(files.map((name) => name.replace('.json', '')).toSorted()).toEqual([
    'call.leaf.closing',
    'call.leaf.deep',
    'call.lost.unknown',
    'call.main.amended',
    'call.main.approved',
    'call.main.approved-by-two',
    'call.main.approved-edited',
    'call.main.backoff',
    'call.main.cancelled-running',
    'call.main.cancelled-waiting',
    'call.main.denied-by-person',
    'call.main.denied-by-policy',
    'call.main.expired',
    'call.main.failed',
    'call.main.granted',
    'call.main.held',
    'call.main.invalid',
    'call.main.quick-read',
    'call.main.released-by-grant',
    'call.main.timed-out',
    'call.main.unknown-tool',
    'call.main.write',
    'session.leaf',
    'session.main',
    'session.parent',
  ]);
});

test.each(files)('%s', async (file) => {
  const history = readHistory(await readFile(join(folder, file), 'utf8'));
  const workflowId = file.replace('.json', '').replace('.', '/').replace('.', '/');
  await Worker.runReplayHistory({ workflowBundle: bundle }, history, workflowId);
});

test('a history that the workflow would not write is refused', async () => {
  const text = await readFile(join(folder, 'call.main.write.json'), 'utf8');
  const history = readHistory(text.replaceAll('"executeTool"', '"somethingElse"'));
  await expect(Worker.runReplayHistory({ workflowBundle: bundle }, history, 'call/main/write')).rejects.toThrow(
    /nondeterminism|determinism/i,
  );
});
