/** A call's history as its story: one entry for each thing that an auditor asks about. */
import { redactJson } from '../approval/redact.ts';
import { shortCode } from '../protocol/approval.ts';
import { CALL_MEMO, type ExecuteInput } from '../protocol/call.ts';
import { isAmendment, isCallInput, readSealedDecision, readWaiting } from '../protocol/forms.ts';
import type { CallName } from '../protocol/ids.ts';
import { type JsonObject, isJsonObject } from '../protocol/json.ts';
import { CALL_MESSAGE } from '../protocol/names.ts';
import type { CallError, Execution, Outcome, Prepared, TraceStep } from '../protocol/outcome.ts';
import type { Tier } from '../protocol/tool.ts';
import { Decided, type DecidedEntry, type DenialCheck } from './audit-decided.ts';
import { type HistoryEvent, eventName, localActivityOf, summaryOf, timeOf, valueOf } from './history.ts';
import { oneValue } from './payload.ts';

export type { DecidedBy, DecidedEntry } from './audit-decided.ts';

interface At {
  /** ISO 8601. */
  at: string;
}

/** Arguments are shown with what looks like a secret replaced. */
export type CallEntry =
  | DecidedEntry
  | (At &
      (
        | { what: 'called'; tool: string; arguments: JsonObject; by: string }
        | {
            what: 'judged';
            attempt: number;
            verdict: Prepared['verdict'];
            tier?: Tier;
            rule?: string;
            reason?: string;
            tierReasons?: string[];
            trace?: TraceStep[];
            policy?: string;
            error?: CallError;
            /** Id of the grant that stood in for a person, and who made it. */
            grant?: string;
            grantBy?: string;
          }
        | { what: 'not_judged'; attempt: number; reason: string }
        | { what: 'asks'; code: string; digest: string; expiresAt: string; arguments: JsonObject }
        | {
            what: 'needs_correction';
            attempt: number;
            until: string;
            error: Pick<CallError, 'code' | 'message' | 'field'>;
          }
        | { what: 'amended'; attempt: number; arguments: JsonObject; by: string }
        | {
            what: 'executed';
            try: number;
            worker: string;
            endedAt?: string;
            durationMs?: number;
            status: Execution['status'] | 'running' | 'cancelled' | 'lost';
            where: 'activity' | 'preparation' | 'record';
            /** Of the command that ran. */
            exitStatus?: number;
            error?: Pick<CallError, 'code' | 'message'>;
          }
        | { what: 'waits'; ms: number; summary: string }
        | { what: 'cancel_requested'; by: string; reason?: string }
        | { what: 'session_closing' }
        | { what: 'reset'; reason: string }
        | {
            what: 'ended';
            status: Outcome['status'] | 'terminated' | 'failed_outside';
            attempts?: number;
            tries?: number;
            exitStatus?: number;
            error?: Pick<CallError, 'code' | 'message'>;
          }
        /** A message that is none of those that calls know, or a decision on something else than what was asked. */
        | { what: 'unheard'; message: string; by: string }
        /** Recorded by a worker that is none of ours. */
        | { what: 'unreadable'; event: string }
      ));

export interface RunningTool {
  worker: string;
  startedAt: number;
}

/** What has to be remembered from one event to the next. */
interface Story {
  name: CallName;
  entries: CallEntry[];
  attempt: number;
  tries: number;
  /** Of the task that told of what follows. */
  worker: string;
  asked: { digest: string; arguments: JsonObject } | undefined;
  scheduled: Map<string, { entry: Extract<CallEntry, { what: 'executed' }>; input: ExecuteInput }>;
  decided: Decided;
}

export function callStory(name: CallName, events: readonly HistoryEvent[], running?: RunningTool): CallEntry[] {
  const story: Story = {
    name,
    entries: [],
    attempt: 1,
    tries: 0,
    worker: '',
    asked: undefined,
    scheduled: new Map(),
    decided: new Decided(),
  };
  for (const event of events) tell(story, event);
  const [open] = [...story.scheduled.values()].filter(({ entry }) => entry.status === 'running');
  if (open && running) Object.assign(open.entry, { at: iso(running.startedAt), worker: running.worker });
  return story.entries;
}

/** Whoever starts a workflow under a call's name, with a worker of their own, records what they like: it ends no story. */
function tell(story: Story, event: HistoryEvent): void {
  const told = story.entries.length;
  try {
    tellStart(story, event);
    tellPreparation(story, event);
    tellMessages(story, event);
    tellWaiting(story, event);
    tellActivity(story, event);
    tellEnd(story, event);
  } catch {
    story.entries.splice(told, Infinity, { at: atOf(event), what: 'unreadable', event: eventName(event) });
  }
}

const iso = (at: number): string => new Date(at).toISOString();
const atOf = (event: HistoryEvent): string => iso(timeOf(event));
const short = ({ code, message }: CallError): Pick<CallError, 'code' | 'message'> => ({ code, message });

function tellStart(story: Story, event: HistoryEvent): void {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) {
    const input = valueOf(started.input);
    const { tool, arguments: args } = isCallInput(input) ? input : { tool: '', arguments: {} };
    story.entries.push({
      at: atOf(event),
      what: 'called',
      tool,
      arguments: redactJson(args),
      by: started.identity ?? '',
    });
  }
  story.worker = event.workflowTaskCompletedEventAttributes?.identity ?? story.worker;
  const failed = event.workflowTaskFailedEventAttributes;
  // Resets are recorded as a task that failed, which is the only trace of them.
  if (failed?.baseRunId && failed.newRunId)
    story.entries.push({ at: atOf(event), what: 'reset', reason: failed.failure?.message ?? '' });
}

function tellPreparation(story: Story, event: HistoryEvent): void {
  const local = localActivityOf(event);
  if (local?.activity === 'checkDecision' && local.result) story.decided.checked(local.result as DenialCheck);
  if (local?.activity !== 'prepareCall') return;
  const { attempt } = story;
  const prepared = local.result as Prepared | undefined;
  if (!prepared)
    return void story.entries.push({
      at: iso(local.endedAt),
      what: 'not_judged',
      attempt,
      reason: local.failure ?? 'no answer',
    });
  const judgement = 'judgement' in prepared ? prepared.judgement : undefined;
  const { tier, rule, reason, tierReasons, trace, policy } = judgement ?? {};
  story.entries.push({
    at: iso(local.endedAt),
    what: 'judged',
    attempt,
    verdict: prepared.verdict,
    ...(tier !== undefined && { tier }),
    ...(rule !== undefined && { rule }),
    ...(reason !== undefined && { reason }),
    ...(tierReasons !== undefined && { tierReasons }),
    ...(trace !== undefined && { trace }),
    ...(policy !== undefined && { policy }),
    ...('error' in prepared && { error: prepared.error }),
    ...('grant' in prepared && prepared.grant && { grant: prepared.grant.grant.id, grantBy: prepared.grant.grant.by }),
  });
  if (prepared.verdict === 'ask') story.asked = prepared.ask;
  if (prepared.verdict === 'run' && prepared.result)
    tellQuickRun(story, local.startedAt, local.endedAt, prepared.result);
}

/** A quick read runs within its preparation. */
function tellQuickRun(story: Story, startedAt: number, endedAt: number, execution: Execution): void {
  story.tries += 1;
  story.entries.push({
    at: iso(endedAt),
    what: 'executed',
    try: story.tries,
    worker: story.worker,
    endedAt: iso(endedAt),
    durationMs: endedAt - startedAt,
    status: execution.status,
    where: 'preparation',
    ...('error' in execution && { error: short(execution.error) }),
  });
}

function tellMessages(story: Story, event: HistoryEvent): void {
  const at = atOf(event);
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === CALL_MESSAGE.sessionClosing) story.entries.push({ at, what: 'session_closing' });
  if (signal?.signalName === CALL_MESSAGE.decision) {
    const decision = readSealedDecision(valueOf(signal.input));
    const by = signal.identity || (signal.externalWorkflowExecution?.workflowId ?? '');
    // As the call itself takes them.
    if (decision && decision.digest === story.asked?.digest) story.entries.push(story.decided.take(at, decision));
    else story.entries.push({ at, what: 'unheard', message: CALL_MESSAGE.decision, by });
  }
  const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  if (request?.input?.name === CALL_MESSAGE.amend) {
    const amendment = valueOf(request.input.args);
    const args = isAmendment(amendment) ? amendment.arguments : {};
    story.attempt += 1;
    story.entries.push({
      at,
      what: 'amended',
      attempt: story.attempt,
      arguments: redactJson(args),
      by: request.meta?.identity ?? '',
    });
  }
  const cancel = event.workflowExecutionCancelRequestedEventAttributes;
  if (cancel)
    story.entries.push({
      at,
      what: 'cancel_requested',
      by: cancel.identity ?? '',
      ...(cancel.cause && { reason: cancel.cause }),
    });
}

/** Timers that only end a waiting which is told of itself. */
const EXPIRY_TIMERS: ReadonlySet<string | undefined> = new Set(['approval expires', 'correction expires']);

function tellWaiting(story: Story, event: HistoryEvent): void {
  const at = atOf(event);
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[CALL_MEMO];
  const waiting = readWaiting(oneValue(memo), story.name);
  if (waiting?.for === 'correction') {
    const { code, message, field } = waiting.error;
    const error = { code, message, ...(field !== undefined && { field }) };
    story.entries.push({ at, what: 'needs_correction', attempt: waiting.attempt, until: iso(waiting.until), error });
  }
  if (waiting?.for === 'approval') {
    const { digest, expiresAt } = waiting.request;
    story.entries.push({
      at,
      what: 'asks',
      code: shortCode(digest),
      digest,
      expiresAt: iso(expiresAt),
      arguments: redactJson(story.asked?.arguments ?? {}),
    });
  }
  const timer = event.timerStartedEventAttributes;
  const summary = summaryOf(event);
  if (timer && !EXPIRY_TIMERS.has(summary)) {
    const { seconds, nanos } = timer.startToFireTimeout ?? {};
    const ms = Number((seconds ?? 0).toString()) * 1_000 + Math.round((nanos ?? 0) / 1_000_000);
    story.entries.push({ at, what: 'waits', ms, summary: summary ?? '' });
  }
}

function tellActivity(story: Story, event: HistoryEvent): void {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled?.activityType?.name === 'executeTool') {
    const input = valueOf<ExecuteInput>(scheduled.input) ?? { tool: '', arguments: {} };
    const recover = input.recover === true;
    if (!recover) story.tries += 1;
    const entry: Extract<CallEntry, { what: 'executed' }> = {
      at: atOf(event),
      what: 'executed',
      try: story.tries,
      worker: '',
      status: 'running',
      where: recover ? 'record' : 'activity',
    };
    story.entries.push(entry);
    story.scheduled.set(String(event.eventId), { entry, input });
  }
  const started = event.activityTaskStartedEventAttributes;
  const ended = endOf(event);
  const about = story.scheduled.get(String(started?.scheduledEventId ?? ended?.scheduledEventId));
  if (!about) return;
  if (started) Object.assign(about.entry, { at: atOf(event), worker: started.identity ?? '' });
  if (ended) {
    const { status, error, execution } = ended;
    if (execution) story.decided.executed(about.input, execution);
    // Nothing ran, so it was no try: the next one has the same number.
    if (status === 'held' || status === 'refused') story.tries -= 1;
    Object.assign(about.entry, {
      endedAt: atOf(event),
      durationMs: timeOf(event) - Date.parse(about.entry.at),
      status,
      ...exitStatusOf(execution),
      ...(error && { error }),
    });
  }
}

/** What `shell` says of its command; null in its output where a signal ended it. */
function exitStatusOf(ended: Partial<Outcome> | Execution | undefined): { exitStatus?: number } {
  const output = ended && 'output' in ended ? ended.output : undefined;
  const exitCode = isJsonObject(output) ? output['exitCode'] : undefined;
  return typeof exitCode === 'number' ? { exitStatus: exitCode } : {};
}

interface ActivityEnd {
  scheduledEventId: unknown;
  status: Extract<CallEntry, { what: 'executed' }>['status'];
  error?: Pick<CallError, 'code' | 'message'>;
  /** Where it was completed. */
  execution?: Execution;
}

function endOf(event: HistoryEvent): ActivityEnd | undefined {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const execution = valueOf<Execution>(completed.result);
    const error = execution && 'error' in execution ? { error: short(execution.error) } : {};
    const { scheduledEventId } = completed;
    return { scheduledEventId, status: execution?.status ?? 'completed', ...error, ...(execution && { execution }) };
  }
  const failed = event.activityTaskFailedEventAttributes;
  if (failed) {
    return {
      scheduledEventId: failed.scheduledEventId,
      status: 'failed',
      error: { code: 'tool_failed', message: failed.failure?.message ?? '' },
    };
  }
  const lost = event.activityTaskTimedOutEventAttributes;
  if (lost) {
    return {
      scheduledEventId: lost.scheduledEventId,
      status: 'lost',
      error: { code: 'worker_lost', message: lost.failure?.message ?? '' },
    };
  }
  const cancelled = event.activityTaskCanceledEventAttributes;
  return cancelled ? { scheduledEventId: cancelled.scheduledEventId, status: 'cancelled' } : undefined;
}

function tellEnd(story: Story, event: HistoryEvent): void {
  const at = atOf(event);
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const outcome = valueOf<Partial<Outcome>>(completed.result) ?? {};
    const { status = 'completed', attempts, tries, error } = outcome;
    const counts = {
      ...(attempts !== undefined && { attempts }),
      ...(tries !== undefined && { tries }),
      ...exitStatusOf(outcome),
    };
    story.entries.push({ at, what: 'ended', status, ...counts, ...(error && { error: short(error) }) });
  }
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated)
    story.entries.push(outside(at, 'terminated', `${terminated.reason ?? ''} (by ${terminated.identity ?? '?'})`));
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) story.entries.push(outside(at, 'failed_outside', failed.failure?.message ?? ''));
  if (event.workflowExecutionCanceledEventAttributes) story.entries.push({ at, what: 'ended', status: 'cancelled' });
  if (event.workflowExecutionTimedOutEventAttributes)
    story.entries.push(outside(at, 'failed_outside', 'the workflow timed out'));
}

const outside = (at: string, status: 'terminated' | 'failed_outside', message: string): CallEntry => ({
  at,
  what: 'ended',
  status,
  error: { code: 'outcome_unknown', message },
});
