/** Tells the people of a channel that a request waits. The inbox is the listing itself, so telling it is a line in the log. */
import { type ApprovalRequest, shortCode } from '../protocol/approval.ts';
import type { Dependencies } from './dependencies.ts';

export async function notifyApprover(
  { log }: Dependencies,
  { channel, request }: { channel: string; request: ApprovalRequest },
): Promise<void> {
  const { tool, session, callId, tier, digest, route } = request;
  log.warn(
    { channel, session, callId, tool, tier, route },
    `approval needed: ${tool} (${tier}) ${shortCode(digest)}; countersign show '${shortCode(digest)}'`,
  );
}
