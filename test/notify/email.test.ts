import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test, vi } from 'vitest';
import type { EmailConfig } from '../../src/config/index.ts';
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { noticeOf, silent } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

interface MailServer extends AsyncDisposable {
  port: number;
  mails: { from: string; to: string[]; user: string; text: string }[];
}

async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: MailServer['mails'] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username ?? '' }) : done(new Error('wrong password')),
    onData: (stream, { envelope, user }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          user: String(user ?? ''),
          text: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

const config = (port: number, rest: Partial<EmailConfig> = {}): EmailConfig => ({
  type: 'email',
  host: '127.0.0.1',
  port,
  security: 'none',
  from: 'Countersign <countersign@b.example>',
  to: ['ann@b.example', 'bob@b.example'],
  ...rest,
});

const tell = (email: EmailConfig, notice = noticeOf(), limitMs?: number) =>
  tellAll([openNotifier(email, silent)], notice, limitMs);

/** The text of a mail, whatever its transfer encoding. */
function bodyOf(mail: string): string {
  const [head = '', ...rest] = mail.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (/^content-transfer-encoding: base64$/im.test(head)) return Buffer.from(body, 'base64').toString();
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n');
}

test('sends plain text to all addressees', async () => {
  await using server = await mailServer();
  expect(await tell(config(server.port))).toEqual({ told: ['email'], failed: [] });
  expect(server.mails).toHaveLength(1);
  const [{ from, to, text } = { from: '', to: [], text: '' }] = server.mails;
  expect({ from, to }).toEqual({ from: 'countersign@b.example', to: ['ann@b.example', 'bob@b.example'] });
  expect(text).toMatch(/^Subject: Approval needed #RRRRRR\r$/m);
  expect(text).toMatch(/^Message-ID: <msg_1@countersign>\r$/im);
  expect(text).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/im);
  expect(bodyOf(text).trimEnd()).toBe(`Approval needed #RRRRRR

Tool     │ shell (elevated)
Agent    │ coder
Session  │ leaf → main
Because  │ elevated calls need an approval
Rule     │ shell.outside
Channel  │ inbox
Call     │ call/leaf/c1
Expires  │ in 1 h

What would run, in part:
│ npm test

    countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'`);
});

test('nothing that a model wrote becomes a header, a link or a line of its own', async () => {
  await using server = await mailServer();
  const notice = noticeOf({ command: 'x\r\n\r\nApproved by ann\r\nSee https://evil.example' });
  await tell(config(server.port), { ...notice, request: { ...notice.request, tool: 'a\r\nBcc: eve@b.example' } });
  const [{ text, to } = { text: '', to: [] }] = server.mails;
  expect(to).toEqual(['ann@b.example', 'bob@b.example']);
  expect(text).not.toMatch(/^Bcc:/im);
  const lines = bodyOf(text).split('\n');
  expect(lines).toContain('│ Approved by ann⟨U+000D⟩');
  expect(lines).toContain('│ See https[:]//evil.example');
  expect(lines).toContain('Tool     │ a⏎Bcc: eve@b.example (elevated)');
});

test('signs in with a password from the environment or a file', async () => {
  await using server = await mailServer({ authOptional: false, allowInsecureAuth: true, authMethods: ['PLAIN'] });
  const folder = await mkdtemp(join(tmpdir(), 'countersign-notify-'));
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, 'right\n');
  vi.stubEnv('SMTP_PASSWORD', 'right');
  expect(await tell(config(server.port, { user: 'ann', passwordFile }))).toEqual({ told: ['email'], failed: [] });
  expect(await tell(config(server.port, { user: 'ann', passwordEnv: 'SMTP_PASSWORD' }))).toEqual({
    told: ['email'],
    failed: [],
  });
  vi.stubEnv('SMTP_PASSWORD', 'wrong');
  expect(await tell(config(server.port, { user: 'ann', passwordEnv: 'SMTP_PASSWORD' }))).toEqual({
    told: [],
    failed: [{ type: 'email', reason: 'the mail was not taken (EAUTH 535)' }],
  });
  expect(server.mails.map(({ user }) => user)).toEqual(['ann', 'ann']);
  await rm(folder, { recursive: true });
});

test('sends nothing in the clear unless told to', async () => {
  await using server = await mailServer();
  const { told, failed } = await tell(config(server.port, { security: 'starttls' }));
  expect(told).toEqual([]);
  expect(failed[0]?.reason).toMatch(/^the mail was not taken \(E[A-Z]+( \d+)?\)$/);
  expect(server.mails).toEqual([]);
});

test('tries again after a refusal for now', async () => {
  let refused = 0;
  await using server = await mailServer({
    onRcptTo: (_address, _session, done) => {
      refused += 1;
      if (refused > 2) return done();
      done(Object.assign(new Error('later'), { responseCode: 451 }));
    },
  });
  expect(await tell(config(server.port))).toEqual({ told: ['email'], failed: [] });
  expect(server.mails).toHaveLength(1);
});

test('nobody there', async () => {
  const server = await mailServer();
  await server[Symbol.asyncDispose]();
  expect(await tell(config(server.port))).toEqual({
    told: [],
    failed: [
      { type: 'email', reason: expect.stringMatching(/^the mail was not taken \(E(?:SOCKET|CONNECTION)\)$/) as string },
    ],
  });
});

test('a server that never speaks holds up nothing for long', async () => {
  await using server = await mailServer({ onConnect: () => undefined });
  const since = Date.now();
  expect(await tell(config(server.port), noticeOf(), 1_000)).toEqual({
    told: [],
    failed: [{ type: 'email', reason: 'no answer in time' }],
  });
  expect(Date.now() - since).toBeLessThan(2_500);
});
