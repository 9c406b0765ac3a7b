/** A session's immutable start data, its states, and what it answers. */
import type { ErrorCode } from './errors.ts';
import { isSessionId, parseSessionWorkflowId } from './ids.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW } from './names.ts';

export const SESSION_KINDS = ['main', 'branch', 'worker'] as const;
/** `main` reaches a human; `branch` is a child that asks through its parent; `worker` is a read-only child. */
export type SessionKind = (typeof SESSION_KINDS)[number];

/** Kept in the session workflow's memo under {@link SESSION_MEMO}; never changed after the start. */
export interface SessionFacts {
  id: string;
  kind: SessionKind;
  /** Absent for `main`. */
  parent?: string;
  /** The main session above this one; its own id for `main`. */
  main: string;
  /** 0 for `main`, 1 for its children, and so on. */
  depth: number;
  /** Canonical absolute path of the folder that this session's tools are confined to. */
  workspace: string;
  /** Name of the agent whose calls these are; declared in the worker's configuration. */
  agent: string;
  /** Where requests for approval are shown (`inbox` unless said otherwise); null: nowhere. Children have null. */
  channel: string | null;
  /** The sender that this session acts for, where one is known. */
  owner?: string;
  /** The model's provider, where one is known; policy may differ by it. */
  provider?: string;
  /** The conversation (group) the session belongs to, where one is known. */
  group?: string;
}

export const SESSION_MEMO = 'countersignSession';

type Is = (value: unknown) => boolean;
const text =
  (most: number): Is =>
  (value) =>
    typeof value === 'string' && value.length <= most;
const or =
  (none: null | undefined, is: Is): Is =>
  (value) =>
    value === none || is(value);
const NAME = text(1_000);

/** What each of a session's facts is. Whether the worker takes it is another question. */
const FACTS: { readonly [Name in keyof SessionFacts]-?: Is } = {
  id: isSessionId,
  kind: (value) => SESSION_KINDS.some((kind) => kind === value),
  parent: or(undefined, isSessionId),
  main: isSessionId,
  depth: (value) => Number.isInteger(value) && Number(value) >= 0,
  workspace: text(4_096),
  agent: NAME,
  channel: or(null, NAME),
  owner: or(undefined, NAME),
  provider: or(undefined, NAME),
  group: or(undefined, NAME),
};
const FACT_NAMES = Object.keys(FACTS) as (keyof SessionFacts)[];

/** The first of the facts that is missing or of another form than it has to be; undefined where all are sound. */
export const unsoundFact = (facts: { readonly [Name in keyof SessionFacts]?: unknown }):
  | keyof SessionFacts
  | undefined => FACT_NAMES.find((name) => !FACTS[name](facts[name]));

/** A session's facts by its memo, which anybody in the namespace can write: built anew of what is known, or undefined. */
export function readSessionFacts(value: unknown): SessionFacts | undefined {
  if (typeof value !== 'object' || value === null || unsoundFact(value) !== undefined) return undefined;
  const facts = value as SessionFacts;
  return Object.fromEntries(
    FACT_NAMES.filter((name) => facts[name] !== undefined).map((name) => [name, facts[name]]),
  ) as unknown as SessionFacts;
}

/** What the search attribute for states says of a session that a worker refused when it was to be opened. */
export const SESSION_REFUSED = 'refused';

/** `open` takes calls; `closing` takes none and ends those it has; `closed` is over. */
export type SessionState = 'open' | 'closing' | 'closed';

/** Of a session workflow's description or listing, what {@link sessionRecord} reads. */
export interface SessionDescription {
  workflowId: string;
  /** Of the workflow. */
  type: string;
  memo?: Record<string, unknown> | undefined;
  /** The name is Temporal's, as `RUNNING`. */
  status: { name: string };
  searchAttributes: Record<string, readonly unknown[] | undefined>;
}

export interface SessionRecord {
  facts: SessionFacts;
  /** Whether it takes calls. */
  state: SessionState;
}

/**
 * A session by its workflow's description. Undefined where there is none: the workflow is of another type, its facts are none or another
 * session's than its id says, or the session was refused.
 */
export function sessionRecord(described: SessionDescription): SessionRecord | undefined {
  const { workflowId, type, memo, status, searchAttributes } = described;
  const facts = readSessionFacts(memo?.[SESSION_MEMO]);
  if (type !== WORKFLOW.session || !facts || facts.id !== parseSessionWorkflowId(workflowId)) return undefined;
  const said = searchAttributes[SEARCH_ATTRIBUTE.state]?.[0];
  if (said === SESSION_REFUSED) return undefined;
  if (status.name !== 'RUNNING') return { facts, state: 'closed' };
  return { facts, state: said === 'closing' ? 'closing' : 'open' };
}

/** One line of `session list`, and `session show`. */
export interface SessionView extends SessionFacts {
  state: SessionState;
  /** Ids of children that have not ended. */
  children: string[];
  /** Requests for approval that wait here. */
  pending: number;
  /** How often the workflow has continued as new. */
  continuedAsNew: number;
  /** Latest things the session was told, newest last (100 at most). */
  notices: SessionNotice[];
}

export const NOTICE_KINDS = [
  'call_invalid',
  'child_ended',
  'child_failed',
  'notify_failed',
  'bad_signature',
  'flooded',
] as const;

/** Something a session is told for its people: a call given up as invalid, a child gone wrong. */
export interface SessionNotice {
  at: number;
  kind: (typeof NOTICE_KINDS)[number];
  session: string;
  callId?: string;
  text: string;
}

/** What `opened` answers. */
export type OpenedAnswer =
  | { opened: true; facts: SessionFacts; limits: SessionLimits }
  | { opened: false; code: ErrorCode; message: string };

/** Of the worker's configuration, what a session keeps to. */
export interface SessionLimits {
  pendingRequests: number;
  sessionDepth: number;
  sessionChildren: number;
}

/** What a child session is opened with; the rest it has from its parent. */
export interface ChildRequest {
  id: string;
  kind: 'branch' | 'worker';
  /** Defaults to the parent's. */
  agent?: string;
  /** Canonical absolute path inside of the parent's workspace; defaults to it. */
  workspace?: string;
}

/** What `openChild` answers. */
export type ChildAnswer = { opened: true; facts: SessionFacts } | { opened: false; code: ErrorCode; message: string };

/** A child's last word to its parent. */
export interface ChildEnded {
  id: string;
  failed: boolean;
  reason: string;
}

/** How a session ended. */
export interface SessionClosed {
  reason: string;
  /** Calls that were ended by the closing: of those that were open at once, as listings had them. */
  callsEnded: number;
  /** Calls that were told to end and had not within half a minute. Each ends by itself, when its worker is back or its tool lets go. */
  callsLeft: number;
  /** Children that did not report their end in time. */
  childrenLeft: string[];
}
