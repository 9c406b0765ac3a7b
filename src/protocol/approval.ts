/** Requests for approval, decisions on them, and the answers to decisions. */
import { isCallId, isSessionId } from './ids.ts';
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
}

/** A decision as the holding session hands it to the call. */
export interface SealedDecision extends Decision {
  /** True where the approver's signature was checked. */
  verified: boolean;
  /** Set where no person decided: why the session answered by itself. */
  code?: 'no_approver' | 'too_many_pending' | 'session_closed';
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

export interface DecisionAnswer {
  answer: DecisionAnswerStatus;
  /** What it means and what to do, in one line. */
  message: string;
  /** JSON pointer to the argument at fault, with `invalid_edit`. */
  field?: string;
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
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** `#` and six characters from the digest: a form that no call id can have. Short enough to type, checked for ambiguity when used. */
export function shortCode(digest: string): string {
  const hex = digest.replace(/^sha256:/, '');
  let code = '#';
  for (let i = 0; i < 6; i += 1) code += ALPHABET[Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16) % 32];
  return code;
}

/** True for a decision in the form that sessions take; the contents are checked by activities. */
export function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false;
  const { session, callId, digest, decision, approver, reason, arguments: edited } = value as Record<string, unknown>;
  return (
    isSessionId(session) &&
    isCallId(callId) &&
    typeof digest === 'string' &&
    (decision === 'approve' || decision === 'deny') &&
    typeof approver === 'string' &&
    approver.length > 0 &&
    approver.length <= 200 &&
    (reason === undefined || (typeof reason === 'string' && reason.length <= 4_000)) &&
    (edited === undefined || isJsonObject(edited))
  );
}
