/** Requests for approval, decisions on them, and the answers to decisions. */
import type { Grant } from './grant.ts';
import type { Ask, Judgement } from './outcome.ts';
import type { Preview } from './preview.ts';
import { type CallName, isCallId, isSessionId } from './ids.ts';
import { type JsonObject, isJsonObject } from './json.ts';
import type { Tier } from './tool.ts';

/**
 * The request that travels from a call to its main session: ids only, so that a session can hold a thousand.
 * Arguments and previews stay with the call, which answers for them by query.
 */
export interface ApprovalRequest {
  session: string;
  callId: string;
  runId: string;
  tool: string;
  digest: string;
  tier: Tier;
  /** Milliseconds since the epoch. */
  requestedAt: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** Session ids from the call's own to the one that holds the request. */
  route: string[];
}

/** What a person decides. The digest says on what; a decision without it is refused. */
export interface Decision {
  session: string;
  callId: string;
  digest: string;
  decision: 'approve' | 'deny';
  approver: string;
  reason?: string;
  /** Arguments to run instead of those asked for. */
  arguments?: JsonObject;
  /** When it was decided by the approver's clock, in milliseconds since the epoch. Always there where it is signed. */
  at?: number;
  /** One approver of the role `emergency` stands in for a quorum. Only a signed decision may say so. */
  override?: true;
  /** Made without having seen the request, to learn what became of a decision before it: it is answered, and never taken. */
  repeat?: true;
  /** Ed25519 by the approver's key over the canonical JSON of what src/approval/payload.ts names; base64url without padding. */
  signature?: string;
}

/** A decision that counts so far where several approvers have to agree. */
export interface CollectedDecision {
  decision: Decision;
  /** When the session that holds the request took it, in milliseconds since the epoch. */
  takenAt: number;
}

/** How a request stands in the session that holds it. */
export interface RequestStanding {
  digest: string;
  /** Those that count so far; all of them approve the same. */
  collected: CollectedDecision[];
}

/** A decision as the holding session hands it to the call. */
export interface SealedDecision extends Decision {
  /** True where the signatures of all that count were checked. Whoever executes checks them again. */
  verified: boolean;
  /** The decisions that count, the last one last; empty where no person decided. Arguments stand once, above. */
  decisions: Decision[];
  /** The grant that stood in for a person. */
  grant?: Grant;
  /** Set where no person decided: why the session answered by itself. */
  code?: RefusalCode;
}

/** Why a session answered a request by itself. */
export type RefusalCode = 'no_approver' | 'too_many_pending' | 'session_closed';

/** What a model is told by such a code: these words alone, for anybody in the namespace can send a code with words of their own. */
export const REFUSALS: Readonly<Record<RefusalCode, string>> = {
  no_approver: 'This call needs a person, and no open session above it has a channel to one.',
  too_many_pending: 'The main session holds as many requests as it may. Decide some, then call again.',
  session_closed: 'The session was closed before this call ran.',
};

/** Decisions that together settle a request, as one: all approve the same, or the last one denies. */
export function sealDecisions(decisions: readonly Decision[], verified: boolean): SealedDecision {
  const last = decisions.at(-1);
  if (!last) throw new TypeError('no decision to seal');
  return { ...last, verified, decisions: decisions.map(({ arguments: _, ...rest }) => rest) };
}

/** The decisions in a sealed one, each as its approver sent it. */
export const sealedDecisions = ({ decisions, arguments: edited }: SealedDecision): Decision[] =>
  decisions.map((decision) => (edited ? { ...decision, arguments: edited } : decision));

/** Whether the copy of the last decision that stands outside, which outcomes and models are told, says what the decision itself says. */
export function isSealedAs({ approver, reason, decision, decisions }: SealedDecision): boolean {
  const last = decisions.at(-1);
  return last?.approver === approver && last.reason === reason && last.decision === decision;
}

/** One step of the escalation while nobody decides: the people of the channel are reminded, or those of a role are asked. */
export interface LadderStep {
  /** Milliseconds since the request. */
  afterMs: number;
  kind: 'remind' | 'reassign';
  /** Who is asked from then on, with `reassign`. */
  role?: string;
}

/** A role that the ladder asks while nobody decides. */
export interface RoleAsked {
  role: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Names of those of it who may decide, the first 50. */
  approvers: string[];
}

/** What the people of a channel are told of a request. */
export interface Notification {
  channel: string;
  request: ApprovalRequest;
  kind: 'requested' | 'reminder' | 'reassigned';
  /** Whose turn it is, with `reassigned`. */
  role?: string;
}

/** Who was told, by kind of notifier, and who could not be. */
export interface Notified {
  told: string[];
  failed: { type: string; reason: string }[];
}

/** A step that is due. */
export interface Escalation {
  session: string;
  callId: string;
  runId: string;
  step: LadderStep;
}

/** What voids a request that waits. */
export interface Withdrawal {
  session: string;
  callId: string;
  runId: string;
}

/** What `decide` answers. Repeating a decision is harmless. */
export const DECISION_ANSWERS = [
  'accepted',
  'already_decided',
  'conflict',
  'digest_mismatch',
  'bad_signature',
  'invalid_edit',
  'not_pending',
] as const;
export type DecisionAnswerStatus = (typeof DECISION_ANSWERS)[number];

/** How many approvers agree so far, and how many have to. */
export interface Agreed {
  have: number;
  need: number;
}

export interface DecisionAnswer {
  answer: DecisionAnswerStatus;
  /** What it means and what to do, in one line. */
  message: string;
  /** JSON pointer to the argument at fault, with `invalid_edit`. */
  field?: string;
  /** With `accepted`, where the call waits for more approvers. */
  agreed?: Agreed;
}

/** What a waiting call answers when asked what it wants approved. */
export interface ApprovalDetails {
  request: ApprovalRequest;
  arguments: JsonObject;
  workspace: string;
  agent: string;
  fingerprint: string;
  tier: Tier;
  tierReasons: string[];
  rule: string;
  reason: string;
  requestedAt: number;
  /** For a command: what of it the digest covers besides its words. */
  bound?: BoundCommand;
  /** Approvers that have to agree. */
  required: number;
  /** Names of those who may decide, the first 50; empty where anybody may. */
  approvers: string[];
  /** Roles that are asked later, in order of time; absent where none is. */
  roles?: RoleAsked[];
  /** Ids of the sessions from the call's own up to main. */
  route: string[];
  /** What the call would do, as found when it asked; advice, the digest does not cover it. */
  preview?: Preview;
}

/** The request and what its approver should know, of an attempt that policy asks about: pure, for call and activity alike. */
export function approvalDetails(name: CallName, tool: string, { ask, judgement }: AskedFor): ApprovalDetails {
  const { digest, runId, requestedAt, expiresAt, bound, preview } = ask;
  const { tier, tierReasons, rule, reason } = judgement;
  return {
    request: { ...name, runId, tool, digest, tier, requestedAt, expiresAt, route: [] },
    arguments: ask.arguments,
    workspace: ask.workspace,
    agent: ask.agent,
    fingerprint: ask.fingerprint,
    tier,
    tierReasons,
    rule,
    reason,
    requestedAt,
    ...(bound && { bound }),
    required: ask.required,
    approvers: ask.approvers,
    ...(ask.roles && { roles: ask.roles }),
    route: ask.route,
    ...(preview && { preview }),
  };
}

interface AskedFor {
  ask: Ask;
  judgement: Judgement;
}

/** What a shell command would run, found out when it was asked for and again when it runs. */
export interface BoundCommand {
  /** Programs by the name in the command, with their real paths. */
  executables: { name: string; path: string }[];
  /** Canonical path of the folder that it runs in. */
  cwd: string;
  /** `sha256:` over the environment that it is given. */
  envHash: string;
  /** Files of the workspace that it names as programs or scripts; it runs from copies with exactly this content. */
  scripts: { path: string; sha256: string }[];
  /** True where it runs more than what is bound here. */
  partly: boolean;
  /** What is not bound, one line each. */
  unbound: string[];
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Letters of a code in listings: short enough to type, checked for ambiguity when used. */
const SHORT = 6;
/**
 * Letters that stand for one digest only: 120 bits. Whoever can start calls by hand makes both of two requests of the same code, so that half of
 * the bits count: 60, as against 30 of a code of twelve letters, which are minutes of one machine.
 */
const LONG = 24;
/** A letter is made of a byte of the digest. */
const LONGEST = 32;

/** `#` and letters from the digest: a form that no call id can have. */
function codeOf(digest: string, letters: number): string {
  const hex = digest.replace(/^sha256:/, '');
  let code = '#';
  for (let i = 0; i < letters; i += 1) code += ALPHABET[Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16) % 32];
  return code;
}

/** `#` and six letters: names a request among those that wait. */
export const shortCode = (digest: string): string => codeOf(digest, SHORT);

/** `#` and 24 letters, the first six of them those of the short code: says which request was seen. */
export const longCode = (digest: string): string => codeOf(digest, LONG);

/** `#` and all letters of a digest, of which every other code is the beginning. */
export const wholeCode = (digest: string): string => codeOf(digest, LONGEST);

const CODE = new RegExp(`^#[a-z0-9]{${SHORT},${LONGEST}}$`, 'i');

/** Whether a text is a code: `#` and 6 to 32 letters. */
export const isCode = (text: string): boolean => CODE.test(text);

/** Whether it is a code that says which request was seen. A shorter one, or a name, says only where a request stands. */
export const isLongCode = (text: string): boolean => isCode(text) && text.length > LONG;

/** Whether a code is the digest's, as far as it goes; capitals or not. */
export const isCodeOf = (code: string, digest: string): boolean =>
  isCode(code) && wholeCode(digest).startsWith(code.toUpperCase());

/** 64 bytes as base64url without padding. */
const SIGNATURE = /^[A-Za-z0-9_-]{86}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

export const isDigest = (value: unknown): value is string => typeof value === 'string' && DIGEST.test(value);

/** True for a decision in the form that sessions take; the contents are checked by activities. */
export function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false;
  const {
    session,
    callId,
    digest,
    decision,
    approver,
    reason,
    arguments: edited,
    at,
    override,
    repeat,
    signature,
  } = value as Record<string, unknown>;
  return (
    isSessionId(session) &&
    isCallId(callId) &&
    isDigest(digest) &&
    (decision === 'approve' || decision === 'deny') &&
    typeof approver === 'string' &&
    approver.length > 0 &&
    approver.length <= 200 &&
    (reason === undefined || (typeof reason === 'string' && reason.length <= 4_000)) &&
    (edited === undefined || (decision === 'approve' && isJsonObject(edited))) &&
    (at === undefined || (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0)) &&
    (override === undefined || override === true) &&
    (repeat === undefined || repeat === true) &&
    (signature === undefined || (typeof signature === 'string' && SIGNATURE.test(signature)))
  );
}
