import { utimesSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { claimTry, readClaim } from '../../src/context/state/claims.ts';
import { sweepKnown } from '../../src/server/sweep-known.ts';
import { filesIn, scratch } from '../context/support.ts';
import { SEARCH_ATTRIBUTE } from '../../src/protocol/names.ts';
import { inspectNamespace, isComplete, setupNamespace } from '../../src/server/setup.ts';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(() => connection.close());

const register = (namespace: string, days: number): Promise<unknown> =>
  connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: (days * 86_400) as never },
  });

test('a bare namespace gets its search attributes and its retention, once', async () => {
  await register('bare', 1);
  await expect.poll(async () => (await inspectNamespace(connection, 'bare')).exists, { timeout: 10_000 }).toBe(true);
  expect(await inspectNamespace(connection, 'bare')).toEqual({
    exists: true,
    retentionDays: 1,
    missingAttributes: [
      'CountersignSession',
      'CountersignAgent',
      'CountersignTool',
      'CountersignState',
      'CountersignCode',
    ],
    wrongType: [],
  });

  expect(await setupNamespace(connection, 'bare')).toEqual({
    created: [
      'retention 30 days',
      'search attribute CountersignSession',
      'search attribute CountersignAgent',
      'search attribute CountersignTool',
      'search attribute CountersignState',
      'search attribute CountersignCode',
    ],
    commands: [],
  });
  await expect.poll(async () => isComplete(await inspectNamespace(connection, 'bare')), { timeout: 10_000 }).toBe(true);
  expect(await setupNamespace(connection, 'bare')).toEqual({ created: [], commands: [] });
});

test('a namespace that does not exist is made', async () => {
  expect((await inspectNamespace(connection, 'absent')).exists).toBe(false);
  const { created, commands } = await setupNamespace(connection, 'absent');
  expect({ first: created[0], changes: created.length, commands }).toEqual({
    first: 'namespace absent, retention 30 days',
    changes: 6,
    commands: [],
  });
  expect(isComplete(await inspectNamespace(connection, 'absent'))).toBe(true);
});

test('workflows can have the search attributes as soon as they are there', async () => {
  await setupNamespace(connection, 'soon');
  const { workflow } = new Client({ connection, namespace: 'soon' });
  const searchAttributes = Object.fromEntries(Object.values(SEARCH_ATTRIBUTE).map((name) => [name, ['a']]));
  const started = await workflow.start('any', { workflowId: 'soon', taskQueue: 'nobody', searchAttributes });
  expect((await started.describe()).searchAttributes).toMatchObject(searchAttributes);
});

test('a longer retention is left as it is', async () => {
  await register('long', 90);
  await expect.poll(async () => (await inspectNamespace(connection, 'long')).exists, { timeout: 10_000 }).toBe(true);
  await setupNamespace(connection, 'long');
  expect((await inspectNamespace(connection, 'long')).retentionDays).toBe(90);
});

test('claims are kept for twice the retention that the namespace has, and all where there is none to ask', async () => {
  await register('swept', 90);
  await expect.poll(async () => (await inspectNamespace(connection, 'swept')).exists, { timeout: 10_000 }).toBe(true);
  const { stateDir } = scratch();
  const claimedDaysAgo = async (callId: string, days: number): Promise<void> => {
    const before = new Set(filesIn(stateDir));
    await claimTry(stateDir, { session: 's', callId, content: 'sha256:1', runId: 'r' });
    const then = Date.now() / 1_000 - days * 86_400;
    for (const file of filesIn(stateDir)) if (!before.has(file)) utimesSync(file, then, then);
  };
  await claimedDaysAgo('young', 170);
  await claimedDaysAgo('old', 190);
  expect(await sweepKnown(stateDir, new Client({ connection, namespace: 'nowhere' }))).toBe(0);
  expect(await sweepKnown(stateDir, new Client({ connection, namespace: 'swept' }))).toBe(1);
  expect(await readClaim(stateDir, { session: 's', callId: 'young' })).toMatchObject({ runId: 'r' });
});

test("where changes are not allowed, the operator's commands come back", async () => {
  await register('forbidden', 1);
  await expect
    .poll(async () => (await inspectNamespace(connection, 'forbidden')).exists, { timeout: 10_000 })
    .toBe(true);
  const refuse = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('no'), { code: 7, details: '', metadata: {} }));
  const limited = {
    ...connection,
    workflowService: {
      describeNamespace: connection.workflowService.describeNamespace.bind(connection.workflowService),
      updateNamespace: refuse,
    },
    operatorService: { listSearchAttributes: refuse, addSearchAttributes: refuse },
  } as unknown as Connection;
  expect(await setupNamespace(limited, 'forbidden', 'acme.tmprl.cloud:7233')).toEqual({
    created: [],
    commands: [
      'tcld namespace retention set --namespace forbidden --retention-days 30',
      'tcld namespace search-attributes add --namespace forbidden --sa "CountersignSession=Keyword"',
      'tcld namespace search-attributes add --namespace forbidden --sa "CountersignAgent=Keyword"',
      'tcld namespace search-attributes add --namespace forbidden --sa "CountersignTool=Keyword"',
      'tcld namespace search-attributes add --namespace forbidden --sa "CountersignState=Keyword"',
      'tcld namespace search-attributes add --namespace forbidden --sa "CountersignCode=Keyword"',
    ],
  });
  expect((await setupNamespace(limited, 'forbidden', 'temporal.internal:7233')).commands.slice(0, 2)).toEqual([
    'temporal operator namespace update --namespace forbidden --address temporal.internal:7233 --retention 720h',
    'temporal operator search-attribute create --namespace forbidden --address temporal.internal:7233 --name CountersignSession --type Keyword',
  ]);
});
