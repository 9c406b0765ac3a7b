/** What an approval is bound to, as one digest: the approver's program and the executing activity each compute it themselves. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../protocol/json.ts';

export interface Bound {
  session: string;
  callId: string;
  /** The run of the call's workflow: an approval of a reset or restarted call is another one. */
  runId: string;
  tool: string;
  fingerprint: string;
  arguments: JsonObject;
  workspace: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** `sha256:` and 64 hexadecimal digits over the canonical JSON (RFC 8785) of what is bound. */
export function approvalDigest(bound: Bound): string {
  const { session, callId, runId, tool, fingerprint, workspace, expiresAt } = bound;
  const content = { v: 1, session, callId, runId, tool, fingerprint, arguments: bound.arguments, workspace, expiresAt };
  return `sha256:${createHash('sha256').update(canonicalize(content) ?? '').digest('hex')}`;
}

/** A call's content as canonical JSON: two calls of one id are the same call exactly when these are equal. */
export const callContent = (tool: string, args: JsonObject): string => canonicalize({ tool, arguments: args }) ?? '';
