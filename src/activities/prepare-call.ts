/** Says what becomes of one attempt. It changes nothing; a quick read that may run is run here, in the same workflow task. */
import { cancellationSignal } from '@temporalio/activity';
import { type Approver, type Asked, hasEnded, mayDecide } from '../approval/approvers.ts';
import { approvalDigest } from '../approval/digest.ts';
import { redact } from '../approval/redact.ts';
import { requiredFor } from '../approval/quorum.ts';
import type { LadderStep, RoleAsked } from '../protocol/approval.ts';
import type { PrepareInput } from '../protocol/call.ts';
import { isCountersignError } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Ask, CallError, Execution, Plan, Prepared } from '../protocol/outcome.ts';
import { fingerprint } from '../tools/catalogue.ts';
import { bindCall } from './bind-call.ts';
import { type Caller, caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError } from './failure.ts';
import { coveringGrant } from './grants.ts';
import { type Judged, denial, judgeCall } from './judge-call.ts';
import { previewCall, requestMarkdown } from './preview.ts';
import { runTool } from './run-tool.ts';
import type { KnownSession } from './session-reader.ts';

export async function prepareCall(dependencies: Dependencies, input: PrepareInput): Promise<Prepared> {
  try {
    const from = caller();
    const session = await dependencies.sessions.read(from.session, { fresh: false });
    const judged = await judgeCall(dependencies, session, input);
    if (!judged.ok) return refused(dependencies, judged.error);
    return await act(dependencies, from, session, judged);
  } catch (error) {
    // What is not an error of ours is the surroundings' (the server away): the workflow prepares again.
    if (!isCountersignError(error)) throw error;
    return refused(dependencies, toCallError(error));
  }
}

/** Only the caller can mend a ValidationError; the rest is final. */
function refused({ settings }: Dependencies, error: CallError): Prepared {
  if (error.kind !== 'ValidationError') return { verdict: 'deny', error };
  // Other arguments make no tool of a name that is none.
  const correctionMs = error.code === 'unknown_tool' ? 0 : settings().config.limits.correctionMs;
  return { verdict: 'invalid', error, correctionMs };
}

async function act(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  judged: Extract<Judged, { ok: true }>,
): Promise<Prepared> {
  const { tool, judgement } = judged;
  const plan: Plan = { effect: tool.effect, limits: tool.limits };
  switch (judgement.verdict) {
    case 'deny':
      return { verdict: 'deny', judgement, error: denial(judgement) };
    case 'ask':
      return askOrGranted(dependencies, from, session, judged, plan);
    case 'run': {
      const result = await runQuick(dependencies, from, session, judged);
      if (!result) askAhead(dependencies, from);
      return { verdict: 'run', judgement, plan, ...(result && { result }) };
    }
  }
}

/** The execution follows in milliseconds and wants the session's state of then: the answer is on its way meanwhile. */
function askAhead({ sessions }: Dependencies, { session }: Caller): void {
  sessions.read(session, { fresh: true }).catch(() => undefined);
}

/** A grant is looked for only where a person would have to be asked. */
async function askOrGranted(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  judged: Extract<Judged, { ok: true }>,
  plan: Plan,
): Promise<Prepared> {
  const { judgement } = judged;
  const grant = await coveringGrant(dependencies, session, judged);
  if (grant) return { verdict: 'run', judgement, plan, grant };
  return { verdict: 'ask', judgement, plan, ask: await ask(dependencies, from, session, judged) };
}

/** Who may decide is told to the waiting call's page and listings, so not without end. */
const NAMES_SHOWN = 50;
/** Characters of the line that listings show. */
const SUMMARY_LENGTH = 200;

async function ask(
  dependencies: Dependencies,
  { session, callId, runId }: Caller,
  known: KnownSession,
  judged: Extract<Judged, { ok: true }>,
): Promise<Ask> {
  const { facts } = known;
  const { tool, judgement } = judged;
  const { approvals, groups } = dependencies.settings().config;
  const bound = (await bindCall(dependencies, known, judged))?.bound;
  const requestedAt = Date.now();
  const content = {
    runId,
    agent: facts.agent,
    requestedAt,
    // Waiting always ends.
    expiresAt: requestedAt + (approvals.onTimeout === 'wait' ? LIMITS.approvalMostMs : approvals.timeoutMs),
    arguments: judged.arguments,
    fingerprint: fingerprint(tool),
    workspace: facts.workspace,
    ...(bound && { bound }),
  };
  const asked: Asked = { tool, tier: judgement.tier, agent: facts.agent, ...(groups && { groups }) };
  const able = approvals.approvers.filter((approver) => mayDecide(approver, asked) && !hasEnded(approver, requestedAt));
  const roles = rolesAsked(approvals.ladder, able, content);
  const preview = await previewCall(dependencies, known, callId, judged, cancellationSignal());
  const whole = {
    digest: approvalDigest({ session, callId, tool: tool.name, ...content }),
    ...content,
    required: requiredFor(approvals, asked),
    approvers: namesOf(able),
    ladder: approvals.ladder,
    ...(roles.length > 0 && { roles }),
    route: [facts.id, ...known.above.map(({ id }) => id)],
    ...(preview && { preview }),
    summary: redact(tool.summary(judged.arguments)).slice(0, SUMMARY_LENGTH),
  };
  return { ...whole, markdown: requestMarkdown({ session, callId, runId }, tool.name, whole, judgement) };
}

const namesOf = (approvers: readonly Approver[]): string[] => approvers.slice(0, NAMES_SHOWN).map(({ name }) => name);

/** Whom the ladder's roles stand for, of those who may decide. */
const rolesAsked = (
  ladder: readonly LadderStep[],
  able: readonly Approver[],
  { requestedAt, expiresAt }: { requestedAt: number; expiresAt: number },
): RoleAsked[] =>
  ladder.flatMap(({ afterMs, role }) => {
    const at = requestedAt + afterMs;
    if (role === undefined || at >= expiresAt) return [];
    return [{ role, at, approvers: namesOf(able.filter(({ roles }) => roles?.includes(role))) }];
  });

/** The outcome of a quick read, or undefined where it is none, may not start now, or took too long: it then runs as an ordinary activity. */
async function runQuick(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  { tool, arguments: args, subjects, judgement }: Extract<Judged, { ok: true }>,
): Promise<Execution | undefined> {
  const { quickMs } = tool.limits;
  if (quickMs === undefined || tool.effect !== 'read' || judgement.tier !== 'read_only') return undefined;
  if (dependencies.halted()) return undefined;
  const execution = await runTool(dependencies, {
    from,
    session,
    tool,
    arguments: args,
    subjects,
    allowElevated: false,
    limitMs: quickMs,
    signal: cancellationSignal(),
    progress: () => undefined,
  });
  return execution.status === 'timed_out' ? undefined : execution;
}
