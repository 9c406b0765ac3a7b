/**
 * What may run, found out anew where it runs. Nothing that the workflow says is believed: not the decision's `verified`, not who
 * approved, not how many, not what was shown. All of it follows from the arguments, the session's record, the files and the configuration of now.
 */
import { approvalDigest } from '../approval/digest.ts';
import { type Quorum, quorum, requiredFor } from '../approval/quorum.ts';
import { type CountedDecision, type RequestFacts, admitDecision } from '../approval/verify.ts';
import type { CommandBinding } from '../context/index.ts';
import type { ResolvedSubject, ToolFacts } from '../policy/index.ts';
import { isSealedAs, sealedDecisions } from '../protocol/approval.ts';
import type { Approval, ExecuteInput } from '../protocol/call.ts';
import { CountersignError, type ErrorCode } from '../protocol/errors.ts';
import type { StandingGrant } from '../protocol/grant.ts';
import type { JsonObject } from '../protocol/json.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Judgement } from '../protocol/outcome.ts';
import { type Tier, higherTier } from '../protocol/tool.ts';
import { fingerprint } from '../tools/catalogue.ts';
import type { Tool } from '../tools/define-tool.ts';
import { bindCall } from './bind-call.ts';
import type { Caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import { type Judged, denial, judgeCall } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';
import { standingGrant } from './standing-grant.ts';

export interface Allowed {
  tool: Tool;
  /** What runs: the arguments asked for, or those that the approver put in their place. */
  arguments: JsonObject;
  judgement: Judgement;
  /** Of these arguments. */
  subjects: readonly ResolvedSubject[];
  /** Set where a person allowed it: one execution stands for this digest. */
  approved?: { digest: string; binding?: CommandBinding };
  /** Set where a grant stood in for a person. */
  granted?: StandingGrant;
}

type JudgedCall = Extract<Judged, { ok: true }>;

/** An approval is for now: this long after its request's expiry it is void, whoever kept it back. That it was used is known for longer (sweep.ts). */
const USE_WITHIN_MS = 24 * 60 * 60_000;

/** What was to let the call run does not hold. The request itself is sound, so that it may wait for something that does. */
export class Refused extends CountersignError {}

/** Throws what forbids the call; {@link Refused} where it is the decision or the grant alone. */
export async function authorise(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  input: ExecuteInput,
): Promise<Allowed> {
  const asked = await judged(dependencies, session, input.tool, input.arguments);
  const edited = input.approval?.decision.arguments;
  // An edit is what a person wants to run instead, also where policy has come to let the original run.
  if (asked.judgement.verdict === 'run' && !edited) return asked;
  if (!input.approval && input.grant) {
    const standing = await standingGrant(dependencies, session, asked, [input.grant]);
    if (standing) return { ...asked, granted: standing };
    throw new Refused('approval_missing', 'The grant does not cover this call (any more). Call again to ask a person.');
  }
  if (!input.approval) {
    throw new CountersignError('approval_missing', 'Policy asks for a person now. Call again to ask one.');
  }
  const asking = await bindCall(dependencies, session, asked);
  const { digest } = checkBinding(from, session, asked, asking, input.approval);
  // A person saw the edited arguments, so `ask` counts as run; `deny` has thrown already.
  const runs = edited ? await judged(dependencies, session, input.tool, edited) : asked;
  const tier = higherTier(asked.judgement.tier, runs.judgement.tier);
  checkDecisions(dependencies, from, session, { tool: asked.tool, tier, approval: input.approval, digest });
  const binding = edited ? await bindCall(dependencies, session, runs) : asking;
  return { ...runs, approved: { digest, ...(binding && { binding }) } };
}

async function judged(
  dependencies: Dependencies,
  session: KnownSession,
  tool: string,
  args: JsonObject,
): Promise<JudgedCall> {
  const result = await judgeCall(dependencies, session, { tool, arguments: args });
  if (!result.ok) throw new CountersignError(result.error.code as ErrorCode, result.error.message);
  if (result.judgement.verdict === 'deny') {
    const { code, message } = denial(result.judgement);
    throw new CountersignError(code, message);
  }
  return result;
}

/** What was asked for must be exactly this call, of this run, with this content; and the decision on that. */
function checkBinding(
  { session: id, callId, runId }: Caller,
  { facts }: KnownSession,
  asked: JudgedCall,
  binding: CommandBinding | undefined,
  { digest, requestedAt, expiresAt, decision }: Approval,
): { digest: string } {
  const own = approvalDigest({
    session: id,
    callId,
    runId,
    agent: facts.agent,
    tool: asked.tool.name,
    fingerprint: fingerprint(asked.tool),
    arguments: asked.arguments,
    workspace: facts.workspace,
    requestedAt,
    expiresAt,
    bound: binding?.bound,
  });
  if (own !== digest) {
    const message = 'What was approved is not what would run now. Nothing ran; call again to have it approved.';
    throw new CountersignError('digest_mismatch', message);
  }
  const on = decision.digest === own && decision.session === id && decision.callId === callId;
  if (!on || decision.decision !== 'approve') {
    throw new Refused('digest_mismatch', 'The decision is on something else than what waits. Nothing ran.');
  }
  if (!(Date.now() <= Math.min(expiresAt, requestedAt + LIMITS.approvalMostMs) + USE_WITHIN_MS)) {
    throw new CountersignError(
      'approval_expired',
      'The approval is too old to be used. Nothing ran; call again to have it approved.',
    );
  }
  return { digest: own };
}

/** Every decision must be a good one, and together they must be enough. */
function checkDecisions(
  dependencies: Dependencies,
  { session: id, callId }: Caller,
  session: KnownSession,
  { tool, tier, approval, digest }: { tool: Tool; tier: Tier; approval: Approval; digest: string },
): void {
  const { requestedAt, expiresAt, decision } = approval;
  const request = requestFacts(dependencies, session, { session: id, callId, requestedAt, expiresAt, tool, tier });
  const { approvals } = dependencies.settings().config;
  const counted: CountedDecision[] = [];
  for (const one of sealedDecisions(decision)) {
    const admitted = admitDecision(one, { digest, request }, approvals, Date.now());
    if (!admitted.ok) throw new Refused('bad_signature', `${admitted.reason} Nothing ran.`);
    counted.push(admitted.counted);
  }
  const result = countDecisions(dependencies, session, tool, tier, counted);
  switch (result.state) {
    case 'denied':
      throw new CountersignError('approval_denied', 'One of the approvers denied this call. Nothing ran.');
    case 'more':
      throw new Refused('approval_missing', `${result.have} of ${result.need} approvers agreed. Nothing ran.`);
    case 'approved':
      // The outcome repeats what the copy says.
      if (!isSealedAs(decision) || (decision.verified && !result.verified))
        throw new Refused('bad_signature', 'The record of the decision says more than the decision. Nothing ran.');
  }
}

/** What a decision is checked against, from what this worker knows itself. */
export function requestFacts(
  { settings }: Pick<Dependencies, 'settings'>,
  { facts }: KnownSession,
  { session, callId, requestedAt, expiresAt, tool, tier }: Omit<RequestFacts, 'agent' | 'groups'>,
): RequestFacts {
  const { groups } = settings().config;
  return { session, callId, requestedAt, expiresAt, tool, tier, agent: facts.agent, ...(groups && { groups }) };
}

/** Whether checked decisions are enough by the configuration of now. */
export function countDecisions(
  { settings }: Pick<Dependencies, 'settings'>,
  { facts }: KnownSession,
  tool: ToolFacts,
  tier: Tier,
  counted: readonly CountedDecision[],
): Quorum {
  const { approvals, groups } = settings().config;
  const required = requiredFor(approvals, { tool, tier, ...(groups && { groups }) });
  return quorum(counted, { required, owner: facts.owner });
}
