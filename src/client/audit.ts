/**
 * The story of a call or a session, told from Temporal's own history: there is no second record that could differ from it.
 */
import { CountersignError } from '../protocol/errors.ts';
import { readApprovalRequest } from '../protocol/forms.ts';
import {
  type CallName,
  callWorkflowId,
  parseCallWorkflowId,
  parseSessionWorkflowId,
  sessionWorkflowId,
} from '../protocol/ids.ts';
import { SESSION_MESSAGE } from '../protocol/names.ts';
import type { SessionFacts, SessionState } from '../protocol/session.ts';
import { type CallEntry, callStory } from './audit-call.ts';
import { type DecisionEntry, type SessionEntry, decisionsIn, sessionStory, tellEdits } from './audit-session.ts';
import { type NotifiedEntry, notificationsIn } from './audit-notified.ts';
import { type HistoryEvent, readHistory, readRuns, timeOf, valueOf } from './history.ts';
import { described } from './listed.ts';
import { knownSession } from './known-session.ts';
import { type Transport, reach } from './transport.ts';

export type { CallEntry, DecidedBy, DecidedEntry } from './audit-call.ts';
export type { NotifiedEntry } from './audit-notified.ts';
export type { DecisionEntry, SessionEntry } from './audit-session.ts';

/** A request on its way: the session that had it, and since when. */
export interface RouteEntry {
  /** ISO 8601. */
  at: string;
  what: 'routed';
  session: string;
}

export interface CallAudit {
  kind: 'call';
  /** `call/<session>/<call id>`. */
  id: string;
  session: string;
  callId: string;
  runId: string;
  /** Undefined where the session's record is gone. */
  facts?: SessionFacts;
  uiUrl?: string;
  /** In the order in which things happened. */
  entries: (CallEntry | RouteEntry | NotifiedEntry | DecisionEntry)[];
}

export interface SessionAudit {
  kind: 'session';
  id: string;
  facts: SessionFacts;
  state: SessionState;
  uiUrl?: string;
  entries: (SessionEntry | NotifiedEntry | DecisionEntry)[];
}

/**
 * @param id a call's full name, or a session's id or workflow id
 * @throws CountersignError `call_not_found`, `session_not_found`, `no_service`
 */
export async function audit(transport: Transport, id: string): Promise<CallAudit | SessionAudit> {
  const call = parseCallWorkflowId(id);
  if (call) return auditCall(transport, call);
  return auditSession(transport, parseSessionWorkflowId(id) ?? id);
}

async function auditCall(transport: Transport, name: CallName): Promise<CallAudit> {
  const id = callWorkflowId(name);
  const events = await readHistory(transport.client, id);
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  if (!started)
    throw new CountersignError(
      'call_not_found',
      `There is no call ${id}. List a session's: countersign audit ${name.session}`,
    );
  const [known, pending] = await Promise.all([
    knownSession(transport.client, name.session),
    runningTool(transport, id),
  ]);
  const story = callStory(name, events, pending);
  const asked = story.some((entry) => entry.what === 'asks');
  const above = asked ? await routeOf(transport, name, known?.facts) : [];
  return {
    kind: 'call',
    id,
    ...name,
    runId: started.originalExecutionRunId ?? '',
    ...(known && { facts: known.facts }),
    entries: inOrder([...story, ...above]),
  };
}

/** What runs at this moment stands in no event yet. */
async function runningTool(
  { client }: Transport,
  id: string,
): Promise<{ worker: string; startedAt: number } | undefined> {
  const running = (await reach(() => described(client, id)))?.activities[0];
  const seconds = running?.lastStartedTime?.seconds;
  if (!running || seconds == null) return undefined;
  return { worker: running.lastWorkerIdentity ?? '', startedAt: Number(seconds.toString()) * 1_000 };
}

/** How the request went up, hop by hop, who was told of it, and every decision on it but the one that settled it: those not taken, too. */
async function routeOf(
  transport: Transport,
  call: CallName,
  facts: SessionFacts | undefined,
): Promise<(RouteEntry | NotifiedEntry | DecisionEntry)[]> {
  const found: (RouteEntry | NotifiedEntry | DecisionEntry)[] = [];
  for (let at = facts; at !== undefined;) {
    const events = await readRuns(transport.client, sessionWorkflowId(at.id));
    const session = at.id;
    found.push(...events.flatMap((event) => hop(event, session, call)));
    found.push(...notificationsIn(events).filter((entry) => isOf(entry, call)));
    // One that settled the request stands in the call's own history, where it had its effect.
    const settled = ({ answer, agreed }: DecisionEntry): boolean => answer === 'accepted' && agreed === undefined;
    found.push(...decisionsIn(events, session).filter((entry) => isOf(entry, call) && !settled(entry)));
    at = at.parent === undefined ? undefined : (await knownSession(transport.client, at.parent))?.facts;
  }
  return found;
}

function hop(event: HistoryEvent, session: string, call: CallName): RouteEntry[] {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName !== SESSION_MESSAGE.requestApproval) return [];
  const request = readApprovalRequest(valueOf(signal.input));
  if (!request || !isOf(request, call)) return [];
  return [{ at: new Date(timeOf(event)).toISOString(), what: 'routed', session }];
}

const isOf = (named: CallName, call: CallName): boolean =>
  named.session === call.session && named.callId === call.callId;

async function auditSession(transport: Transport, id: string): Promise<SessionAudit> {
  const known = await knownSession(transport.client, id);
  if (!known)
    throw new CountersignError(
      'session_not_found',
      `There is no session ${JSON.stringify(id.slice(0, 200))}. List them: countersign session list --all`,
    );
  const { facts, state } = known;
  const events = await readRuns(transport.client, sessionWorkflowId(id));
  // Requests of a child are decided in the main session above it.
  const holder = facts.main === id ? events : await readRuns(transport.client, sessionWorkflowId(facts.main));
  const decisions = decisionsIn(holder, facts.main);
  const above = [...notificationsIn(holder), ...decisions];
  const own = above.filter((entry) => facts.main === id || entry.session === id);
  const story = await sessionStory(transport.client, facts, events);
  return { kind: 'session', id, facts, state, entries: inOrder([...tellEdits(story, decisions), ...own]) };
}

/** By time; what happened at the same millisecond stays in its order. */
const inOrder = <T extends { at: string }>(entries: T[]): T[] =>
  entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
