/** Whoever may start workflows writes memos, summaries and inputs that nobody can decode. What is asked about them is answered, with a code. */
import { type Payload, METADATA_ENCODING_KEY, encodingKeys } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { CALL_MEMO } from '../../src/protocol/call.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE, WORKFLOW } from '../../src/protocol/names.ts';
import { SESSION_MEMO } from '../../src/protocol/session.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const SESSION = 'hostile-descriptions';
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const json = (value: unknown, type = ''): Payload => ({
  metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON, type: text(type) },
  data: text(JSON.stringify(value)),
});
const unreadable: Payload = { metadata: { [METADATA_ENCODING_KEY]: text('binary/strange') }, data: text('x') };

let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

/** Past the SDK, which would not write such payloads. */
async function start(type: string, workflowId: string, memo: Record<string, Payload>, input = unreadable) {
  const { workflowService, options } = service.countersign.temporal;
  await workflowService.startWorkflowExecution({
    namespace: options.namespace,
    requestId: workflowId,
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: 'nobody' },
    input: { payloads: [input] },
    memo: { fields: memo },
    userMetadata: { summary: unreadable, details: unreadable },
    searchAttributes: {
      indexedFields: {
        [SEARCH_ATTRIBUTE.state]: json(CALL_STATE.waiting, 'Keyword'),
        [SEARCH_ATTRIBUTE.session]: json(SESSION, 'Keyword'),
      },
    },
  });
}

beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: SESSION });
  session = await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
  await start(WORKFLOW.call, `call/${SESSION}/strange`, { [CALL_MEMO]: unreadable, other: unreadable });
  // It waits, by its memo, for nothing that is anything.
  await start(WORKFLOW.call, `call/${SESSION}/formless`, { [CALL_MEMO]: json({ for: 'approval' }), other: unreadable });
  await start(WORKFLOW.session, 'session/strange', { [SESSION_MEMO]: unreadable });
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
  await start(WORKFLOW.call, 'call/strange/c', {}, json({ tool: 'list', arguments: {} }));
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
