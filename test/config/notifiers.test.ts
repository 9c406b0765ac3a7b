import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';

const parse = (...notify: object[]) => parseConfig(JSON.stringify({ channels: { ops: { notify } } }), 'c.jsonc').config;
const problem = (notifier: object): string => {
  try {
    parse(notifier);
  } catch (error) {
    return (error as Error).message.replace(/^c\.jsonc:\d+:\d+: \/channels\/ops\/notify\/0/, '');
  }
  return 'none';
};

test('each type in its whole form', () => {
  const notify = [
    { type: 'log' },
    { type: 'terminal' },
    { type: 'webhook', url: 'https://hooks.example/approvals', secretEnv: 'HOOK_SECRET' },
    { type: 'slack', urlFile: '/run/secrets/slack' },
    { type: 'email', host: 'smtp.example', from: 'a@b.example', to: ['c@d.example'] },
    {
      type: 'email',
      host: 'smtp.example',
      port: 465,
      security: 'tls',
      user: 'a',
      passwordEnv: 'SMTP_PASSWORD',
      from: 'a@b.example',
      to: ['c@d.example', 'e@f.example'],
    },
  ];
  expect(parse(...notify).channels['ops']?.notify).toEqual(notify);
});

describe('what is wrong is said', () => {
  test.each([
    [{ type: 'pager' }, '/type: "pager" is none of log, terminal, webhook, slack, email'],
    [{ type: 'webhook' }, ': a notifier of type webhook needs url'],
    [{ type: 'webhook', url: 'https://a.example/' }, ': a notifier of type webhook needs secretEnv or secretFile'],
    [{ type: 'webhook', url: 'https://a.example/', secret: 'x' }, '/secret: unknown name "secret"'],
    [
      { type: 'webhook', url: 'https://a.example/', secretEnv: 'A', secretFile: '/b' },
      '/secretFile: give secretEnv or secretFile, not both',
    ],
    [{ type: 'webhook', url: 'file:///etc/passwd', secretEnv: 'A' }, '/url: must be a whole http or https address'],
    [
      { type: 'webhook', url: 'https://u:p@a.example/', secretEnv: 'A' },
      '/url: must hold no user name and password: the file is no place for secrets',
    ],
    [{ type: 'slack', url: 'https://hooks.slack.example/x' }, '/url: means nothing to a notifier of type slack'],
    [{ type: 'terminal', to: ['a@b.example'] }, '/to: means nothing to a notifier of type terminal'],
    [{ type: 'email', host: 'h', from: 'a@b.example' }, ': a notifier of type email needs to'],
    [
      { type: 'email', host: 'h', from: 'a@b.example', to: ['a@b.example'], user: 'u' },
      ': give user together with passwordEnv or passwordFile',
    ],
  ])('%j', (notifier, message) => {
    expect(problem(notifier)).toBe(message);
  });

  test('a line break in an address', () => {
    const to = ['a@b.example\r\nBcc: evil@c.example'];
    expect(problem({ type: 'email', host: 'h', from: 'a@b.example', to })).toContain('does not have the right form');
  });
});
