/** What a session does with requests and decisions: pure functions over its carried state. */
import {
  type ApprovalRequest,
  type CollectedDecision,
  type Decision,
  type DecisionAnswer,
  REFUSALS,
  type RefusalCode,
  type RequestStanding,
  type SealedDecision,
  type Withdrawal,
} from '../protocol/approval.ts';
import type { CallName } from '../protocol/ids.ts';
import { isSameJson } from '../protocol/json.ts';
import { LIMITS } from '../protocol/limits.ts';

/** A decision taken, remembered to answer its repeats. */
export interface Decided {
  digest: string;
  decision: 'approve' | 'deny';
  approver: string;
  /** Hash of the edited arguments, where there were any. */
  edit?: number;
}

/** A request that waits, with the decisions that count so far where several approvers have to agree. */
export interface WaitingRequest {
  request: ApprovalRequest;
  collected: CollectedDecision[];
}

/** Requests that wait and decisions taken, by {@link approvalKey}, oldest first. Plain data: it is carried over continue-as-new. */
export interface Approvals {
  pending: Record<string, WaitingRequest>;
  decided: Record<string, Decided>;
}

export const noApprovals = (): Approvals => ({ pending: {}, decided: {} });

export const approvalKey = ({ session, callId }: CallName): string => `${session}/${callId}`;

/** How the call's request stands here; null where none waits. */
export function standing(approvals: Approvals, call: CallName): RequestStanding | null {
  const waiting = approvals.pending[approvalKey(call)];
  return waiting ? { digest: waiting.request.digest, collected: waiting.collected } : null;
}

/** Bytes of requests, about: all of it is carried along when the session continues as new, by at most two million with all else. */
const REQUEST_BYTES = 1_200_000;

/** Takes a request in; false where the session holds as many as it may. Requests past their expiry make room. */
export function addRequest(approvals: Approvals, request: ApprovalRequest, now: number, limit: number): boolean {
  const key = approvalKey(request);
  const fits = (): boolean => {
    const others = Object.entries(approvals.pending).filter(([name]) => name !== key);
    const bytes = others.reduce((sum, [, waiting]) => sum + roughBytes(waiting.request), roughBytes(request));
    return others.length < limit && bytes <= REQUEST_BYTES;
  };
  if (!fits()) {
    dropWhere(approvals.pending, ({ request: { expiresAt } }) => expiresAt < now);
    if (!fits()) return false;
  }
  // A request that is asked again, because something that was no decision came to it, keeps what counts already.
  const collected = approvals.pending[key]?.request.digest === request.digest ? approvals.pending[key].collected : [];
  approvals.pending[key] = { request, collected };
  return true;
}

/** With the key that it stands under; a tool's name may be of any script. */
const roughBytes = ({ session, callId, tool, route }: ApprovalRequest): number =>
  400 + 2 * (session.length + callId.length) + 3 * tool.length + route.reduce((sum, id) => sum + id.length + 3, 0);

/** Removes the request of that very run. */
export function withdraw(approvals: Approvals, withdrawal: Withdrawal): void {
  const key = approvalKey(withdrawal);
  if (approvals.pending[key]?.request.runId === withdrawal.runId) delete approvals.pending[key];
}

/** Removes what waits below a child session that has ended. */
export function withdrawRoute(approvals: Approvals, session: string): void {
  dropWhere(approvals.pending, ({ request }) => request.route.includes(session));
}

/** Either the answer, or the request that the decision is for. */
export function matchDecision(
  approvals: Approvals,
  decision: Decision,
): { answer: DecisionAnswer } | { waiting: WaitingRequest } {
  const key = approvalKey(decision);
  const waiting = approvals.pending[key];
  if (waiting) {
    const same = waiting.request.digest === decision.digest;
    if (same && !decision.repeat) return { waiting };
    const what = same
      ? 'It waits, and you have not seen it: look at it'
      : 'What waits is not what you decided on: look at it again';
    const message = `${what} (countersign show) and decide anew.`;
    return { answer: { answer: 'digest_mismatch', message } };
  }
  const before = approvals.decided[key];
  if (!before || before.digest !== decision.digest) {
    const message = 'Nothing waits for a decision under this name: it has ended, expired, or never asked.';
    return { answer: { answer: 'not_pending', message } };
  }
  if (before.decision === decision.decision && before.edit === editHash(decision)) {
    return { answer: { answer: 'already_decided', message: `${before.approver} decided the same before.` } };
  }
  const message = `${before.approver} decided otherwise before (${inWords(before, decision)}); that decision stands.`;
  return { answer: { answer: 'conflict', message } };
}

/** What was decided before; of two approvals, also how they differ. */
function inWords({ decision: taken, edit }: Decided, { arguments: edited }: Decision): string {
  if (taken === 'deny') return 'denied';
  if (edit === undefined) return edited ? 'approved without an edit' : 'approved';
  return edited ? 'approved with another edit' : 'approved with edited arguments';
}

/** The decisions that count by now, each since it was taken. */
export const collectedOf = (
  decisions: readonly Decision[],
  before: readonly CollectedDecision[],
  now: number,
): CollectedDecision[] =>
  decisions.map((decision) => ({
    decision,
    takenAt: before.find((one) => isSameJson(one.decision, decision))?.takenAt ?? now,
  }));

/** Remembers a decision that the call has received. */
export function settle(approvals: Approvals, decision: SealedDecision): void {
  const key = approvalKey(decision);
  delete approvals.pending[key];
  const edit = editHash(decision);
  approvals.decided[key] = {
    digest: decision.digest,
    decision: decision.decision,
    approver: decision.approver,
    ...(edit !== undefined && { edit }),
  };
  for (const oldest of Object.keys(approvals.decided).slice(0, -LIMITS.decisions)) delete approvals.decided[oldest];
}

/** The session's own answer where no person can be asked, or to no purpose. */
export function refuse(request: ApprovalRequest, code: RefusalCode): SealedDecision {
  const { session, callId, digest } = request;
  return {
    session,
    callId,
    digest,
    decision: 'deny',
    approver: 'countersign',
    verified: false,
    decisions: [],
    code,
    reason: REFUSALS[code],
  };
}

/** 32-bit FNV-1a of the edited arguments, enough to tell a repeat from another edit; nothing is secured by it. */
function editHash(decision: Decision): number | undefined {
  if (!decision.arguments) return undefined;
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify(decision.arguments)) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}

function dropWhere<T>(record: Record<string, T>, unwanted: (value: T) => boolean): void {
  for (const [key, value] of Object.entries(record)) if (unwanted(value)) delete record[key];
}
