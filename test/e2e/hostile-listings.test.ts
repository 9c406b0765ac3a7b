/** Anyone in the namespace can start a workflow of any type, with the memo and the search attributes of their choice. No listing ends by it. */
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { callsSince } from '../../src/cli/judge/recorded-calls.ts';
import { CALL_MEMO } from '../../src/protocol/call.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE, WORKFLOW } from '../../src/protocol/names.ts';
import { SESSION_MEMO } from '../../src/protocol/session.ts';
import { UNREADABLE, bytes, startRaw } from '../support/raw-workflow.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
const SESSION = 'hostile-listings';
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;
let asked: string;

const start = (type: string, workflowId: string, memo: Record<string, Payload>, code: string): Promise<void> =>
  startRaw(service.countersign.temporal, {
    type,
    workflowId,
    memo,
    searchAttributes: {
      [SEARCH_ATTRIBUTE.state]: CALL_STATE.waiting,
      [SEARCH_ATTRIBUTE.session]: SESSION,
      [SEARCH_ATTRIBUTE.code]: code,
    },
  });

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: SESSION });
  session = await service.countersign.openSession({ id: SESSION, workspace: service.workspace });
  const call = await session.start('probe_elevated', { log: service.log, mark: 'asked' }, { callId: 'asked' });
  await call.settled();
  asked = call.id;
  // Newer than what is looked for, with all the attributes of it.
  const { request } = await service.countersign.approvals.show(asked);
  const description = await service.countersign.temporal.workflow.getHandle(asked).describe();
  const code = String(description.searchAttributes[SEARCH_ATTRIBUTE.code]?.[0]);
  for (const [i, memo] of UNREADABLE.entries()) {
    await start(WORKFLOW.call, `call/${SESSION}/unreadable-${i}`, { [CALL_MEMO]: memo }, code);
    await start(WORKFLOW.session, `session/unreadable-${i}`, { [SESSION_MEMO]: memo }, code);
  }
  const { fields } = description.raw.workflowExecutionInfo?.memo ?? {};
  const waiting = fields?.[CALL_MEMO];
  expect(waiting?.data).toBeInstanceOf(Uint8Array);
  // What the real call shows, under other names and with another digest: under its code, and none of it.
  for (let i = 0; i < 12; i += 1) {
    const callId = `copy-${i}`;
    const data = Buffer.from(waiting?.data ?? [])
      .toString()
      .replaceAll(`"callId":"asked"`, `"callId":"${callId}"`)
      .replaceAll(request.digest, `sha256:${String(i).padStart(64, '0')}`);
    await start(WORKFLOW.call, `call/${SESSION}/${callId}`, { [CALL_MEMO]: { ...waiting, data: bytes(data) } }, code);
  }
});

afterAll(() => service[Symbol.asyncDispose]());

test('what waits is listed', async () => {
  const { approvals } = service.countersign;
  await expect.poll(() => approvals.count({ session: SESSION })).toBe(16);
  const ids = (await approvals.pending({ session: SESSION })).map(({ id }) => id);
  expect(ids).toHaveLength(13);
  expect(ids).toContain(asked);
});

test('a request is found by its code behind others that stand under it', async () => {
  const { approvals } = service.countersign;
  const { code } = await approvals.show(asked);
  expect(await approvals.find(code)).toBe(asked);
});

test('sessions are listed', async () => {
  const ids = (await service.countersign.sessions()).map(({ facts }) => facts.id);
  expect(ids).toContain(SESSION);
  expect(ids.filter((id) => id.startsWith('unreadable'))).toEqual([]);
});

test('a session has its story', async () => {
  const story = await service.countersign.audit(SESSION);
  if (!('entries' in story)) throw new Error('this is the story of a call');
  expect(story.entries.filter((entry) => entry.what === 'call')).toHaveLength(16);
});

test('calls are found for a dry run of rules', async () => {
  const ids = new Set<string>();
  for await (const id of callsSince(service.countersign, new Date(Date.now() - 600_000))) ids.add(id);
  expect(ids).toContain(asked);
});

test(
  'a session that closes ends its calls, and does not wait for ever for those that nobody runs',
  { timeout: 90_000 },
  async () => {
    expect(await session.close()).toMatchObject({ callsEnded: 1, callsLeft: 15 });
    expect(await service.countersign.call(asked).outcome()).toMatchObject({ status: 'denied' });
  },
);
