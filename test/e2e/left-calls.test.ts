/** A session that closes leaves calls that do not end. Once it is closed they can do nothing any more, whoever runs them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { marks } from '../support/probe-tools.ts';
import type { Asked } from '../support/rogue/left.ts';
import { type TestService, startTestService, testFolder } from '../support/worker.ts';

const QUEUE = 'left-calls';
/** No worker polls it while the session closes. */
const DEAD = 'left-calls-dead';
const STRANGERS = 'left-calls-strangers';
const SESSION = 'left-calls';
const address = inject('temporalAddress');
let folder: string;
let service: TestService;

beforeAll(async () => {
  folder = await testFolder();
  service = await startTestService({ address, taskQueue: QUEUE, folder });
});
afterAll(() => service[Symbol.asyncDispose]());

/** As anybody in the namespace can; it is listed as a call of the session. */
const startByHand = (callId: string, taskQueue: string, input: unknown): Promise<WorkflowHandle> =>
  service.countersign.temporal.workflow.start('toolCall', {
    workflowId: `call/${SESSION}/${callId}`,
    taskQueue,
    args: [input],
    searchAttributes: { CountersignSession: [SESSION] },
  });

test('a call that was left when its session closed runs nothing, reads nothing and asks nobody', async () => {
  const session = await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
  await writeFile(join(service.workspace, 'notes.md'), 'SECRET');
  const args = (mark: string) => ({ log: service.log, mark });
  const own = await startByHand('own', DEAD, { tool: 'probe_once', arguments: args('own') });
  const strange = await startByHand('strange', STRANGERS, QUEUE);
  expect(await session.close()).toMatchObject({ callsLeft: 2 });

  // The service's own workflow, whose worker comes back late.
  await using _late = await startTestService({ address, taskQueue: DEAD, folder });
  expect(await own.result()).toMatchObject({ status: 'cancelled', tries: 0 });

  // A stranger's, which goes by no message of ours.
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue: STRANGERS,
    workflowsPath: fileURLToPath(new URL('../support/rogue/left.ts', import.meta.url)),
  });
  const asked: Asked[] = [
    { activity: 'executeTool', input: { tool: 'probe_once', arguments: args('strange') } },
    { activity: 'executeTool', input: { tool: 'probe_patient', arguments: args('strange') } },
    { activity: 'executeTool', input: { tool: 'shell', arguments: { command: 'touch made' } } },
    { activity: 'executeTool', input: { tool: 'read', arguments: { path: 'notes.md' } } },
    { activity: 'prepareCall', input: { tool: 'read', arguments: { path: 'notes.md' }, attempt: 1 } },
    { activity: 'prepareCall', input: { tool: 'probe_elevated', arguments: args('strange'), attempt: 1 } },
    { activity: 'executeTool', input: { tool: 'probe_once', arguments: args('strange'), recover: true } },
  ];
  const results = await worker.runUntil(async () => {
    for (const one of asked) await strange.signal('ask', one);
    await expect.poll(() => strange.query<unknown[]>('results'), { timeout: 20_000 }).toHaveLength(asked.length);
    const all = await strange.query<{ status?: string; verdict?: string; error: { code: string } }[]>('results');
    await strange.terminate();
    return all;
  });
  await connection.close();
  expect(results.map(({ status, verdict, error }) => [status ?? verdict, error.code])).toEqual([
    ['denied', 'session_closed'],
    ['denied', 'session_closed'],
    ['denied', 'session_closed'],
    ['denied', 'session_closed'],
    ['deny', 'session_closed'],
    ['deny', 'session_closed'],
    ['unknown', 'outcome_unknown'],
  ]);
  expect(await marks(service.log, 'begin own')).toBe(0);
  expect(await marks(service.log, 'begin strange')).toBe(0);
  expect(JSON.stringify(results)).not.toContain('SECRET');
  await expect(service.countersign.openSession({ id: SESSION, workspace: service.workspace })).rejects.toMatchObject({
    code: 'session_closed',
  });
}, 90_000);
