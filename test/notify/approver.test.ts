/** What the activity makes of a channel's configuration and of what a call answers. The client is a stand-in for calls that lie or are gone. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { notifyApprover } from '../../src/activities/notify-approver.ts';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import { approvalDigest } from '../../src/approval/digest.ts';
import { parseConfig } from '../../src/config/index.ts';
import type { ApprovalDetails, Notification, Notified } from '../../src/protocol/approval.ts';
import { detailsOf } from '../approval/render/support.ts';
import { receiver } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

/** Details whose digest is theirs. */
function honest(): ApprovalDetails {
  const details = detailsOf();
  const runId = '01a20246-bd61-79da-a503-83e038a3d757';
  const { session, callId, tool, requestedAt, expiresAt } = details.request;
  const { agent, fingerprint, workspace, arguments: args } = details;
  const digest = approvalDigest({
    session,
    callId,
    runId,
    agent,
    tool,
    fingerprint,
    arguments: args,
    workspace,
    requestedAt,
    expiresAt,
  });
  return { ...details, request: { ...details.request, runId, digest } };
}

interface World {
  channel?: string;
  notify?: object[];
  answer: () => Promise<ApprovalDetails | null>;
}

async function run({ channel = 'inbox', notify, answer }: World): Promise<{ notified: Notified; logged: string[] }> {
  const config = parseConfig(JSON.stringify(notify ? { channels: { inbox: { notify } } } : {}), 'c.jsonc');
  const logged: string[] = [];
  const dependencies = {
    settings: () => config,
    client: {
      options: { namespace: 'default' },
      withDeadline: (_: number, ask: () => unknown) => ask(),
      workflow: { getHandle: () => ({ query: answer }) },
    },
    uiUrl: 'http://localhost:8233',
    log: { warn: (_: object, text: string) => void logged.push(text) },
  } as unknown as Dependencies;
  const notification: Notification = {
    channel,
    kind: 'requested',
    request: { ...honest().request, route: ['leaf', 'main'] },
  };
  const notified = await new MockActivityEnvironment().run<[], Notified, () => Promise<Notified>>(() =>
    notifyApprover(dependencies, notification),
  );
  return { notified, logged };
}

async function delivered(answer: World['answer']) {
  vi.stubEnv('HOOK_SECRET', 'a secret of more than 16 bytes');
  await using hook = await receiver(200);
  const { notified, logged } = await run({
    notify: [{ type: 'webhook', url: hook.url, secretEnv: 'HOOK_SECRET' }],
    answer,
  });
  expect(notified).toEqual({ told: ['webhook'], failed: [] });
  const body = JSON.parse(hook.received[0]?.body ?? '') as {
    data: { view?: { arguments: object; route: string[]; preview?: object }; link: string };
  };
  return { ...body.data, logged };
}

test('what an honest call answers is told, with its page', async () => {
  const { view, link, logged } = await delivered(async () => honest());
  expect(view?.arguments).toEqual({ command: 'npm test' });
  expect(view?.route).toEqual(['leaf', 'main']);
  expect(link).toBe('http://localhost:8233/namespaces/default/workflows/call%2Fleaf%2Fc1');
  expect(logged).toEqual([]);
});

test('what a call shows in place of what it asks for is not told', async () => {
  const { view, logged } = await delivered(async () => ({ ...honest(), arguments: { command: 'true' } }));
  expect(view).toBeUndefined();
  expect(logged).toEqual(['what the call shows is not what it asks for; people are told its name only']);
});

test('what would run is told by its arguments, whatever preview comes along', async () => {
  const lying = { kind: 'diff', path: 'README.md', change: 'none', added: 0, removed: 0, diff: { head: '' } } as const;
  const { view } = await delivered(async () => ({ ...honest(), preview: lying }));
  expect(view?.preview).toMatchObject({ kind: 'command', steps: [{ text: 'npm test' }] });
});

test.each<[string, World['answer']]>([
  ['has ended', async () => null],
  ['cannot be reached', () => Promise.reject(new Error('gone'))],
  ['answers nonsense', async () => ({}) as ApprovalDetails],
])('a call that %s is told by its name', async (_, answer) => {
  expect((await delivered(answer)).view).toBeUndefined();
});

test.each([['inbox'], ['nowhere'], ['constructor'], ['__proto__']])(
  'channel %s without notifiers is a line in the log',
  async (channel) => {
    const { notified, logged } = await run({ channel, answer: async () => honest() });
    expect(notified).toEqual({ told: ['log'], failed: [] });
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/^Approval needed #[A-Z2-9]{6}: shell \(elevated\); countersign show '#[A-Z2-9]{24}'$/);
  },
);

test('where all fail, the request is a line in the log', async () => {
  const { notified, logged } = await run({
    notify: [{ type: 'slack', urlEnv: 'NOT_SET_ANYWHERE' }],
    answer: async () => honest(),
  });
  expect(notified).toEqual({
    told: ['log'],
    failed: [{ type: 'slack', reason: 'environment variable NOT_SET_ANYWHERE is missing or empty' }],
  });
  expect(logged).toEqual([
    'people could not be told of a request; it waits on',
    expect.stringMatching(/^Approval needed #/),
  ]);
});

test('an empty list tells nobody', async () => {
  expect(await run({ notify: [], answer: async () => honest() })).toEqual({
    notified: { told: [], failed: [] },
    logged: [],
  });
});
