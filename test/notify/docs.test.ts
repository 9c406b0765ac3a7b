import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { ROOT } from '../support/processes.ts';
import { noticeOf, receiver, silent } from './support.ts';

type Verify = (secret: string, headers: Record<string, unknown>, body: string) => boolean;

const text = await readFile(join(ROOT, 'docs/notifiers.md'), 'utf8');
const blocks = (language: string): string[] =>
  Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')), ([, block = '']) => block);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

test('every configuration in the page is valid', () => {
  const types = blocks('jsonc')
    .flatMap((block) => parseConfig(block, 'page').config.channels['inbox']?.notify ?? [])
    .map(({ type }) => type);
  expect(types).toEqual(['terminal', 'slack', 'log', 'terminal', 'webhook', 'slack', 'email']);
});

test('the check in the page takes what was sent, and nothing else', async () => {
  const [source = ''] = blocks('js');
  const { verify } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { verify: Verify };
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
  vi.stubEnv('HOOK_SECRET', secret);
  await using hook = await receiver(200);
  await tellAll([openNotifier({ type: 'webhook', url: hook.url, secretEnv: 'HOOK_SECRET' }, silent)], noticeOf());
  const { headers = {}, body = '' } = hook.received[0] ?? {};
  expect(verify(secret, headers, body)).toBe(true);
  expect(verify(secret, headers, body.replace('npm test', 'rm -rf /'))).toBe(false);
  expect(verify('whsec_YW5vdGhlciBzZWNyZXQgb2YgMjQgYnl0', headers, body)).toBe(false);
  expect(verify(secret, { ...headers, 'webhook-id': 'msg_2' }, body)).toBe(false);
  expect(verify(secret, { ...headers, 'webhook-signature': 'v1,' }, body)).toBe(false);
  expect(verify(secret, { ...headers, 'webhook-timestamp': undefined }, body)).toBe(false);
  vi.useFakeTimers({ now: Date.now() + 301_000, toFake: ['Date'] });
  expect(verify(secret, headers, body)).toBe(false);
});
