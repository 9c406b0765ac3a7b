/** What a session's history says of the people who were told of requests. */
import type { Notification, Notified } from '../protocol/approval.ts';
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
      const asked = valueOf<Notification>(scheduled.input);
      if (!asked) return [];
      const { channel, kind, role, request } = asked;
      const entry: NotifiedEntry = {
        at: new Date(timeOf(event)).toISOString(),
        what: 'notified',
        session: request.session,
        callId: request.callId,
        channel,
        kind,
        ...(role !== undefined && { role }),
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
      completed ? valueOf<Notified>(completed.result) : { failed: [{ type: 'notification', reason }] },
    );
    return [];
  });
}
