/** Where a session's words go: to the call that asked, and to the session above. */
import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ApprovalRequest, SealedDecision } from '../protocol/approval.ts';
import { callWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import { signalIfThere } from './external.ts';
import { decisionSignal } from './messages.ts';
import type { Session } from './session-state.ts';

/** Whether people can be reached from here, so that requests stop here. */
export const holds = (self: Session): boolean => self.facts.channel !== null;

/** False when the call's run has ended. */
export const tellCall = (request: ApprovalRequest, decision: SealedDecision): Promise<boolean> =>
  signalIfThere(getExternalWorkflowHandle(callWorkflowId(request), request.runId), decisionSignal, decision);

/** False where there is no parent, or it is closed. */
export async function toParent(
  self: Session,
  send: (parent: ReturnType<typeof getExternalWorkflowHandle>) => Promise<boolean>,
): Promise<boolean> {
  const { parent } = self.facts;
  return parent !== undefined && send(getExternalWorkflowHandle(sessionWorkflowId(parent)));
}
