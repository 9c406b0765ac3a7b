/**
 * The only authority to run a tool. What the workflow says is checked again here, in the order of the file:
 * who calls (Temporal says), what the session is (read anew), what policy says now, whether a person's decision is
 * bound to exactly this and signed as required (authorise.ts), and, for a `once` tool, whether its one try was claimed before.
 */
import { cancellationSignal, Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { callContent } from '../approval/digest.ts';
import {
  type SealedCommand,
  claimTry,
  readClaim,
  recordExecution,
  sealCommand,
  spendApproval,
  useApproval,
} from '../context/index.ts';
import type { Config } from '../config/index.ts';
import type { ExecuteInput } from '../protocol/call.ts';
import { type ErrorCode, callError, isCountersignError } from '../protocol/errors.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { Execution } from '../protocol/outcome.ts';
import type { Tool } from '../tools/define-tool.ts';
import { type Allowed, Refused, authorise } from './authorise.ts';
import { type Caller, caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError, toExecution } from './failure.ts';
import { startHeartbeat } from './heartbeat.ts';
import { runTool } from './run-tool.ts';
import type { KnownSession } from './session-reader.ts';

export async function executeTool(dependencies: Dependencies, input: ExecuteInput): Promise<Execution> {
  const beat = startHeartbeat();
  try {
    const from = caller();
    if (input.recover) return await recorded(dependencies, from);
    const { facts } = await dependencies.sessions.read(from.session, { fresh: false });
    const turn = await waitForSlot(dependencies, facts.agent, input);
    if ('held' in turn) return turn.held;
    using _slot = turn.slot;
    // Only now, for the wait may have been long.
    const halt = dependencies.halted();
    if (halt) return held('halted', `${halt.by} halted the service: ${halt.reason}`);
    const session = await dependencies.sessions.read(from.session, { fresh: true });
    beat.running();
    const allowed = await authorise(dependencies, from, session, input);
    return await perform(dependencies, from, session, allowed, beat.progress);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return error instanceof Refused ? { status: 'refused', error: toCallError(error) } : toExecution(error);
  } finally {
    beat.stop();
  }
}

/** Nothing ran and nothing was claimed: the workflow may ask again. */
const held = (code: ErrorCode, message: string): Execution => ({ status: 'held', error: callError(code, message) });

/** As the workflow's `startToCloseTimeout` runs meanwhile. */
const TURN_MS = 30_000;

/**
 * The agent's turn, or why the call is held: the worker shuts down, the turn does not come soon, or as many wait as may and a person's decision
 * must not be lost for that.
 */
async function waitForSlot(
  { slots }: Dependencies,
  agent: string,
  { approval }: ExecuteInput,
): Promise<{ slot: Disposable } | { held: Execution }> {
  const stop = cancellationSignal();
  const late = AbortSignal.timeout(TURN_MS);
  try {
    return { slot: await slots.take(agent, AbortSignal.any([stop, late])) };
  } catch (error) {
    const shutDown = stop.aborted && !Context.current().cancellationDetails?.cancelRequested;
    if (shutDown) return { held: held('worker_lost', 'The worker shut down before the tool ran.') };
    if (late.aborted && !stop.aborted)
      return {
        held: held(
          'too_many_calls',
          `Agent ${agent} has as many calls running as it may (limits.running); this one waits for its turn.`,
        ),
      };
    if (approval && isCountersignError(error) && error.code === 'too_many_calls')
      return { held: held('too_many_calls', error.message) };
    throw error;
  }
}

async function perform(
  dependencies: Dependencies,
  from: Caller,
  session: KnownSession,
  allowed: Allowed,
  progress: (text: string) => void,
): Promise<Execution> {
  const { stateDir } = dependencies;
  const { tool } = allowed;
  const content = callContent(tool.name, allowed.arguments);
  if (tool.effect === 'once') {
    const claim = await claimTry(stateDir, { ...from, content });
    if (!claim.claimed) return claim.sameContent ? (claim.execution ?? unknown(from)) : reused(from);
  }
  const approval = tool.effect === 'once' ? undefined : allowed.approved?.digest;
  if (approval !== undefined && !(await useApproval(stateDir, approval, tool.limits.maxTries))) return spent();
  await using sealed = allowed.approved?.binding && (await sealCommand(stateDir, allowed.approved.binding));
  const runs = sealed ? asSealed(allowed, sealed) : asJudged(allowed, dependencies.settings().config);
  const execution = await runTool(dependencies, {
    from,
    session,
    tool,
    arguments: runs,
    subjects: allowed.subjects,
    ...(sealed && { sealed: sealed.files }),
    allowElevated: reachesOut({ ...allowed, arguments: runs }),
    limitMs: tool.limits.timeoutMs,
    signal: cancellationSignal(),
    progress,
  });
  const final = cancellationSignal().aborted ? stopped(tool, execution) : execution;
  if (tool.effect === 'once') await record(dependencies, from, final);
  if (approval !== undefined && final.status !== 'timed_out') await spendApproval(stateDir, approval);
  // Temporal's own cancellation tells the workflow; what was recorded tells whoever asks again.
  if (final.status === 'failed' && final.error.code === 'cancelled') throw new CancelledFailure(final.error.message);
  return final;
}

/** A record that cannot be written changes nothing of what happened: the workflow has the outcome. */
async function record({ stateDir, log }: Dependencies, from: Caller, execution: Execution): Promise<void> {
  try {
    await recordExecution(stateDir, from, execution);
  } catch (error) {
    log.error({ ...from, error: String(error) }, 'the outcome of a claimed try could not be recorded');
  }
}

/** What is elevated gets hands that reach past the workspace and the sandbox, as does a command that a rule lets run outside. */
const reachesOut = ({ tool, arguments: args, judgement }: Pick<Allowed, 'tool' | 'arguments' | 'judgement'>): boolean =>
  judgement.tier === 'elevated' ||
  tool.subjects(args).some((subject) => subject.kind === 'command' && !subject.sandbox);

/**
 * A command that policy took apart and let run is run in its rebuilt form, so that what was judged is what runs. One that was let run
 * because it is harmless runs in the sandbox all the same, for it needs nothing outside: a link that is swapped, or a program of its
 * name that was planted, between the judging and the run then leads nowhere.
 */
function asJudged({ arguments: args, judgement }: Allowed, { shell }: Config): JsonObject {
  if (judgement.verdict !== 'run' || judgement.command === undefined) return args;
  const command = { ...args, command: judgement.command };
  return judgement.rule === 'shell.safe_bin' && shell.backend === 'sandbox' ? { ...command, sandbox: true } : command;
}

/** An approved command runs in the folder that was approved, and its scripts from the copies made of what was approved. */
const asSealed = ({ arguments: args, approved }: Allowed, { command }: SealedCommand): JsonObject => ({
  ...args,
  command,
  cwd: approved?.binding?.bound.cwd ?? '.',
});

/** What an execution that was aborted from outside has come to: that depends on who stopped it. */
function stopped(tool: Tool, execution: Execution): Execution {
  if (execution.status === 'completed' || Context.current().cancellationDetails?.cancelRequested) return execution;
  // The worker shuts down, or the server has given this try up: nobody asked for the call to end.
  if (tool.effect === 'once') {
    return { status: 'unknown', error: callError('outcome_unknown', 'The worker shut down while the tool ran.') };
  }
  return { status: 'timed_out', error: callError('worker_lost', 'The worker shut down while the tool ran.') };
}

async function recorded({ stateDir }: Dependencies, from: Caller): Promise<Execution> {
  return (await readClaim(stateDir, from))?.execution ?? unknown(from);
}

const unknown = ({ session, callId }: Caller): Execution => ({
  status: 'unknown',
  error: callError(
    'outcome_unknown',
    `The worker was lost while call ${session}/${callId} ran, so nobody can say whether it happened. Look before you call again.`,
  ),
});

const spent = (): Execution => ({
  status: 'denied',
  error: callError('approval_missing', 'This approval has served its execution. Call again to ask for another.'),
});

const reused = ({ session, callId }: Caller): Execution => ({
  status: 'denied',
  error: callError(
    'call_id_reused',
    `Call id ${session}/${callId} ran before with other content; ids are never reused.`,
  ),
});
