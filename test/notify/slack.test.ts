import { afterEach, describe, expect, test, vi } from 'vitest';
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { slackMessage } from '../../src/notify/slack.ts';
import { HOSTILE } from '../approval/render/support.ts';
import { noticeOf, receiver, silent } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

test('posts blocks and a fallback', async () => {
  await using hook = await receiver(200);
  vi.stubEnv('SLACK_URL', hook.url);
  const notifier = openNotifier({ type: 'slack', urlEnv: 'SLACK_URL' }, silent);
  expect(await tellAll([notifier], noticeOf(undefined, { link: 'http://localhost:8233/x' }))).toEqual({
    told: ['slack'],
    failed: [],
  });
  const code = (text: string) => ({ type: 'text', text, style: { code: true } });
  const bold = (text: string) => ({ type: 'text', text, style: { bold: true } });
  const line = { type: 'text', text: '\n' };
  const fact = (name: string, value: string) => [bold(`${name}: `), code(value), line];
  expect(JSON.parse(hook.received[0]?.body ?? '')).toEqual({
    text: "Approval needed #RRRRRR: tool `shell (elevated)`, session `leaf → main`, expires `in 1 h`. `countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'`",
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Approval needed #RRRRRR', emoji: false } },
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              ...fact('Tool', 'shell (elevated)'),
              ...fact('Agent', 'coder'),
              ...fact('Session', 'leaf → main'),
              ...fact('Because', 'elevated calls need an approval'),
              ...fact('Rule', 'shell.outside'),
              ...fact('Channel', 'inbox'),
              ...fact('Call', 'call/leaf/c1'),
              ...fact('Expires', 'in 1 h'),
            ],
          },
        ],
      },
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'npm test' }] }],
      },
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_preformatted',
            elements: [
              {
                type: 'text',
                text: "countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'\ncountersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'\ncountersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'",
              },
            ],
          },
        ],
      },
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [{ type: 'link', url: 'http://localhost:8233/x', text: 'The call in the Temporal UI' }],
          },
        ],
      },
    ],
  });
});

test('the address is a secret and stands in no reason', async () => {
  const address = await receiver(403);
  vi.stubEnv('SLACK_URL', `${address.url}/T0/B0/very-secret`);
  const notifier = openNotifier({ type: 'slack', urlEnv: 'SLACK_URL' }, silent);
  expect(await tellAll([notifier], noticeOf())).toEqual({
    told: [],
    failed: [{ type: 'slack', reason: 'answered 403' }],
  });
  await address[Symbol.asyncDispose]();
  expect(await tellAll([notifier], noticeOf())).toEqual({
    told: [],
    failed: [{ type: 'slack', reason: 'not reached (ECONNREFUSED)' }],
  });
  vi.stubEnv('SLACK_URL', 'very-secret');
  expect(await tellAll([notifier], noticeOf())).toEqual({
    told: [],
    failed: [{ type: 'slack', reason: 'the address of the incoming webhook is no whole http or https address' }],
  });
});

describe.each(HOSTILE.map(([name, text]) => [name, text] as const))('%s', (_, text) => {
  const hostile = noticeOf({ command: text });
  const message = slackMessage({
    ...hostile,
    request: { ...hostile.request, tool: text, route: [text] },
    ...(hostile.view && { view: { ...hostile.view, reason: text, agent: text } }),
  }) as { text: string; blocks: { text?: object; elements?: { elements: { type: string }[] }[] }[] };

  test('is code in the fallback', () => {
    expect(message.text).toMatch(
      /^Approval needed #RRRRRR: tool `[^`<>\n]*`, session `[^`<>\n]*`, expires `[^`<>\n]*`\. `countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'`$/,
    );
  });

  test('is plain text in the blocks', () => {
    const [header, ...rest] = message.blocks;
    expect(header?.text).toEqual({ type: 'plain_text', text: 'Approval needed #RRRRRR', emoji: false });
    const types = rest.flatMap(({ elements = [] }) => elements.flatMap((one) => one.elements.map(({ type }) => type)));
    expect(new Set(types)).toEqual(new Set(['text']));
  });

  test('is short, and no link', () => {
    const json = JSON.stringify(message);
    expect(json.length).toBeLessThan(9_000);
    expect(json).not.toMatch(/:\/\//);
  });
});

test('a secret is not shown, nor half of one in a preview that was cut', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ\n'.repeat(2_000)}`;
  const json = JSON.stringify([
    slackMessage(noticeOf({ command: 'login --password hunter2' })),
    slackMessage(noticeOf({ path: 'key.pem', content: key })),
  ]);
  expect(json).toContain('login --password …');
  expect(json).not.toMatch(/hunter2|MIIEvQ/);
});
