/** Whoever has a worker of their own answers for a call and a session what a terminal would obey: it is told as text, or not at all. */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isCountersignError } from '../../src/protocol/errors.ts';
import { outcomeLine } from '../../src/cli/calls/outcome-line.ts';
import { outcomeText } from '../../src/cli/render/outcome.ts';
import { sessionText } from '../../src/cli/render/session.ts';
import { SESSION_MEMO } from '../../src/protocol/session.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
const PAINT = '\u001b[2J\u009b2Jpainted';

/** A stranger's session, run by their worker. */
const open = (id: string, agent: string, channel: string) =>
  service.countersign.temporal.workflow.start('session', {
    workflowId: `session/${id}`,
    taskQueue: 'painter',
    memo: { [SESSION_MEMO]: { id, kind: 'main', main: id, depth: 0, agent, channel, workspace: service.workspace } },
  });

let service: TestService;
let connection: NativeConnection;
let painter: Worker;
let painting: Promise<void>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'painted-answers' });
  connection = await NativeConnection.connect({ address });
  painter = await Worker.create({
    connection,
    taskQueue: 'painter',
    workflowsPath: join(import.meta.dirname, '../support/rogue/painter.ts'),
  });
  painting = painter.run();
  await open('painted', PAINT, PAINT);
  await open('declared', 'default', 'inbox');
  const { workflow } = service.countersign.temporal;
  await workflow.start('toolCall', {
    workflowId: 'call/painted/c',
    taskQueue: 'painter',
    args: [{ tool: 'list', arguments: {} }],
  });
});
afterAll(async () => {
  painter.shutdown();
  await painting;
  await connection.close();
  await service[Symbol.asyncDispose]();
});

/** What a terminal obeys; line breaks are ours. */
const OBEYED = /(?!\n)\p{Cc}/u;
const finish = (id: string): Promise<void> => service.countersign.temporal.workflow.getHandle(id).signal('finish');

test('of a session', async () => {
  const session = await service.countersign.session('painted');
  const view = await session.view();
  expect(view).toMatchObject({ children: [], pending: 0, notices: [] });
  expect(sessionText(view)).toContain('painted');
  expect(sessionText(view)).not.toMatch(OBEYED);
  expect(await service.countersign.grants('painted').list()).toEqual([]);
});

test('of a call that waits', async () => {
  const { approvals } = service.countersign;
  await expect(approvals.show('call/painted/c')).rejects.toMatchObject({ code: 'digest_mismatch' });
  const decided = await approvals
    .deny('call/painted/c', { reason: 'no' })
    .catch((error: unknown) => (isCountersignError(error) ? error : undefined));
  expect(decided).toMatchObject({ code: 'digest_mismatch' });
});

test('of a decision that the session is told of', async () => {
  const session = await service.countersign.session('declared');
  const call = await session.start('probe_elevated', { log: service.log, mark: 'painted' }, { callId: 'asks' });
  await expect.poll(() => call.waiting()).toBeDefined();
  const { answer, message } = await service.countersign.approvals.approve(call.id, { approver: 'ada' });
  expect(answer).toBe('not_pending');
  expect(message).not.toMatch(OBEYED);
});

test('of their ends', async () => {
  await finish('call/painted/c');
  const call = service.countersign.call('call/painted/c');
  const outcome = await call.outcome();
  expect(outcome).toMatchObject({ status: 'completed', artifacts: [], error: { code: 'internal' } });
  expect(outcomeText(outcomeLine(call, 'list', { state: 'done', outcome }, 1))).not.toMatch(OBEYED);
  const session = await service.countersign.session('painted');
  const closing = session.close();
  await finish('session/painted');
  expect(await closing).toMatchObject({ callsEnded: 0, callsLeft: 0, childrenLeft: [] });
});
