/** What an approval is bound to, as one digest: the approver's program and the executing activity each compute it themselves. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ApprovalDetails, BoundCommand } from '../protocol/approval.ts';
import type { JsonObject } from '../protocol/json.ts';

export interface Bound {
  session: string;
  callId: string;
  /** The run of the call's workflow: an approval of a reset or restarted call is another one. */
  runId: string;
  agent: string;
  tool: string;
  fingerprint: string;
  arguments: JsonObject;
  workspace: string;
  /** Milliseconds since the epoch. */
  requestedAt: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** For a command: what else of it is fixed. */
  bound?: BoundCommand | undefined;
}

/** `sha256:` and 64 hexadecimal digits over the canonical JSON (RFC 8785) of what is bound. */
export function approvalDigest(content: Bound): string {
  const { session, callId, runId, agent, tool, fingerprint, workspace, requestedAt, expiresAt } = content;
  const call = { session, callId, runId, agent, tool, fingerprint, arguments: content.arguments, workspace };
  return sha256({
    v: 2,
    kind: 'approval',
    ...call,
    requestedAt,
    expiresAt,
    ...(content.bound && { bound: content.bound }),
  });
}

/** The digest of what a call shows of itself; equal to its request's where the call shows what it asks for. */
export function shownDigest(details: ApprovalDetails): string {
  const { request, agent, fingerprint, workspace, requestedAt, bound, arguments: args } = details;
  const { session, callId, runId, tool, expiresAt } = request;
  const call = { session, callId, runId, agent, tool, fingerprint, arguments: args, workspace };
  return approvalDigest({ ...call, requestedAt, expiresAt, bound });
}

/** `sha256:` and 64 hexadecimal digits over the canonical JSON of a value. */
export const sha256 = (value: unknown): string =>
  `sha256:${createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex')}`;

/** A call's content as canonical JSON: two calls of one id are the same call exactly when these are equal. */
export const callContent = (tool: string, args: JsonObject): string => canonicalize({ tool, arguments: args }) ?? '';
