/** A session's story: its children and its calls in one line each, and the decisions that were taken in it. */
import type { Client } from '@temporalio/client';
import { mapAtMost } from '../common/at-most.ts';
import { fromPlainMarkdown } from '../protocol/markdown.ts';
import { type Listed, described, listed } from './listed.ts';
import { redactJson } from '../approval/redact.ts';
import type { Agreed, Decision, DecisionAnswer } from '../protocol/approval.ts';
import { countOf } from '../protocol/answers.ts';
import { readDecision, readDecisionAnswer, readNotice } from '../protocol/forms.ts';
import { callWorkflowId, parseCallWorkflowId } from '../protocol/ids.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE, SESSION_MESSAGE, WORKFLOW } from '../protocol/names.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { OutcomeStatus } from '../protocol/outcome.ts';
import { type SessionClosed, type SessionFacts, type SessionState, sessionRecord } from '../protocol/session.ts';
import { type HistoryEvent, timeOf, valueOf } from './history.ts';
import { callSummary } from './summary.ts';
import { reach } from './transport.ts';

/** Where a call stands, as listings know it. */
export type CallStanding = OutcomeStatus | 'waiting' | 'running' | 'terminated';

export type SessionEntry = { at: string } & (
  | { what: 'opened'; by: string }
  | { what: 'child'; session: string; kind: SessionFacts['kind']; state: SessionState; endedAt?: string }
  | {
      what: 'call';
      id: string;
      callId: string;
      tool: string;
      summary?: string;
      status: CallStanding;
      endedAt?: string;
      durationMs?: number;
    }
  | { what: 'close_requested'; by: string; reason: string }
  /** What a call told it of decisions that came to the call itself and were not taken. */
  | { what: 'notice'; kind: 'bad_signature' | 'flooded'; session: string; callId?: string; text: string }
  /** A message that is none of those that sessions know. */
  | { what: 'unheard'; message: string; by: string }
  | { what: 'closed'; reason: string; callsEnded: number; callsLeft: number }
);

/** What somebody decided, and what the session answered; `via` a signal nobody hears the answer. */
export interface DecisionEntry {
  at: string;
  what: 'decision';
  /** The call's. */
  session: string;
  callId: string;
  /** The session that was told. */
  in: string;
  decision: Decision['decision'];
  approver: string;
  /** True where it was taken and is signed: one with a wrong signature is not taken. */
  verified: boolean;
  reason?: string;
  /** Arguments to run instead, with what looks like a secret replaced. */
  edited?: JsonObject;
  via: 'update' | 'signal';
  answer?: DecisionAnswer['answer'];
  message?: string;
  /** Where it was taken and the call waited for more approvers. */
  agreed?: Agreed;
}

/** Calls whose one-line summary is looked up; of further ones the tool's name is told. */
const SUMMARIES = 500;
const AT_ONCE = 20;

export async function sessionStory(
  client: Client,
  facts: SessionFacts,
  events: readonly HistoryEvent[],
): Promise<SessionEntry[]> {
  const [calls, children] = await Promise.all([callsOf(client, facts.id), childrenOf(client, facts.id)]);
  return [...ownEntries(events), ...children, ...calls];
}

function ownEntries(events: readonly HistoryEvent[]): SessionEntry[] {
  return events.flatMap((event): SessionEntry[] => {
    const at = new Date(timeOf(event)).toISOString();
    const started = event.workflowExecutionStartedEventAttributes;
    // Later runs are the same session, continued as new.
    if (started && !started.continuedExecutionRunId)
      return [{ at, what: 'opened', by: started.identity || started.parentWorkflowExecution?.workflowId || 'unknown' }];
    const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
    if (request?.input?.name === SESSION_MESSAGE.close) {
      return [
        {
          at,
          what: 'close_requested',
          by: request.meta?.identity ?? '',
          reason: textOf(valueOf(request.input.args)),
        },
      ];
    }
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal) return [...messageOf(at, signal.signalName ?? '', valueOf(signal.input), signal.identity ?? '')];
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (!completed) return [];
    const { reason, callsEnded, callsLeft } = valueOf<Partial<SessionClosed>>(completed.result) ?? {};
    return [
      { at, what: 'closed', reason: textOf(reason), callsEnded: countOf(callsEnded), callsLeft: countOf(callsLeft) },
    ];
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of the signals, those that matter to an auditor and stand in no other entry. */
function messageOf(at: string, name: string, value: unknown, by: string): SessionEntry[] {
  if (name === SESSION_MESSAGE.close) return [{ at, what: 'close_requested', by, reason: textOf(value) }];
  if (name === SESSION_MESSAGE.decide && !readDecision(value)) return [{ at, what: 'unheard', message: name, by }];
  if (name !== SESSION_MESSAGE.notify) return [];
  const notice = readNotice(value);
  if (!notice) return [{ at, what: 'unheard', message: name, by }];
  const { kind, session, callId, text } = notice;
  if (kind !== 'bad_signature' && kind !== 'flooded') return [];
  return [{ at, what: 'notice', kind, session, ...(callId !== undefined && { callId }), text }];
}

/** Every decision that a session was told of, with its answer. */
export function decisionsIn(events: readonly HistoryEvent[], session: string): DecisionEntry[] {
  const byUpdate = new Map<string, { entry: DecisionEntry; signed: boolean }>();
  return events.flatMap((event): DecisionEntry[] => {
    const at = new Date(timeOf(event)).toISOString();
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === SESSION_MESSAGE.decide)
      return entryOf(at, session, 'signal', readDecision(valueOf(signal.input)));
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    const request = accepted?.acceptedRequest;
    if (request?.input?.name === SESSION_MESSAGE.decide) {
      const decision = readDecision(valueOf(request.input.args));
      const entries = entryOf(at, session, 'update', decision);
      const signed = decision?.signature !== undefined;
      for (const entry of entries) byUpdate.set(accepted?.protocolInstanceId ?? '', { entry, signed });
      return entries;
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    const about = byUpdate.get(completed?.meta?.updateId ?? '');
    const answered = readDecisionAnswer(valueOf(completed?.outcome?.success));
    if (about && answered) {
      const { answer, message, agreed } = answered;
      const verified = about.signed && answer === 'accepted';
      Object.assign(about.entry, { verified, answer, message, ...(agreed && { agreed }) });
    }
    return [];
  });
}

function entryOf(
  at: string,
  session: string,
  via: DecisionEntry['via'],
  decision: Decision | undefined,
): DecisionEntry[] {
  if (!decision) return [];
  const { session: of, callId, decision: what, approver, reason, arguments: edited } = decision;
  const said = { ...(reason !== undefined && { reason }), ...(edited && { edited: redactJson(edited) }) };
  const on = { session: of, callId, in: session };
  return [{ at, what: 'decision', ...on, decision: what, approver, verified: false, ...said, via }];
}

/** A call's one line names what it was started with; where an approver put other arguments in their place, those are told. */
export function tellEdits(story: SessionEntry[], decisions: readonly DecisionEntry[]): SessionEntry[] {
  const taken = decisions.filter(({ answer, agreed }) => answer === 'accepted' && agreed === undefined);
  const last = new Map(taken.map(({ session, callId, edited }) => [callWorkflowId({ session, callId }), edited]));
  return story.map((entry) => {
    const edited = entry.what === 'call' ? last.get(entry.id) : undefined;
    if (entry.what !== 'call' || !edited) return entry;
    return { ...entry, summary: `${fromPlainMarkdown(callSummary(entry.tool, edited))} (edited by its approver)` };
  });
}

const callsQuery = (session: string): string =>
  `WorkflowType="${WORKFLOW.call}" AND ${SEARCH_ATTRIBUTE.session}="${session}"`;

const SESSIONS = `WorkflowType="${WORKFLOW.session}"`;

/** Full names of every call of a session and of the sessions below it, as listings have them. */
export async function callsUnder(client: Client, session: string): Promise<string[]> {
  const calls = new Set<string>();
  await reach(async () => {
    for (const id of await sessionsUnder(client, session))
      for await (const { workflowId } of listed(client, callsQuery(id))) calls.add(workflowId);
  });
  return [...calls];
}

async function sessionsUnder(client: Client, session: string): Promise<Set<string>> {
  const below = new Map<string, Set<string>>();
  for await (const info of listed(client, SESSIONS)) {
    const { id, parent } = sessionRecord(info)?.facts ?? {};
    if (id !== undefined && parent !== undefined) below.set(parent, (below.get(parent) ?? new Set()).add(id));
  }
  const found = new Set([session]);
  // A set goes on through what is added meanwhile.
  for (const id of found) for (const child of below.get(id) ?? []) found.add(child);
  return found;
}

async function callsOf(client: Client, session: string): Promise<SessionEntry[]> {
  const found: Listed[] = [];
  await reach(async () => {
    for await (const info of listed(client, callsQuery(session))) found.push(info);
  });
  return mapAtMost(found, AT_ONCE, (info, i) => callEntry(info, i < SUMMARIES ? client : undefined));
}

async function callEntry(info: Listed, client: Client | undefined): Promise<SessionEntry> {
  const { workflowId, startTime, closeTime } = info;
  // Its retention may have ended since it was listed.
  const description = client && (await described(client, workflowId, info.runId).catch(() => undefined));
  const summary = description && fromPlainMarkdown(description.summary ?? '');
  return {
    at: startTime.toISOString(),
    what: 'call',
    id: workflowId,
    callId: parseCallWorkflowId(workflowId)?.callId ?? workflowId,
    tool: String(info.searchAttributes[SEARCH_ATTRIBUTE.tool]?.[0] ?? ''),
    ...(summary !== undefined && { summary }),
    status: standing(info),
    ...(closeTime && { endedAt: closeTime.toISOString(), durationMs: closeTime.getTime() - startTime.getTime() }),
  };
}

/** A call that ran without waiting and completed leaves no state in the listing. */
function standing({ status, searchAttributes }: Listed): CallStanding {
  const state = searchAttributes[SEARCH_ATTRIBUTE.state]?.[0] as CallStanding | undefined;
  switch (status.name) {
    case 'RUNNING':
      return state === CALL_STATE.waiting ? 'waiting' : 'running';
    case 'COMPLETED':
      return state ?? 'completed';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return 'terminated';
  }
}

async function childrenOf(client: Client, session: string): Promise<SessionEntry[]> {
  const entries = new Map<string, Extract<SessionEntry, { what: 'child' }>>();
  await reach(async () => {
    for await (const info of listed(client, SESSIONS)) {
      const child = sessionRecord(info);
      if (child?.facts.parent !== session) continue;
      const { id, kind } = child.facts;
      const at = info.startTime.toISOString();
      const known = entries.get(id);
      // Listed once for each run, newest first: the newest says how it stands, the oldest when it was opened.
      if (known) known.at = at;
      else
        entries.set(id, {
          at,
          what: 'child',
          session: id,
          kind,
          state: child.state,
          ...(info.closeTime && { endedAt: info.closeTime.toISOString() }),
        });
    }
  });
  return [...entries.values()];
}
