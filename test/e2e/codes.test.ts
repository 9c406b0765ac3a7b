/** Requests are found by their codes, on a real server. */
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { longCode } from '../../src/protocol/approval.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'codes' });
  session = await service.countersign.openSession({ id: 'codes', workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

async function asked(mark: string) {
  const call = await session.start('probe_elevated', { log: service.log, mark }, { callId: mark });
  await call.settled();
  const { code, request } = await service.countersign.approvals.show(call.id);
  return { call, code, long: longCode(request.digest) };
}

const server = () => service.countersign.temporal.workflowService;

/** Ids of what the server lists from now on. */
function watched(): string[] {
  const ids: string[] = [];
  const list = server().listWorkflowExecutions.bind(server());
  vi.spyOn(server(), 'listWorkflowExecutions').mockImplementation((async (request: object) => {
    const page = await list(request);
    ids.push(...page.executions.map(({ execution }) => execution?.workflowId ?? ''));
    return page;
  }) as typeof list);
  return ids;
}

test('nothing else is listed for it, be it among what waits or among what waited', async () => {
  await asked('other');
  const { call, code, long } = await asked('wanted');
  const { approvals } = service.countersign;
  const ids = watched();
  for (const name of [code, code.toLowerCase(), long])
    expect(await approvals.show(name)).toMatchObject({ id: call.id, code });
  await approvals.approve(code, { approver: 'ada' });
  await call.outcome();
  const again = () => approvals.approve(code, { approver: 'ada' }).catch(() => undefined);
  await expect.poll(again).toMatchObject({ answer: 'already_decided' });
  await expect(approvals.show('#AAAAAA')).rejects.toMatchObject({ code: 'call_not_found' });
  expect(new Set(ids)).toEqual(new Set([call.id]));
});

test('a listing that is a moment behind is looked at once more', async () => {
  const { call, code } = await asked('late');
  await service.countersign.approvals.show(code);
  const empty = { executions: [], nextPageToken: new Uint8Array() };
  const list = vi.spyOn(server(), 'listWorkflowExecutions');
  list.mockImplementationOnce((async () => empty) as never);
  expect(await service.countersign.approvals.show(code)).toMatchObject({ id: call.id });
  expect(list).toHaveBeenCalledTimes(2);
});
