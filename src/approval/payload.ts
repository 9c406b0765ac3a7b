/** The bytes that approvers sign: canonical JSON (RFC 8785). `kind` keeps a signature on one thing from passing for one on another. */
import canonicalize from 'canonicalize';
import type { Grant } from '../protocol/grant.ts';
import type { Decision } from '../protocol/approval.ts';

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

/** Canonical JSON in UTF-8. */
export const bytesOf = (value: object): Buffer => Buffer.from(canonicalize(value) ?? '', 'utf8');

/** What a grant's signature covers. */
export function grantPayload({ id, tool, arguments: patterns, scope, expiresAt, by, at }: Grant): Buffer {
  return bytesOf({ v: 1, kind: 'grant', id, tool, arguments: patterns, scope, expiresAt, by, at });
}
