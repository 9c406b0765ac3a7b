/** What outcomes say of decisions and grants: pure, for the call that says it and the audit that checks it. */
import type { SealedDecision } from './approval.ts';
import type { StandingGrant } from './grant.ts';
import type { ApprovalRecord } from './outcome.ts';

/** What an outcome says of the decision; undefined where no person decided. */
export function approvalRecord(sealed: SealedDecision): ApprovalRecord | undefined {
  const { approver, verified, decision, reason, arguments: edited, grant, decisions, override, code } = sealed;
  if (code) return undefined;
  return {
    approver,
    verified,
    decision,
    ...(reason !== undefined && { reason }),
    ...(edited && { edited: true as const, arguments: edited }),
    ...(grant && { grant: grant.id }),
    ...(decisions.length > 1 && { approvers: decisions.map((one) => one.approver) }),
    ...(override && { override: true as const }),
  };
}

/** What an outcome says of a grant that answered policy's question before anyone was asked. */
export const grantRecord = ({ grant, verified }: StandingGrant): ApprovalRecord => ({
  approver: grant.by,
  verified,
  decision: 'approve',
  grant: grant.id,
});
