/** Says what becomes of one attempt. It changes nothing; a quick read that may run is run here, in the same workflow task. */
import { cancellationSignal } from '@temporalio/activity';
import { approvalDigest } from '../approval/digest.ts';
import type { PrepareInput } from '../protocol/call.ts';
import { isCountersignError } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Ask, Execution, Plan, Prepared } from '../protocol/outcome.ts';
import { fingerprint } from '../tools/catalogue.ts';
import type { Tool } from '../tools/define-tool.ts';
import { type Caller, caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError } from './failure.ts';
import { type Judged, denial, judgeCall } from './judge-call.ts';
import { runTool } from './run-tool.ts';
import type { KnownSession } from './session-reader.ts';

export async function prepareCall(dependencies: Dependencies, input: PrepareInput): Promise<Prepared> {
  try {
    const from = caller();
    const session = await dependencies.sessions.read(from.session, { fresh: false });
    const judged = await judgeCall(dependencies, session, input);
    if (!judged.ok) return refused(judged.error);
    return await act(dependencies, from, session, judged);
  } catch (error) {
    // What is not an error of ours is the surroundings' (the server away): the workflow prepares again.
    if (!isCountersignError(error)) throw error;
    return refused(toCallError(error));
  }
}

/** Only the caller can mend a ValidationError; the rest is final. */
const refused = (error: ReturnType<typeof toCallError>): Prepared =>
  error.kind === 'ValidationError' ? { verdict: 'invalid', error } : { verdict: 'deny', error };

async function act(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  { tool, arguments: args, judgement }: Extract<Judged, { ok: true }>,
): Promise<Prepared> {
  const plan: Plan = { effect: tool.effect, limits: tool.limits };
  switch (judgement.verdict) {
    case 'deny':
      return { verdict: 'deny', judgement, error: denial(judgement) };
    case 'ask':
      return { verdict: 'ask', judgement, plan, ask: ask(dependencies, from, session, tool, args) };
    case 'run': {
      const result = await runQuick(dependencies, from, session, tool, args, judgement);
      return { verdict: 'run', judgement, plan, ...(result && { result }) };
    }
  }
}

function ask(
  { settings }: Dependencies,
  { session, callId, runId }: Caller,
  { facts }: KnownSession,
  tool: Tool,
  args: PrepareInput['arguments'],
): Ask {
  const { workspace, agent } = facts;
  const expiresAt = Date.now() + (settings().config.approvals?.timeoutMs ?? LIMITS.approvalMs);
  const content = { runId, expiresAt, arguments: args, fingerprint: fingerprint(tool), workspace };
  return { digest: approvalDigest({ session, callId, tool: tool.name, ...content }), agent, ...content };
}

/** The outcome of a quick read, or undefined where it is none, may not start now, or took too long: it then runs as an ordinary activity. */
async function runQuick(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  tool: Tool,
  args: PrepareInput['arguments'],
  judgement: Extract<Judged, { ok: true }>['judgement'],
): Promise<Execution | undefined> {
  const { quickMs } = tool.limits;
  if (quickMs === undefined || tool.effect !== 'read' || judgement.tier !== 'read_only') return undefined;
  if (dependencies.halted()) return undefined;
  const execution = await runTool(dependencies, {
    from,
    session,
    tool,
    arguments: args,
    allowElevated: false,
    limitMs: quickMs,
    signal: cancellationSignal(),
    progress: () => undefined,
  });
  return execution.status === 'timed_out' ? undefined : execution;
}
