/** Whoever may start workflows writes memos, summaries and inputs that nobody can decode. What is asked about them is answered, with a code. */
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { CALL_MEMO } from '../../src/protocol/call.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE, WORKFLOW } from '../../src/protocol/names.ts';
import { SESSION_MEMO } from '../../src/protocol/session.ts';
import { STRANGE, jsonPayload, startRaw } from '../support/raw-workflow.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const SESSION = 'hostile-descriptions';
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

const start = (type: string, workflowId: string, memo: Record<string, Payload>, input = STRANGE): Promise<void> =>
  startRaw(service.countersign.temporal, {
    type,
    workflowId,
    memo,
    input,
    summary: STRANGE,
    searchAttributes: { [SEARCH_ATTRIBUTE.state]: CALL_STATE.waiting, [SEARCH_ATTRIBUTE.session]: SESSION },
  });

beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: SESSION });
  session = await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
  await start(WORKFLOW.call, `call/${SESSION}/strange`, { [CALL_MEMO]: STRANGE, other: STRANGE });
  // It waits, by its memo, for nothing that is anything.
  await start(WORKFLOW.call, `call/${SESSION}/formless`, {
    [CALL_MEMO]: jsonPayload({ for: 'approval' }),
    other: STRANGE,
  });
  await start(WORKFLOW.session, 'session/strange', { [SESSION_MEMO]: STRANGE });
});
afterAll(() => service[Symbol.asyncDispose]());

test.each(['strange', 'formless'])('a call with the memo %s waits for nothing', async (callId) => {
  const call = service.countersign.call(`call/${SESSION}/${callId}`);
  expect(await call.waiting()).toBeUndefined();
  expect(await call.held()).toBeUndefined();
  expect(await call.progress()).toBeUndefined();
  expect(await call.now()).toEqual({ state: 'running' });
  await expect(call.input()).rejects.toMatchObject({ code: 'call_not_found' });
});

test('no worker answers for such a call: that is said where somebody decides on it', { timeout: 60_000 }, async () => {
  const approved = service.countersign.approvals.approve(`call/${SESSION}/strange`);
  await expect(approved).rejects.toMatchObject({ code: 'no_service' });
});

test('a session that nobody can read is none, and a call in it is told so', { timeout: 30_000 }, async () => {
  const { countersign } = service;
  await expect(countersign.session('strange')).rejects.toMatchObject({ code: 'session_not_found' });
  await expect(countersign.audit('strange')).rejects.toMatchObject({ code: 'session_not_found' });
  await start(WORKFLOW.call, 'call/strange/c', {}, jsonPayload({ tool: 'list', arguments: {} }));
  const handle = await countersign.temporal.workflow.start(WORKFLOW.call, {
    workflowId: 'call/strange/real',
    taskQueue: SESSION,
    args: [{ tool: 'list', arguments: {} }],
  });
  expect(await handle.result()).toMatchObject({ error: { code: 'session_not_found' }, tries: 0 });
});

test('the stories of a session and of its calls are told', async () => {
  const call = await session.call('list', { path: '.' });
  expect(call.status).toBe('completed');
  const story = await service.countersign.audit(SESSION);
  const calls = story.entries.filter((entry) => entry.what === 'call');
  expect(calls).toHaveLength(4);
  expect(await service.countersign.audit(`call/${SESSION}/strange`)).toMatchObject({ kind: 'call' });
});
