/** Requests for approval, decisions on them, and the answers to decisions. */
import type { JsonObject } from './json.ts';
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

export interface Decision {
  callId: string;
  session: string;
  /** Digest of what was decided on; without it the decision is on whatever waits, and says so in the record. */
  digest?: string;
  decision: 'approve' | 'deny';
  approver: string;
  reason?: string;
  /** Arguments to run instead. */
  arguments?: JsonObject;
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
