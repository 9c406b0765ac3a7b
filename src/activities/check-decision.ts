/**
 * Whether a decision may be taken, and what it comes to with those before it. A bad signature or a bad edit leaves the request
 * waiting. It is the first of two looks: whoever executes checks all of it again.
 */
import type { Quorum } from '../approval/quorum.ts';
import { type CountedDecision, admitDecision, anybodyMay, wayOut } from '../approval/verify.ts';
import type { ToolFacts } from '../policy/index.ts';
import type { ApprovalRequest, Decision, DecisionAnswerStatus } from '../protocol/approval.ts';
import { isCountersignError } from '../protocol/errors.ts';
import type { CallError } from '../protocol/outcome.ts';
import { type Tier, higherTier } from '../protocol/tool.ts';
import { countDecisions, requestFacts } from './authorise.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError } from './failure.ts';
import type { DecisionCheck } from './index.ts';
import { denial, judgeCall } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';

export interface DecisionToCheck {
  request: ApprovalRequest;
  decision: Decision;
  /** Decisions on the same request that were taken before and did not settle it, in their order. */
  collected?: Decision[];
}

export async function checkDecision(
  dependencies: Dependencies,
  { request, decision, collected = [] }: DecisionToCheck,
): Promise<DecisionCheck> {
  try {
    const session = await dependencies.sessions.read(request.session, { fresh: true });
    const edit = decision.arguments ? await judgeEdit(dependencies, session, request, decision.arguments) : undefined;
    if (edit && 'error' in edit) return invalidEdit(edit.error);
    const tool = dependencies.catalogue.get(request.tool) ?? standIn(request);
    const tier = edit ? higherTier(request.tier, edit.tier) : request.tier;
    const facts = requestFacts(dependencies, session, { ...request, tool, tier });
    const { approvals } = dependencies.settings().config;
    const counted: CountedDecision[] = [];
    for (const one of [...collected, decision]) {
      const admitted = admitDecision(one, { digest: request.digest, request: facts }, approvals, Date.now());
      if (admitted.ok) counted.push(admitted.counted);
      // What was good before and is no more (an approver was removed) counts no more.
      else if (one === decision)
        return badSignature(
          dependencies,
          request,
          decision,
          `${admitted.reason}${wayOut(admitted, anybodyMay(approvals))}`,
        );
    }
    // A session that was terminated told nobody: its requests stand above as if the calls could still run.
    if (session.state !== 'open') {
      const message = 'The session of the call is closed, so the call ends: nothing of it ran.';
      return { ok: false, closed: true, answer: { answer: 'not_pending', message } };
    }
    const result = countDecisions(dependencies, session, tool, tier, counted);
    const decisions = result.by.map((one) => one.decision);
    if (result.state !== 'more') return { ok: true, complete: true, verified: result.verified, decisions };
    const { have, need } = result;
    return { ok: true, complete: false, decisions, agreed: { have, need }, message: soFar(result) };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return refusal('not_pending', `The request can't be decided any more: ${error.message}`);
  }
}

function soFar({ have, need, note, dropped }: Extract<Quorum, { state: 'more' }>): string {
  const names = dropped.map(({ decision }) => decision.approver).join(' and ');
  const lost =
    dropped.length === 0
      ? ''
      : dropped.length === 1
        ? `; the approval of ${names}, with other arguments, no longer counts`
        : `; the approvals of ${names}, with other arguments, no longer count`;
  return `${note === undefined ? '' : `${note} `}${have} of ${need} approvers agree so far${lost}.`;
}

/** Edited arguments are validated and judged like any others. */
async function judgeEdit(
  dependencies: Dependencies,
  session: KnownSession,
  { tool }: ApprovalRequest,
  edited: NonNullable<Decision['arguments']>,
): Promise<{ tier: Tier } | { error: CallError }> {
  try {
    const judged = await judgeCall(dependencies, session, { tool, arguments: edited });
    if (!judged.ok) return judged;
    return judged.judgement.verdict === 'deny' ? { error: denial(judged.judgement) } : judged.judgement;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return { error: toCallError(error) };
  }
}

/** A tool that this worker no longer has: its requests can still be denied. */
const standIn = ({ tool, tier }: ApprovalRequest): ToolFacts => ({
  name: tool,
  tier,
  effect: 'once',
  groups: [],
  needs: [],
});

function badSignature(
  { log }: Dependencies,
  { session, callId, tool }: ApprovalRequest,
  { approver }: Decision,
  reason: string,
): DecisionCheck {
  log.warn({ session, callId, tool, approver, reason }, 'a decision was refused; the request still waits');
  return refusal('bad_signature', `${reason} The request still waits.`);
}

const refusal = (answer: DecisionAnswerStatus, message: string): DecisionCheck => ({
  ok: false,
  answer: { answer, message },
});

const invalidEdit = ({ message, field }: CallError): DecisionCheck => ({
  ok: false,
  answer: {
    answer: 'invalid_edit',
    message: `The edited arguments were refused and the request still waits: ${message}`,
    ...(field !== undefined && { field }),
  },
});
