/** What a session's history says of the people who were told of requests. */
import type { Notification, Notified } from '../protocol/approval.ts';
import { readApprovalRequest } from '../protocol/forms.ts';
import { type HistoryEvent, timeOf, valueOf } from './history.ts';

/** People who were told of a request, by each of the channel's notifiers. */
export interface NotifiedEntry extends Pick<Notification, 'channel' | 'kind' | 'role'>, Notified {
  /** ISO 8601. */
  at: string;
  what: 'notified';
  /** The call's. */
  session: string;
  callId: string;
  /** Set while it has not ended. */
  running?: true;
}

/** Each notification, in the order in which they were asked for. */
export function notificationsIn(events: readonly HistoryEvent[]): NotifiedEntry[] {
  // Numbers of events begin anew with each run of a session that continues as new.
  const open = new Map<string, NotifiedEntry>();
  return events.flatMap((event): NotifiedEntry[] => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'notifyApprover') {
      const { channel, kind, role, request: given } = valueOf<Partial<Notification>>(scheduled.input) ?? {};
      const request = readApprovalRequest(given);
      // Who has a worker of their own records what they like.
      if (!request || typeof channel !== 'string' || !isKind(kind)) return [];
      const entry: NotifiedEntry = {
        at: new Date(timeOf(event)).toISOString(),
        what: 'notified',
        session: request.session,
        callId: request.callId,
        channel,
        kind,
        ...(typeof role === 'string' && { role }),
        told: [],
        failed: [],
        running: true,
      };
      open.set(String(event.eventId), entry);
      return [entry];
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const failed = event.activityTaskFailedEventAttributes;
    const lost = event.activityTaskTimedOutEventAttributes;
    const entry = open.get(String((completed ?? failed ?? lost)?.scheduledEventId));
    if (!entry) return [];
    delete entry.running;
    const reason = (failed ?? lost)?.failure?.message ?? 'no answer';
    Object.assign(
      entry,
      completed ? readNotified(valueOf(completed.result)) : { failed: [{ type: 'notification', reason }] },
    );
    return [];
  });
}

const isKind = (kind: unknown): kind is Notification['kind'] =>
  kind === 'requested' || kind === 'reminder' || kind === 'reassigned';

function readNotified(value: unknown): Notified {
  const { told, failed } = (value ?? {}) as Partial<Record<keyof Notified, unknown>>;
  const isFailure = (one: unknown): one is Notified['failed'][number] => {
    const { type, reason } = (one ?? {}) as Record<string, unknown>;
    return typeof type === 'string' && typeof reason === 'string';
  };
  return {
    told: Array.isArray(told) ? told.filter((one) => typeof one === 'string') : [],
    failed: Array.isArray(failed) ? failed.filter(isFailure).map(({ type, reason }) => ({ type, reason })) : [],
  };
}
