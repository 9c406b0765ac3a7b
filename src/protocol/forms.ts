/**
 * Messages as their receivers take them. Anyone in the namespace can send anything to a workflow, and a workflow that trips over a
 * message, or can't carry it along, would fail on it for ever. So what has another form is not heard, and what is heard is built anew
 * of the fields that are known here, each of them bounded: every reader gives such a copy, or undefined.
 */
import type {
  ApprovalDetails,
  ApprovalRequest,
  BoundCommand,
  CollectedDecision,
  Decision,
  DecisionAnswer,
  Escalation,
  LadderStep,
  RequestStanding,
  RoleAsked,
  SealedDecision,
  Withdrawal,
} from './approval.ts';
import { DECISION_ANSWERS, isDecision, isDigest } from './approval.ts';
import type { Amendment, CallInput, Waiting } from './call.ts';
import { ERRORS, type ErrorCode } from './errors.ts';
import { type Grant, type Revocation, isGrant, isRevocation } from './grant.ts';
import { type CallName, isCallId, isSessionId } from './ids.ts';
import { isJsonObject } from './json.ts';
import { LIMITS } from './limits.ts';
import type { CallError, Execution } from './outcome.ts';
import { type ChildEnded, type ChildRequest, NOTICE_KINDS, type SessionNotice } from './session.ts';
import { TIERS } from './tool.ts';

type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;
export const isOneOf = <T>(all: readonly T[], value: unknown): value is T =>
  (all as readonly unknown[]).includes(value);

/** As far from the epoch as a `Date` goes. */
const LAST_TIME = 8.64e15;
export const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(value as number) <= LAST_TIME;

/** As Temporal makes them: a signal to a run of another name fails the task that sends it. */
const RUN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const isRunId = (value: unknown): value is string => typeof value === 'string' && RUN_ID.test(value);

/** Sessions above one another: those that a configuration allows, and some to spare. */
const ROUTE = 16;
const isRoute = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= ROUTE && value.every(isSessionId);

export const isCallInput = (value: unknown): value is CallInput => {
  const { tool, arguments: args } = fieldsOf(value);
  return isText(tool, 200) && isJsonObject(args);
};

export const isAmendment = (value: unknown): value is Amendment => {
  const { arguments: args, attempt } = fieldsOf(value);
  return isJsonObject(args) && typeof attempt === 'number';
};

export function readDecision(value: unknown): Decision | undefined {
  if (!isDecision(value)) return undefined;
  const { session, callId, digest, decision, approver, reason, arguments: edited, at, override } = value;
  const { repeat, signature } = value;
  return {
    session,
    callId,
    digest,
    decision,
    approver,
    ...(reason !== undefined && { reason }),
    ...(edited && { arguments: edited }),
    ...(at !== undefined && { at }),
    ...(override && { override }),
    ...(repeat && { repeat }),
    ...(signature !== undefined && { signature }),
  };
}

/** As a session answers, which anybody in the namespace may have started. */
export function readDecisionAnswer(value: unknown): DecisionAnswer | undefined {
  const { answer, message, field, agreed } = fieldsOf(value);
  if (!isOneOf(DECISION_ANSWERS, answer) || typeof message !== 'string') return undefined;
  const { have, need } = fieldsOf(agreed);
  return {
    answer,
    message,
    ...(typeof field === 'string' && { field }),
    ...(typeof have === 'number' && typeof need === 'number' && { agreed: { have, need } }),
  };
}

/** Approvers of one request, as far as a configuration can ask for. */
const APPROVERS = 10;

/** As a session answers, which anybody in the namespace may have started. */
export function readStanding(value: unknown): RequestStanding | undefined {
  const { digest, collected } = fieldsOf(value);
  if (!isDigest(digest) || !Array.isArray(collected)) return undefined;
  return { digest, collected: collected.slice(0, APPROVERS).flatMap(readCollected) };
}

function readCollected(value: unknown): CollectedDecision[] {
  const { decision: given, takenAt } = fieldsOf(value);
  const decision = readDecision(given);
  return decision && isTime(takenAt) ? [{ decision, takenAt }] : [];
}

const CODES = ['no_approver', 'too_many_pending', 'session_closed'] as const;

export function readSealedDecision(value: unknown): SealedDecision | undefined {
  const decision = readDecision(value);
  const { decisions: given, grant, code, verified } = fieldsOf(value);
  if (!decision || !Array.isArray(given) || given.length > APPROVERS || typeof verified !== 'boolean') return undefined;
  if (grant !== undefined && !isGrant(grant)) return undefined;
  if (code !== undefined && !isOneOf(CODES, code)) return undefined;
  if (decision.arguments && JSON.stringify(decision.arguments).length > LIMITS.argumentBytes) return undefined;
  const decisions = given.map(readDecision);
  // Arguments stand once, in the decision itself.
  if (!decisions.every((one) => one !== undefined && !one.arguments)) return undefined;
  return {
    ...decision,
    verified,
    decisions: decisions.filter((one) => one !== undefined),
    ...(grant && { grant }),
    ...(code && { code }),
  };
}

/** A grant with a field that is not known is none at all. */
export const readGrant = (value: unknown): Grant | undefined => (isGrant(value) ? value : undefined);

export const readRevocation = (value: unknown): Revocation | undefined =>
  isRevocation(value) ? { id: value.id, by: value.by } : undefined;

export function readWithdrawal(value: unknown): Withdrawal | undefined {
  const { session, callId, runId } = fieldsOf(value);
  return isSessionId(session) && isCallId(callId) && isRunId(runId) ? { session, callId, runId } : undefined;
}

export function readApprovalRequest(value: unknown): ApprovalRequest | undefined {
  const run = readWithdrawal(value);
  const { tool, digest, tier, requestedAt, expiresAt, route } = fieldsOf(value);
  return run &&
    isText(tool, 200) &&
    isDigest(digest) &&
    isOneOf(TIERS, tier) &&
    isTime(requestedAt) &&
    isTime(expiresAt) &&
    isRoute(route)
    ? { ...run, tool, digest, tier, requestedAt, expiresAt, route: [...route] }
    : undefined;
}

/**
 * As a call shows what it asks for, where anybody may have started that call's workflow: what the digest covers is of the form that it is
 * computed from, and what stands beside it can be shown. What the preview holds is looked at where it is used.
 */
export function isApprovalDetails(value: unknown): value is ApprovalDetails {
  const fields = fieldsOf(value);
  const { arguments: args, tier, tierReasons, requestedAt, bound, required, approvers, roles, route } = fields;
  const texts = [fields['workspace'], fields['agent'], fields['fingerprint'], fields['rule'], fields['reason']];
  return (
    readApprovalRequest(fields['request']) !== undefined &&
    isJsonObject(args) &&
    texts.every(isString) &&
    isOneOf(TIERS, tier) &&
    areTexts(tierReasons) &&
    isTime(requestedAt) &&
    (bound === undefined || isBoundCommand(bound)) &&
    Number.isSafeInteger(required) &&
    areTexts(approvers) &&
    (roles === undefined || (Array.isArray(roles) && roles.every(isRoleAsked))) &&
    isRoute(route)
  );
}

export const isString = (value: unknown): value is string => typeof value === 'string';
export const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
const areOf = (value: unknown, ...names: string[]): boolean =>
  Array.isArray(value) && value.every((one) => names.every((name) => isString(fieldsOf(one)[name])));

function isBoundCommand(value: unknown): value is BoundCommand {
  const { executables, cwd, envHash, scripts, partly, unbound } = fieldsOf(value);
  return (
    areOf(executables, 'name', 'path') &&
    areOf(scripts, 'path', 'sha256') &&
    isString(cwd) &&
    isString(envHash) &&
    typeof partly === 'boolean' &&
    areTexts(unbound)
  );
}

function isRoleAsked(value: unknown): value is RoleAsked {
  const { role, at, approvers } = fieldsOf(value);
  return isString(role) && isTime(at) && areTexts(approvers);
}

export function readEscalation(value: unknown): Escalation | undefined {
  const run = readWithdrawal(value);
  const step = readStep(fieldsOf(value)['step']);
  return run && step && { ...run, step };
}

function readStep(value: unknown): LadderStep | undefined {
  const { afterMs, kind, role } = fieldsOf(value);
  if (!isTime(afterMs) || (kind !== 'remind' && kind !== 'reassign')) return undefined;
  if (role === undefined) return { afterMs, kind };
  return isText(role, 64) ? { afterMs, kind, role } : undefined;
}

export function readChildEnded(value: unknown): ChildEnded | undefined {
  const { id, failed, reason } = fieldsOf(value);
  return isSessionId(id) && typeof failed === 'boolean' && isText(reason, 2_000) ? { id, failed, reason } : undefined;
}

export function readNotice(value: unknown): SessionNotice | undefined {
  const { at, kind, session, callId, text } = fieldsOf(value);
  if (!isTime(at) || !isOneOf(NOTICE_KINDS, kind) || !isSessionId(session) || !isText(text, 2_000)) return undefined;
  if (callId === undefined) return { at, kind, session, text };
  return isCallId(callId) ? { at, kind, session, callId, text } : undefined;
}

/** Whether its id is one is said where it is opened. */
export function readChildRequest(value: unknown): ChildRequest | undefined {
  const { id, kind, agent, workspace } = fieldsOf(value);
  if (typeof id !== 'string' || (kind !== 'branch' && kind !== 'worker')) return undefined;
  if (agent !== undefined && !isText(agent, 200)) return undefined;
  if (workspace !== undefined && !isText(workspace, 4_096)) return undefined;
  return { id, kind, ...(agent !== undefined && { agent }), ...(workspace !== undefined && { workspace }) };
}

/** What a call waits for by its memo, which anybody who starts a call's workflow can write: only a request of that very call is one. */
export function readWaiting(value: unknown, { session, callId }: CallName): Waiting | undefined {
  const fields = fieldsOf(value);
  const { since, tool } = fields;
  if (!isTime(since) || !isText(tool, 200)) return undefined;
  if (fields['for'] === 'correction') {
    const { until, attempt } = fields;
    const error = readCallError(fields['error']);
    return isTime(until) && isTime(attempt) && error
      ? { for: 'correction', since, until, tool, attempt, error }
      : undefined;
  }
  const { route, summary } = fields;
  const request = readApprovalRequest(fields['request']);
  if (fields['for'] !== 'approval' || !request || request.session !== session || request.callId !== callId)
    return undefined;
  return isRoute(route) && isText(summary, 2_000)
    ? { for: 'approval', since, tool, request, route: [...route], summary }
    : undefined;
}

const ENDED_WITH_ERROR = ['held', 'refused', 'failed', 'denied', 'timed_out', 'unknown'] as const;

/** What a worker says of a try. Whoever knows an activity's id can complete it with anything. */
export function isExecution(value: unknown): value is Execution {
  const { status, error } = fieldsOf(value);
  return status === 'completed' || (isOneOf(ENDED_WITH_ERROR, status) && isString(fieldsOf(error)['message']));
}

export function readCallError(value: unknown): CallError | undefined {
  const { code, message, field, schema } = fieldsOf(value);
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code) || typeof message !== 'string') return undefined;
  return {
    kind: ERRORS[code as ErrorCode],
    code: code as ErrorCode,
    message,
    ...(typeof field === 'string' && { field }),
    ...(isJsonObject(schema) && { schema }),
  };
}
