/** The doors of both workflows, typed. Names are the wire's (src/protocol/names.ts). */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  ApprovalDetails,
  ApprovalRequest,
  Decision,
  DecisionAnswer,
  Escalation,
  RequestStanding,
  SealedDecision,
  Withdrawal,
} from '../protocol/approval.ts';
import type { AmendAnswer, Amendment, Settled } from '../protocol/call.ts';
import { CONFIG_CHANGED, type ConfigRecord, type ConfigReport } from '../protocol/config-change.ts';
import { CONTROL_MESSAGE, type ControlRequest, type Halt, type Resume } from '../protocol/control.ts';
import type { Grant, GrantAnswer, Revocation } from '../protocol/grant.ts';
import type { CallName } from '../protocol/ids.ts';
import { CALL_MESSAGE, SESSION_MESSAGE } from '../protocol/names.ts';
import type {
  ChildAnswer,
  ChildEnded,
  ChildRequest,
  OpenedAnswer,
  SessionNotice,
  SessionState,
  SessionView,
} from '../protocol/session.ts';

export const settleUpdate = defineUpdate<Settled, [number]>(CALL_MESSAGE.settle);
export const amendUpdate = defineUpdate<AmendAnswer, [Amendment]>(CALL_MESSAGE.amend);
export const decisionSignal = defineSignal<[SealedDecision]>(CALL_MESSAGE.decision);
export const sessionClosingSignal = defineSignal(CALL_MESSAGE.sessionClosing);
export const approvalQuery = defineQuery<ApprovalDetails | null>(CALL_MESSAGE.approval);

export const openedUpdate = defineUpdate<OpenedAnswer>(SESSION_MESSAGE.opened);
export const openChildUpdate = defineUpdate<ChildAnswer, [ChildRequest]>(SESSION_MESSAGE.openChild);
export const decideUpdate = defineUpdate<DecisionAnswer, [Decision]>(SESSION_MESSAGE.decide);
export const decideSignal = defineSignal<[Decision]>(SESSION_MESSAGE.decide);
export const closeUpdate = defineUpdate<{ state: SessionState }, [string]>(SESSION_MESSAGE.close);
export const closeSignal = defineSignal<[string]>(SESSION_MESSAGE.close);
export const requestApprovalSignal = defineSignal<[ApprovalRequest]>(SESSION_MESSAGE.requestApproval);
export const withdrawApprovalSignal = defineSignal<[Withdrawal]>(SESSION_MESSAGE.withdrawApproval);
export const escalateSignal = defineSignal<[Escalation]>(SESSION_MESSAGE.escalate);
export const notifySignal = defineSignal<[SessionNotice]>(SESSION_MESSAGE.notify);
export const childEndedSignal = defineSignal<[ChildEnded]>(SESSION_MESSAGE.childEnded);
export const addGrantUpdate = defineUpdate<GrantAnswer, [Grant]>(SESSION_MESSAGE.addGrant);
export const revokeGrantUpdate = defineUpdate<GrantAnswer, [Revocation]>(SESSION_MESSAGE.revokeGrant);
export const grantsQuery = defineQuery<Grant[]>(SESSION_MESSAGE.grants);
export const viewQuery = defineQuery<SessionView>(SESSION_MESSAGE.view);
export const pendingQuery = defineQuery<ApprovalRequest[]>(SESSION_MESSAGE.pending);
export const standingQuery = defineQuery<RequestStanding | null, [CallName]>(SESSION_MESSAGE.standing);

export const haltUpdate = defineUpdate<Halt | null, [ControlRequest]>(CONTROL_MESSAGE.halt);
export const resumeUpdate = defineUpdate<Halt | null, [Resume]>(CONTROL_MESSAGE.resume);
export const configChangedUpdate = defineUpdate<ConfigRecord, [ConfigReport]>(CONFIG_CHANGED);
