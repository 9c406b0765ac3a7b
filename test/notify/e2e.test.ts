/** From a call that asks to the people that are told, on a real server and against local receivers. */
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { type TestService, startTestService } from '../support/worker.ts';
import { receiver } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ address: inject('temporalAddress'), taskQueue: 'notify' });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

const configure = (...notify: object[]) => service.configure(JSON.stringify({ channels: { inbox: { notify } } }));

async function asked(id: string, mark: string) {
  const session = await service.countersign.openSession({ id, workspace: service.workspace });
  const call = await session.start('probe_elevated', { log: service.log, mark }, { callId: 'c1' });
  await call.settled();
  return { session, call };
}

test('every notifier is told, a failure is shown, and the request waits on', async () => {
  await using hook = await receiver(200);
  await using broken = await receiver(500);
  vi.stubEnv('E2E_SECRET', 'a secret of more than 16 bytes');
  configure(
    { type: 'webhook', url: broken.url, secretEnv: 'E2E_SECRET' },
    { type: 'webhook', url: hook.url, secretEnv: 'E2E_SECRET' },
  );
  const { session, call } = await asked('notify-all', 'token=hunter2');
  await vi.waitFor(() => expect(hook.received).toHaveLength(1), { timeout: 10_000 });
  expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({
    type: 'approval.requested',
    data: {
      channel: 'inbox',
      request: { session: 'notify-all', callId: 'c1', tool: 'probe_elevated', route: ['notify-all'] },
      view: { call: 'call/notify-all/c1', agent: 'default', arguments: { mark: 'token=…' }, route: ['notify-all'] },
    },
  });
  await vi.waitFor(
    async () => {
      const { notices } = await session.view();
      expect(notices.map(({ kind, text }) => [kind, text])).toEqual([
        ['notify_failed', 'webhook could not be told: answered 500; the request still waits.'],
      ]);
    },
    { timeout: 10_000 },
  );
  expect(broken.received).toHaveLength(3);
  expect(await service.countersign.approvals.approve(call.id, { approver: 'ann' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});

test('a channel whose people cannot be reached loses no request', async () => {
  configure(
    { type: 'slack', urlEnv: 'E2E_MISSING' },
    { type: 'email', host: '127.0.0.1', port: 1, security: 'none', from: 'a@b.example', to: ['c@d.example'] },
  );
  const { session, call } = await asked('notify-none', 'x');
  await vi.waitFor(
    async () => {
      const { notices } = await session.view();
      expect(notices.map(({ text }) => text)).toEqual([
        'slack could not be told: environment variable E2E_MISSING is missing or empty; the request still waits.',
        'email could not be told: the mail was not taken (ESOCKET); the request still waits.',
      ]);
    },
    { timeout: 15_000 },
  );
  expect(await service.countersign.approvals.deny(call.id, { approver: 'ann', reason: 'no' })).toMatchObject({
    answer: 'accepted',
  });
  expect(await call.outcome()).toMatchObject({ status: 'denied' });
});
