/**
 * One tool call, from its arguments to its outcome. This file is the story; what is said to people lies in
 * call-state.ts, what policy and tools say comes from activities and is recorded by history.
 *
 *   prepare ─ invalid ─▶ wait for a correction, at most twice
 *           ─ deny ────▶ denied
 *           ─ ask ─────▶ ask the session, wait for a decision that holds ─▶ denied | expired | execute
 *           ─ run ─────▶ execute (a quick read was already executed by preparation)
 *   execute ─ timed out ▶ timer, next try (by effect)
 */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  allHandlersFinished,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { type LadderStep, REFUSALS, type SealedDecision, isSealedAs } from '../protocol/approval.ts';
import type { CallInput, ExecuteInput, PrepareInput } from '../protocol/call.ts';
import { callError } from '../protocol/errors.ts';
import { isAmendment, isCallInput, isExecution, readSealedDecision } from '../protocol/forms.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Ask, CallError, Execution, Outcome, Plan, Prepared } from '../protocol/outcome.ts';
import { HELD_BACKOFF, PREPARE_BACKOFF, backoffBefore } from './backoff.ts';
import { CallState } from './call-state.ts';
import { amendUpdate, approvalQuery, decisionSignal, sessionClosingSignal, settleUpdate } from './messages.ts';

/** One try inside preparation ends itself after a tool's `quickMs`; this bound is for a worker that hangs. */
const { prepareCall } = proxyLocalActivities<Activities>({
  summary: 'find the tool, check the arguments, judge',
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

const { checkDecision } = proxyLocalActivities<Activities>({
  summary: 'whether the denial is its approver’s',
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

/** A lost worker is noticed after this; shorter turned server outages of a few seconds into false losses. */
const HEARTBEAT_TIMEOUT_MS = 15_000;
/** On top of the tool's own time limit, which the activity keeps itself. */
const BACKSTOP_MS = 60_000;

const NO_CALL = 'A call is started with { "tool": "…", "arguments": { … } }.';
const NO_AMENDMENT = 'An amendment is { "arguments": { … }, "attempt": 1 }.';

export async function toolCall(input: CallInput): Promise<Outcome> {
  if (!isCallInput(input))
    return { status: 'invalid', error: callError('invalid_arguments', NO_CALL), attempts: 1, tries: 0 };
  const call = new CallState(input);
  // The workflow's own scope: another would be five promises, and promises are what workflow code costs (docs/performance.md).
  const scope = CancellationScope.current();
  setHandler(settleUpdate, (seen) => call.settle(seen));
  setHandler(amendUpdate, (amendment) => call.amend(amendment), {
    validator: (amendment) => {
      if (!isAmendment(amendment)) throw ApplicationFailure.nonRetryable(NO_AMENDMENT, 'invalid_usage');
    },
  });
  setHandler(approvalQuery, () => call.approvalDetails());
  setHandler(decisionSignal, (given) => {
    const decision = readSealedDecision(given);
    if (decision) call.decide(decision);
  });
  setHandler(sessionClosingSignal, () => {
    if (call.closeSession() === 'running') scope.cancel();
  });
  let outcome: Outcome;
  try {
    outcome = await story(call);
  } catch (error) {
    outcome = await cancelled(call, error);
  }
  call.end(outcome);
  // Those who ask are answered first, also about a cancelled call.
  if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return outcome;
}

async function story(call: CallState): Promise<Outcome> {
  for (;;) {
    let prepared: Prepared | Unprepared;
    try {
      prepared = await prepareCall(attemptOf(call));
    } catch (error) {
      prepared = await prepareAgain(call, error);
    }
    switch (prepared.verdict) {
      case 'invalid':
        if (call.attempt === LIMITS.attempts || prepared.correctionMs === 0) return giveUp(call, prepared.error);
        if (await corrected(call, prepared)) continue;
        return giveUp(call, correctionExpired(prepared.error));
      case 'deny':
        return call.outcome('denied', { error: prepared.error });
      case 'failed':
        return call.outcome('failed', { error: prepared.error });
      case 'ask':
        return decided(call, prepared);
      case 'run':
        if (!prepared.result || prepared.result.status === 'held') {
          call.granted = prepared.grant;
          return fromExecution(
            call,
            await execute(call, prepared.plan, prepared.grant && { grant: prepared.grant.grant }),
          );
        }
        call.tries = 1;
        return fromExecution(call, prepared.result);
    }
  }
}

const attemptOf = ({ tool, arguments: args, attempt }: CallState): PrepareInput => ({ tool, arguments: args, attempt });

type Unprepared = { verdict: 'failed'; error: CallError };

/** Preparation reads and judges; when it cannot (the server is away, say) it is repeated, for it changes nothing. */
async function prepareAgain(call: CallState, failure: unknown): Promise<Prepared | Unprepared> {
  let last = failure;
  for (let next = 2; next <= PREPARE_BACKOFF.maxTries; next += 1) {
    if (isCancellation(last)) throw last;
    await sleep(backoffBefore(next, PREPARE_BACKOFF), { summary: `prepare again (${next})` });
    try {
      return await prepareCall(attemptOf(call));
    } catch (error) {
      last = error;
    }
  }
  if (isCancellation(last)) throw last;
  const message = `The call could not be prepared: ${rootMessage(last)}. Nothing ran; call again.`;
  return { verdict: 'failed', error: callError('prepare_failed', message) };
}

/** True once other arguments have come. */
async function corrected(
  call: CallState,
  { error, correctionMs }: Extract<Prepared, { verdict: 'invalid' }>,
): Promise<boolean> {
  call.awaitCorrection(error, correctionMs);
  const came = await condition(() => call.corrected || call.sessionClosed, correctionMs, {
    summary: 'correction expires',
  });
  call.resume();
  return came && !call.sessionClosed && call.takeCorrection();
}

async function giveUp(call: CallState, error: CallError): Promise<Outcome> {
  if (call.sessionClosed) return sessionClosed(call);
  await call.tellSession('call_invalid', `${call.tool} given up after ${call.attempt} attempt(s): ${error.message}`);
  return call.outcome('invalid', { error });
}

function correctionExpired(error: CallError): CallError {
  const message = `No corrected arguments came in time. The last error was: ${error.message}`;
  return { ...error, code: 'correction_expired', message };
}

async function decided(call: CallState, prepared: Extract<Prepared, { verdict: 'ask' }>): Promise<Outcome> {
  const { ask, judgement } = prepared;
  if (!(await call.requestApproval(prepared))) {
    const message = `${judgement.reason} The session to ask is closed.`;
    return call.outcome('denied', { error: callError('no_approver', message) });
  }
  const steps = ask.ladder.filter(({ afterMs }) => ask.requestedAt + afterMs < ask.expiresAt);
  for (let refusals = 1; ; refusals += 1) {
    await answer(call, ask, steps);
    call.resume();
    const decision = call.takeDecision();
    if (!decision) return undecided(call);
    const acted = await actOn(call, prepared, decision);
    if ('attempts' in acted) {
      await call.withdraw();
      return acted;
    }
    if (refusals === LIMITS.refusals) return fromExecution(call, { status: 'refused', ...acted });
    await call.askAgain(prepared, acted.error);
  }
}

/** Until somebody decides, the session closes, or the request expires. Meanwhile the ladder's steps are taken, each once, at its time. */
async function answer(call: CallState, { requestedAt, expiresAt }: Ask, steps: LadderStep[]): Promise<void> {
  const over = (): boolean => call.hasDecision || call.sessionClosed;
  for (let step = steps[0]; step; step = steps[0]) {
    const wait = Math.max(1, requestedAt + step.afterMs - Date.now());
    if (await condition(over, wait, { summary: step.kind === 'remind' ? 'remind' : `ask ${step.role ?? 'others'}` }))
      return;
    steps.shift();
    await call.escalate(step);
  }
  await condition(over, Math.max(1, expiresAt - Date.now()), { summary: 'approval expires' });
}

async function undecided(call: CallState): Promise<Outcome> {
  await call.withdraw();
  if (call.sessionClosed) return sessionClosed(call);
  const message = 'Nobody decided in time. Nothing ran. Ask a person before you try again.';
  return call.outcome('expired', { error: callError('approval_expired', message) });
}

/** The outcome; or why the decision does not hold, which activities find out, and the request then waits for another. */
async function actOn(
  call: CallState,
  { ask, plan }: Extract<Prepared, { verdict: 'ask' }>,
  decision: SealedDecision,
): Promise<Outcome | { error: CallError }> {
  if (decision.decision === 'deny') {
    const error = decision.code ? undefined : await whyNoDenial(call, decision);
    return error ? { error } : call.outcome('denied', { error: refusal(decision) });
  }
  const { digest, requestedAt, expiresAt } = ask;
  const leave = decision.grant ? { grant: decision.grant } : { approval: { digest, requestedAt, expiresAt, decision } };
  const execution = await execute(call, plan, leave);
  return execution.status === 'refused' ? { error: execution.error } : fromExecution(call, execution);
}

/** Why a denial in a person's name is none of theirs. Where that can't be found out it is taken for one: that is the safe side. */
async function whyNoDenial(call: CallState, denial: SealedDecision): Promise<CallError | undefined> {
  const request = call.approvalRequest();
  const [decision] = denial.decisions.slice(-1);
  if (!request || !decision || !isSealedAs(denial))
    return callError('bad_signature', 'The record of the denial says something else than the denial.');
  try {
    const checked = await checkDecision({ request, decision });
    return checked.ok || checked.answer.answer !== 'bad_signature'
      ? undefined
      : callError('bad_signature', checked.answer.message);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undefined;
  }
}

function refusal(decision: SealedDecision): CallError {
  if (decision.code) return callError(decision.code, REFUSALS[decision.code]);
  return callError('approval_denied', `${decision.approver} denied this call: ${decision.reason ?? 'no reason given'}`);
}

const sessionClosed = (call: CallState): Outcome =>
  call.outcome('denied', { error: callError('session_closed', REFUSALS.session_closed) });

/** What lets a call run that policy asks about. */
type Leave = Pick<ExecuteInput, 'approval' | 'grant'>;

/** Tries until one is more than a timeout, as far as the tool's effect and limits allow. */
async function execute(call: CallState, plan: Plan, leave?: Leave): Promise<Ended> {
  for (;;) {
    const execution = await executeUnlessHeld(call, plan, leave);
    const again = execution.status === 'timed_out' && plan.effect !== 'once' && call.tries < plan.limits.maxTries;
    if (!again) return execution;
    const wait = backoffBefore(call.tries + 1, plan.limits);
    call.note(`Try ${call.tries} timed out; the next starts in ${wait} ms.`);
    await sleep(wait, { summary: `backoff before try ${call.tries + 1}` });
  }
}

/** While the service is halted nothing starts, and no try is counted. */
async function executeUnlessHeld(call: CallState, plan: Plan, leave?: Leave): Promise<Ended> {
  const since = Date.now();
  for (let next = 2; ; next += 1) {
    call.tries += 1;
    const execution = await executeOnce(call, plan, leave);
    if (execution.status === 'held' || execution.status === 'refused') call.tries -= 1;
    if (execution.status !== 'held') return execution;
    if (Date.now() - since > LIMITS.heldMs) return { status: 'denied', error: execution.error };
    call.note(`Held: ${plainMarkdown(execution.error.message)}`);
    await sleep(backoffBefore(next, HELD_BACKOFF), { summary: 'see whether the service has resumed' });
  }
}

async function executeOnce(call: CallState, plan: Plan, leave?: Leave): Promise<Execution> {
  const input: ExecuteInput = { tool: call.tool, arguments: call.arguments, ...leave };
  const activity = (summary: string) =>
    proxyActivities<Activities>({
      startToCloseTimeout: plan.limits.timeoutMs + BACKSTOP_MS,
      heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      // A killed tool is awaited, so that `cancelled` is said only when it is over.
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { maximumAttempts: 1 },
      summary,
    }).executeTool;
  try {
    return knownExecution(await activity(`${call.tool}, try ${call.tries}`)(input));
  } catch (error) {
    if (!isWorkerLost(error)) return rethrowCancelled(error);
    if (plan.effect !== 'once') return { status: 'timed_out', error: callError('worker_lost', WORKER_LOST) };
    // Also for a call that was cancelled meanwhile: what became of its tool is still the outcome.
    return CancellationScope.nonCancellable(() => recover(activity, call, input));
  }
}

/** A `once` tool's worker was lost: what was recorded is the outcome, and nothing is started again. */
async function recover(
  activity: (summary: string) => Activities['executeTool'],
  call: CallState,
  input: ExecuteInput,
): Promise<Execution> {
  for (let next = 2; ; next += 1) {
    try {
      return knownExecution(await activity(`${call.tool}, what became of it`)({ ...input, recover: true }));
    } catch (error) {
      if (isCancellation(error)) throw error;
      if (next > PREPARE_BACKOFF.maxTries) {
        return { status: 'unknown', error: callError('outcome_unknown', WORKER_LOST) };
      }
      await sleep(backoffBefore(next, PREPARE_BACKOFF), { summary: 'look again' });
    }
  }
}

const knownExecution = (value: unknown): Execution =>
  isExecution(value) ? value : { status: 'unknown', error: callError('outcome_unknown', NOT_OURS) };

const NOT_OURS = "What the tool's execution was completed with is none of a worker's answers.";
const WORKER_LOST = 'The worker was lost while the tool ran.';

const isWorkerLost = (error: unknown): boolean =>
  error instanceof ActivityFailure && error.cause instanceof TimeoutFailure;

/** Cancellation goes on up; any other failure of the activity is one before its first effect, so it counts as a failed try. */
function rethrowCancelled(error: unknown): Execution {
  if (isCancellation(error)) throw error;
  return { status: 'failed', error: callError('tool_failed', rootMessage(error)) };
}

type Ended = Exclude<Execution, { status: 'held' }>;

function fromExecution(call: CallState, execution: Ended): Outcome {
  const { status, ...rest } = execution;
  if (status !== 'refused') return call.outcome(status, rest);
  call.disclaim();
  return call.outcome('denied', rest);
}

async function cancelled(call: CallState, error: unknown): Promise<Outcome> {
  if (!isCancellation(error)) throw error;
  await call.withdraw();
  const why = call.sessionClosed ? 'its session was closed' : 'somebody cancelled it';
  const did = call.tries > 0 ? 'The tool was stopped where it stood; check what it had done.' : 'Nothing ran.';
  return call.outcome('cancelled', { error: callError('cancelled', `The call ended because ${why}. ${did}`) });
}

function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}
