/** A signed POST, in the form of Standard Webhooks (standardwebhooks.com): receivers verify it with any library for that. */
import { createHmac } from 'node:crypto';
import type { NotifierConfig } from '../config/notifiers.ts';
import { NotTold, type Notifier } from './notifier.ts';
import { type Notice, commands, noticeText, withShortTexts } from './notice.ts';
import { postJson } from './post.ts';
import { withRetries } from './retry.ts';
import { readSecret } from './secret.ts';

type WebhookConfig = Extract<NotifierConfig, { type: 'webhook' }>;

/** Shorter ones can be guessed. */
const SECRET_BYTES = 16;

export function webhookNotifier({ url, secretEnv, secretFile }: WebhookConfig): Notifier {
  return {
    type: 'webhook',
    async tell(notice, signal) {
      const key = keyOf(await readSecret(secretEnv, secretFile));
      const body = webhookBody(notice);
      await withRetries(() => {
        // A repetition has the same id and body; its time is its own, because receivers refuse old ones.
        const timestamp = String(Math.floor(Date.now() / 1_000));
        const headers = {
          'webhook-id': notice.id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatureOf(key, notice.id, timestamp, body),
        };
        return postJson(url, body, headers, signal);
      }, signal);
    },
  };
}

/** `whsec_` and base64, as the standard has it; any other text is taken as it is. */
export function keyOf(secret: string): Buffer {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
  if (key.length < SECRET_BYTES) throw new NotTold(`the signing secret has fewer than ${SECRET_BYTES} bytes`);
  return key;
}

/** `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`. */
export const signatureOf = (key: Buffer, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

function webhookBody(notice: Notice): string {
  const { kind, at, channel, request, role, view, link } = notice;
  return JSON.stringify({
    type: `approval.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: {
      channel,
      ...(role !== undefined && { role }),
      request,
      ...(view && { view: withShortTexts(view) }),
      commands: commands(notice),
      ...(link !== undefined && { link }),
      text: noticeText(notice),
    },
  });
}
