import { createHmac, timingSafeEqual } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { signatureOf } from '../../src/notify/webhook.ts';
import { noticeOf, receiver, silent } from './support.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

afterEach(() => vi.unstubAllEnvs());

const tell = (url: string, notice = noticeOf(), limitMs = 12_000) => {
  vi.stubEnv('HOOK_SECRET', SECRET);
  return tellAll([openNotifier({ type: 'webhook', url, secretEnv: 'HOOK_SECRET' }, silent)], notice, limitMs);
};

test('signs as the standard says (its published example)', () => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  expect(signatureOf(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('posts what is asked, signed over id, time and body', async () => {
  await using hook = await receiver(204);
  const before = Math.floor(Date.now() / 1_000);
  expect(
    await tell(hook.url, noticeOf(undefined, { role: 'lead', kind: 'reassigned', link: 'http://localhost:8233/x' })),
  ).toEqual({ told: ['webhook'], failed: [] });
  expect(hook.received).toHaveLength(1);
  const { headers = {} as IncomingHttpHeaders, body = '', url } = hook.received[0] ?? {};
  expect(url).toBe('/hook');
  expect(headers['content-type']).toBe('application/json');
  expect(headers['webhook-id']).toBe('msg_1');
  expect(Number(headers['webhook-timestamp'])).toBeGreaterThanOrEqual(before);
  const key = Buffer.from('MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3', 'base64');
  const expected = createHmac('sha256', key)
    .update(`msg_1.${String(headers['webhook-timestamp'])}.${body}`)
    .digest();
  const [version, signature = ''] = String(headers['webhook-signature']).split(',');
  expect(version).toBe('v1');
  expect(timingSafeEqual(Buffer.from(signature, 'base64'), expected)).toBe(true);
  expect(JSON.parse(body)).toMatchObject({
    type: 'approval.reassigned',
    timestamp: '1970-01-01T00:00:01.000Z',
    data: {
      channel: 'inbox',
      role: 'lead',
      request: { session: 'leaf', callId: 'c1', tool: 'shell', tier: 'elevated', route: ['leaf', 'main'] },
      view: {
        call: 'call/leaf/c1',
        code: '#RRRRRR',
        longCode: '#RRRRRRRRRRRRRRRRRRRRRRRR',
        arguments: { command: 'npm test' },
      },
      commands: [
        "countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'",
        "countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'",
        "countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'",
      ],
      link: 'http://localhost:8233/x',
    },
  });
});

test('sends no secret of the arguments, and no long text whole', async () => {
  await using hook = await receiver(200);
  await tell(
    hook.url,
    noticeOf({
      command: `deploy --token abc123 ${'x'.repeat(5_000)} end`,
      password: 'hunter2',
      key: 'ghp_0123456789abcdef',
    }),
  );
  const body = hook.received[0]?.body ?? '';
  for (const secret of ['abc123', 'hunter2', 'ghp_0123456789abcdef', 'x'.repeat(2_000)])
    expect(body).not.toContain(secret);
  expect(JSON.parse(body)).toMatchObject({
    data: {
      view: {
        arguments: {
          password: '…',
          key: '…',
          command: expect.stringMatching(/^deploy --token … x+ … [0-9]+ characters not shown … x+ end$/),
        },
      },
    },
  });
});

test('tries again what fails for a passing reason, with the same id and body', async () => {
  await using hook = await receiver(503, 500, 200);
  expect(await tell(hook.url)).toEqual({ told: ['webhook'], failed: [] });
  expect(hook.received.map(({ headers }) => headers['webhook-id'])).toEqual(['msg_1', 'msg_1', 'msg_1']);
  expect(new Set(hook.received.map(({ body }) => body)).size).toBe(1);
  const [first, second, third] = hook.received.map(({ at }) => at);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(240);
  expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(990);
});

test.each([
  ['after three tries', 500, 3, 'answered 500'],
  ['at once where trying again is no use', 404, 1, 'answered 404'],
  [
    'at once at a redirect',
    { status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' } },
    1,
    'answered 302: redirects are not followed, give the final address',
  ],
] as const)('gives up %s', async (_, answer, tries, reason) => {
  await using hook = await receiver(answer);
  expect(await tell(hook.url)).toEqual({ told: [], failed: [{ type: 'webhook', reason }] });
  expect(hook.received).toHaveLength(tries);
});

test('waits as long as it is told to, within reason', async () => {
  await using hook = await receiver({ status: 429, headers: { 'retry-after': '1' } }, 200);
  expect(await tell(hook.url)).toEqual({ told: ['webhook'], failed: [] });
  const [first, second] = hook.received.map(({ at }) => at);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
});

test('a receiver that never answers holds up nothing for long', async () => {
  await using hook = await receiver('hang');
  const since = Date.now();
  expect(await tell(hook.url, noticeOf(), 1_000)).toEqual({
    told: [],
    failed: [{ type: 'webhook', reason: 'no answer in time' }],
  });
  expect(Date.now() - since).toBeLessThan(2_500);
});

test('a receiver that does not answer at once is asked again', async () => {
  await using hook = await receiver('hang', 200);
  expect(await tell(hook.url)).toEqual({ told: ['webhook'], failed: [] });
  expect(hook.received).toHaveLength(2);
});

test('nobody there', async () => {
  const address = await receiver();
  await address[Symbol.asyncDispose]();
  expect(await tell(address.url)).toEqual({
    told: [],
    failed: [{ type: 'webhook', reason: 'not reached (ECONNREFUSED)' }],
  });
});

test.each([
  ['', 'environment variable HOOK_SECRET is missing or empty'],
  ['short', 'the signing secret has fewer than 16 bytes'],
])('without a proper secret (%j) nothing is sent', async (secret, reason) => {
  await using hook = await receiver(200);
  vi.stubEnv('HOOK_SECRET', secret);
  const notifier = openNotifier({ type: 'webhook', url: hook.url, secretEnv: 'HOOK_SECRET' }, silent);
  expect(await tellAll([notifier], noticeOf())).toEqual({ told: [], failed: [{ type: 'webhook', reason }] });
  expect(hook.received).toEqual([]);
});

test('the secret can be in a file, and be changed there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-notify-'));
  const secretFile = join(folder, 'secret');
  await using hook = await receiver(200);
  const notifier = openNotifier({ type: 'webhook', url: hook.url, secretFile }, silent);
  for (const secret of ['a plain text of many bytes', 'another text of many bytes']) {
    await writeFile(secretFile, `${secret}\n`);
    await chmod(secretFile, 0o600);
    await tellAll([notifier], noticeOf());
    const { headers = {} as IncomingHttpHeaders, body = '' } = hook.received.at(-1) ?? {};
    const expected = createHmac('sha256', secret)
      .update(`msg_1.${String(headers['webhook-timestamp'])}.${body}`)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  }
  await rm(folder, { recursive: true });
});
