/**
 * What workflows answer, as clients take it. Anybody in the namespace can start a workflow under the name of a call or a session and have it
 * answer what they like, so that every reader builds it anew of known fields, or gives undefined.
 */
import { callError } from './errors.ts';
import { areTexts, fieldsOf, isOneOf, isString, readCallError, readNotice } from './forms.ts';
import { type Grant, isGrant } from './grant.ts';
import { isSessionId } from './ids.ts';
import { type Json, isJsonObject } from './json.ts';
import { type ApprovalRecord, type Artifact, OUTCOME_STATUSES, type Outcome } from './outcome.ts';
import type { SessionClosed, SessionRecord, SessionState, SessionView } from './session.ts';

export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;
const idsIn = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isSessionId) : []);

export function readOutcome(value: unknown): Outcome | undefined {
  const { status, output, display, artifacts, error, attempts, tries, approval } = fieldsOf(value);
  if (!isOneOf(OUTCOME_STATUSES, status)) return undefined;
  const record = readApprovalRecord(approval);
  return {
    status,
    ...(output !== undefined && { output: output as Json }),
    ...(isString(display) && { display }),
    ...(Array.isArray(artifacts) && { artifacts: artifacts.flatMap(readArtifact) }),
    ...(error !== undefined && { error: readCallError(error) ?? callError('internal', 'Its error is none of ours.') }),
    attempts: countOf(attempts),
    tries: countOf(tries),
    ...(record && { approval: record }),
  };
}

const HASH = /^sha256:[0-9a-f]{64}$/;

function readArtifact(value: unknown): Artifact[] {
  const { hash, bytes, mediaType, path, name } = fieldsOf(value);
  if (!isString(hash) || !HASH.test(hash) || !isString(mediaType)) return [];
  const named = { ...(isString(path) && { path }), ...(isString(name) && { name }) };
  return [{ hash, bytes: countOf(bytes), mediaType, ...named }];
}

function readApprovalRecord(value: unknown): ApprovalRecord | undefined {
  const { approver, verified, decision, reason, grant, approvers, override, edited, arguments: args } = fieldsOf(value);
  if (!isString(approver) || !isOneOf(['approve', 'deny'] as const, decision)) return undefined;
  return {
    approver,
    verified: verified === true,
    decision,
    ...(isString(reason) && { reason }),
    ...(isString(grant) && { grant }),
    ...(areTexts(approvers) && { approvers }),
    ...(override === true && { override }),
    ...(edited === true && { edited }),
    ...(isJsonObject(args) && { arguments: args }),
  };
}

/** What it is by its record, and what it says of how it stands. */
export function readSessionView(value: unknown, { facts, state }: SessionRecord): SessionView {
  const { state: said, children, pending, continuedAsNew, notices } = fieldsOf(value);
  return {
    ...facts,
    state: isOneOf(['open', 'closing', 'closed'] as const satisfies SessionState[], said) ? said : state,
    children: idsIn(children),
    pending: countOf(pending),
    continuedAsNew: countOf(continuedAsNew),
    notices: Array.isArray(notices) ? notices.flatMap((notice) => readNotice(notice) ?? []) : [],
  };
}

export function readSessionClosed(value: unknown): SessionClosed {
  const { reason, callsEnded, callsLeft, childrenLeft } = fieldsOf(value);
  return {
    reason: isString(reason) ? reason : 'not said',
    callsEnded: countOf(callsEnded),
    callsLeft: countOf(callsLeft),
    childrenLeft: idsIn(childrenLeft),
  };
}

export const readGrants = (value: unknown): Grant[] => (Array.isArray(value) ? value.filter(isGrant) : []);
