/** The bytes that approvers sign: canonical JSON (RFC 8785). `kind` keeps a signature on one thing from passing for one on another. */
import canonicalize from 'canonicalize';
import type { Grant } from '../protocol/grant.ts';
import type { Decision } from '../protocol/approval.ts';
import type { Halt, Resume } from '../protocol/control.ts';

/** What a decision's signature covers. The digest stands for the request as a whole; session and call id are in it. */
export function decisionPayload(decision: Decision): Buffer {
  const { digest, decision: verdict, arguments: edited, reason, approver, at, override } = decision;
  return bytesOf({
    v: 1,
    kind: 'decision',
    digest,
    decision: verdict,
    ...(edited !== undefined && { arguments: edited }),
    ...(reason !== undefined && { reason }),
    approver,
    at,
    ...(override !== undefined && { override }),
  });
}

/** What the signature on a resume covers: the very halt that it ends, in its namespace. */
export function resumePayload({ by, reason, at }: Resume, halt: Halt, namespace: string): Buffer {
  const { id, by: halter, reason: why, at: since } = halt;
  return bytesOf({ v: 1, kind: 'resume', namespace, halt: { id, by: halter, reason: why, at: since }, by, reason, at });
}

/** Canonical JSON in UTF-8. */
export const bytesOf = (value: object): Buffer => Buffer.from(canonicalize(value) ?? '', 'utf8');

/** What a grant's signature covers. Version 1 named no place. */
export function grantPayload({ id, tool, arguments: patterns, scope, place, expiresAt, by, at }: Grant): Buffer {
  return bytesOf({ v: 2, kind: 'grant', id, tool, arguments: patterns, scope, place, expiresAt, by, at });
}
