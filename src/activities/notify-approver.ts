/** Tells the people of a channel that a request waits. The inbox is the listing itself, so telling it is a line in the log. */
import { type Notification, type Notified, shortCode } from '../protocol/approval.ts';
import type { Dependencies } from './dependencies.ts';

export async function notifyApprover(
  { log }: Dependencies,
  { channel, request, kind, role }: Notification,
): Promise<Notified> {
  const { tool, session, callId, tier, digest, route } = request;
  log.warn(
    { channel, session, callId, tool, tier, route, kind, role },
    `approval needed: ${tool} (${tier}) ${shortCode(digest)}; countersign show '${shortCode(digest)}'`,
  );
  return { told: ['log'], failed: [] };
}
