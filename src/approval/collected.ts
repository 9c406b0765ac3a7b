/** Decisions that were taken and do not settle a request yet. Apart from quorum.ts, because whoever shows them needs no policy. */
import canonicalize from 'canonicalize';
import type { ApprovalRequest, CollectedDecision, Decision } from '../protocol/approval.ts';
import { isSameJson } from '../protocol/json.ts';

/** Whether both would have the same run: what was asked for, or the same arguments in place of it. */
export const sameContent = (one: Decision, other: Decision | undefined): boolean =>
  other !== undefined && isSameJson(one.arguments, other.arguments);

/**
 * Of what a session says that it has collected, the approvals of exactly this request that agree with the last one. Anybody in the
 * namespace may have started that session, so nothing else of what it says is believed.
 */
export function approvalsOn(
  { session, callId, digest }: Pick<ApprovalRequest, 'session' | 'callId' | 'digest'>,
  collected: readonly CollectedDecision[],
): CollectedDecision[] {
  const on = collected.filter(
    ({ decision: one }) =>
      one.decision === 'approve' &&
      one.digest === digest &&
      one.session === session &&
      one.callId === callId &&
      isCanonical(one.arguments),
  );
  return on.filter(({ decision }) => sameContent(decision, on.at(-1)?.decision));
}

/** What has no canonical form can be neither signed nor named by a digest. */
function isCanonical(value: unknown): boolean {
  try {
    canonicalize(value);
    return true;
  } catch {
    return false;
  }
}
