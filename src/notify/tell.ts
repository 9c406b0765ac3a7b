/** Tells the people of a channel in all the ways that it has. None of them holds up another, and none can lose a request. */
import type { NotifierConfig } from '../config/notifiers.ts';
import type { Notified } from '../protocol/approval.ts';
import { safeLine } from '../approval/render/safe-text.ts';
import { emailNotifier } from './email.ts';
import { logNotifier } from './log.ts';
import type { Notice } from './notice.ts';
import { NotTold, type Notifier, type Surroundings } from './notifier.ts';
import { slackNotifier } from './slack.ts';
import { terminalNotifier } from './terminal.ts';
import { webhookNotifier } from './webhook.ts';

/** All together end within this; the activity that waits has a little longer. */
export const TELL_MS = 12_000;

export function openNotifier(config: NotifierConfig, surroundings: Surroundings): Notifier {
  switch (config.type) {
    case 'log':
      return logNotifier(surroundings);
    case 'terminal':
      return terminalNotifier(surroundings);
    case 'webhook':
      return webhookNotifier(config);
    case 'slack':
      return slackNotifier(config);
    case 'email':
      return emailNotifier(config);
  }
}

/** Never rejects. Both lists are in the order of the notifiers. */
export async function tellAll(notifiers: readonly Notifier[], notice: Notice, limitMs = TELL_MS): Promise<Notified> {
  const signal = AbortSignal.timeout(limitMs);
  const results = await Promise.all(notifiers.map((notifier) => tellOne(notifier, notice, signal)));
  return {
    told: results.flatMap(({ type, reason }) => (reason === undefined ? [type] : [])),
    failed: results.flatMap(({ type, reason }) => (reason === undefined ? [] : [{ type, reason }])),
  };
}

async function tellOne(
  notifier: Notifier,
  notice: Notice,
  signal: AbortSignal,
): Promise<{ type: string; reason?: string }> {
  const { type } = notifier;
  const late = Promise.withResolvers<never>();
  const abort = (): void => late.reject(new NotTold('no answer in time'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([notifier.tell(notice, signal), late.promise]);
    return { type };
  } catch (error) {
    // What is not ours may hold an address or a secret.
    return {
      type,
      reason:
        error instanceof NotTold ? safeLine(error.message).slice(0, 300) : 'it failed in a way that was not foreseen',
    };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
