/** E-mail by SMTP: plain text, no HTML. */
import { createTransport } from 'nodemailer';
import type { EmailConfig } from '../config/notifiers.ts';
import { NotTold, type Notifier } from './notifier.ts';
import { type Notice, noticeText, opening } from './notice.ts';
import { withRetries } from './retry.ts';
import { readSecret } from './secret.ts';

const CONNECT_MS = 4_000;
const SILENCE_MS = 8_000;

export function emailNotifier(config: EmailConfig): Notifier {
  return {
    type: 'email',
    tell: (notice, signal) => withRetries(() => send(config, notice, signal), signal),
  };
}

async function send(config: EmailConfig, notice: Notice, signal: AbortSignal): Promise<void> {
  const { host, security = 'starttls', from, to } = config;
  const transport = createTransport({
    host,
    port: config.port ?? (security === 'tls' ? 465 : 587),
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(config.user !== undefined && {
      auth: { user: config.user, pass: await readSecret(config.passwordEnv, config.passwordFile) },
    }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new NotTold('no answer in time'));
  signal.addEventListener('abort', abort, { once: true });
  const sent = transport.sendMail({
    from,
    to,
    subject: opening(notice),
    text: noticeText(notice),
    messageId: `<${notice.id}@countersign>`,
    // Answers from machines would be answers to nobody.
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
  sent.catch(() => undefined);
  try {
    await Promise.race([sent, aborted.promise]);
  } catch (error) {
    throw error instanceof NotTold ? error : failureOf(error);
  } finally {
    signal.removeEventListener('abort', abort);
    transport.close();
  }
}

/** By code and status: what a server writes may hold the address, and is foreign. */
function failureOf(error: unknown): NotTold {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const name = typeof code === 'string' && /^[A-Z0-9_]{3,40}$/.test(code) ? code : 'ESMTP';
  const status = typeof responseCode === 'number' ? ` ${responseCode}` : '';
  // A 5xx of SMTP is final, as is a refused password; no connection or a 4xx may pass.
  const final = name === 'EAUTH' || (typeof responseCode === 'number' && responseCode >= 500);
  return new NotTold(`the mail was not taken (${name}${status})`, { temporary: !final });
}
