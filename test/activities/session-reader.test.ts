import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createSessionReader } from '../../src/activities/session-reader.ts';
import { type TestService, startTestService } from '../support/worker.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: 'session-reader' });
});
afterAll(() => service[Symbol.asyncDispose]());

/** The service's client, which counts how often the server is asked. */
function counting(): { client: Client; asked: () => number } {
  const { workflowService, options } = service.worker.client;
  let asked = 0;
  const describeWorkflowExecution = (request: object) => {
    asked += 1;
    return workflowService.describeWorkflowExecution(request);
  };
  const client = { workflowService: { describeWorkflowExecution }, options } as unknown as Client;
  return { client, asked: () => asked };
}

it('asks the server once for what is wanted at the same moment, and anew for what is wanted fresh later', async () => {
  const { id } = await service.countersign.openSession({ workspace: service.workspace });
  const { client, asked } = counting();
  const reader = createSessionReader(client, async () => undefined);
  await Promise.all(Array.from({ length: 20 }, (_, i) => reader.read(id, { fresh: i % 2 === 0 })));
  expect(asked()).toBe(1);
  await sleep(150);
  await reader.read(id, { fresh: false });
  expect(asked()).toBe(1);
  await reader.read(id, { fresh: true });
  expect(asked()).toBe(2);
});

it('knows a moment later that a session closes', async () => {
  const session = await service.countersign.openSession({ workspace: service.workspace });
  const reader = createSessionReader(service.worker.client, async () => undefined);
  expect((await reader.read(session.id, { fresh: true })).state).toBe('open');
  const closed = session.close();
  await expect.poll(async () => (await reader.read(session.id, { fresh: true })).state).not.toBe('open');
  await closed;
});

it('does not keep an answer that was an error', async () => {
  const { client, asked } = counting();
  const reader = createSessionReader(client, async () => undefined);
  await expect(reader.read('nobody', { fresh: true })).rejects.toMatchObject({ code: 'session_not_found' });
  await expect(reader.read('nobody', { fresh: true })).rejects.toMatchObject({ code: 'session_not_found' });
  expect(asked()).toBe(2);
});
