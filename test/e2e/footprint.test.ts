/** What calls leave behind: the figures that are the same on every machine. Times are for the benchmark. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { CallHandle, SessionHandle } from '../../src/client/index.ts';
import { sandboxStatus } from '../../src/context/index.ts';
import { type TestService, startTestService } from '../support/worker.ts';

type Session = SessionHandle<Record<string, unknown>>;

const address = inject('temporalAddress');
const sandbox = await sandboxStatus();
let service: TestService;
let session: Session;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'footprint' });
  session = await service.countersign.openSession({ id: 'footprint', workspace: service.workspace });
  await writeFile(join(service.workspace, 'two-kb.txt'), 'a line of thirty-two characters\n'.repeat(64));
});
afterAll(() => service[Symbol.asyncDispose]());

const describeWorkflow = (id: string) => service.countersign.temporal.workflow.getHandle(id).describe();
const events = async (id: string): Promise<number> => (await describeWorkflow(id)).historyLength;
const historyBytes = async (id: string): Promise<number> => (await describeWorkflow(id)).historySize ?? Number.NaN;

async function completed(call: CallHandle): Promise<string> {
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
  return call.id;
}

async function approved(of: Session, mark: string): Promise<string> {
  const call = await of.start('probe_elevated', { log: service.log, mark });
  expect(await call.settled()).toMatchObject({ state: 'waiting' });
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
    answer: 'accepted',
  });
  return completed(call);
}

describe('events of one call', () => {
  test('a quick read: 6', async () => {
    expect(await events(await completed(await session.start('read', { path: 'two-kb.txt' })))).toBeLessThanOrEqual(6);
  });

  test('any other call that is allowed: 12', async () => {
    const call = await session.start('write', { path: 'new.txt', content: 'x\n' });
    expect(await events(await completed(call))).toBeLessThanOrEqual(12);
  });

  test('a call with one amendment: 30', async () => {
    const call = await session.start('write', { path: 'new.txt' });
    await call.settled();
    await call.amend({ path: 'new.txt', content: 'y\n' }, 1);
    expect(await events(await completed(call))).toBeLessThanOrEqual(30);
  });

  test('an approved call: 33', async () => {
    expect(await events(await approved(session, 'events'))).toBeLessThanOrEqual(33);
  });
});

test('history of a quick read: what it gives back, twice, and 3 KB', async () => {
  const id = await completed(await session.start('read', { path: 'two-kb.txt' }));
  expect(await historyBytes(id)).toBeLessThanOrEqual(2 * 2_300 + 3 * 1_024);
});

describe.skipIf(!sandbox.available)('history of one call is at most 64 KB', () => {
  test.each([
    ['1 KB', 1_000],
    ['1 MB', 1_000_000],
    ['10 MB', 10_000_000],
  ])('with an output of %s', async (_size, bytes) => {
    const call = await session.start('shell', { command: `yes 'a line of output' | head -c ${bytes}` });
    expect(await historyBytes(await completed(call))).toBeLessThanOrEqual(64 * 1_024);
  });

  test('with an output of characters that take six bytes in JSON', async () => {
    const call = await session.start('shell', { command: "head -c 1000000 /dev/zero | tr '\\0' '\\001'" });
    expect(await historyBytes(await completed(call))).toBeLessThanOrEqual(64 * 1_024);
  });
});

test('a session holds no more history than one run of it may', { timeout: 60_000 }, async () => {
  const continueAfterEvents = 60;
  const facts = {
    id: 'bounded',
    kind: 'main',
    main: 'bounded',
    depth: 0,
    workspace: service.workspace,
    agent: 'default',
    channel: 'inbox',
  };
  await service.countersign.temporal.workflow.start('session', {
    workflowId: 'session/bounded',
    taskQueue: 'footprint',
    args: [{ continueAfterEvents }],
    memo: { countersignSession: facts },
  });
  const bounded: Session = await service.countersign.openSession({ id: 'bounded', workspace: service.workspace });
  const lengths: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    await approved(bounded, `bounded-${i}`);
    lengths.push(await events('session/bounded'));
  }
  expect((await bounded.view()).continuedAsNew).toBeGreaterThan(0);
  // One approval's events may come after the limit was reached.
  expect(Math.max(...lengths)).toBeLessThanOrEqual(continueAfterEvents + 40);
});
