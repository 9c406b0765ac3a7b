/**
 * Whether a message has the form that its receiver takes. Anyone in the namespace can send anything to a workflow, and a workflow
 * that trips over a message would trip over it for ever; so what has another form is not heard.
 */
import type { ApprovalRequest, Escalation, SealedDecision, Withdrawal } from './approval.ts';
import { isDecision } from './approval.ts';
import type { Amendment, CallInput } from './call.ts';
import { isGrant } from './grant.ts';
import { isCallId, isSessionId } from './ids.ts';
import { isJsonObject } from './json.ts';
import type { ChildEnded, ChildRequest, SessionNotice } from './session.ts';
import { TIERS } from './tool.ts';

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value.length <= most;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

export const isCallInput = (value: unknown): value is CallInput =>
  isRecord(value) && isText(value['tool'], 200) && isJsonObject(value['arguments']);

export const isAmendment = (value: unknown): value is Amendment =>
  isRecord(value) && isJsonObject(value['arguments']) && typeof value['attempt'] === 'number';

export const isSealedDecision = (value: unknown): value is SealedDecision =>
  isDecision(value) && isSealed(value as unknown as Record<string, unknown>);

const CODES: readonly unknown[] = ['no_approver', 'too_many_pending', 'session_closed'];

const isSealed = ({ decisions, grant, code, verified }: Record<string, unknown>): boolean =>
  Array.isArray(decisions) &&
  decisions.length <= 10 &&
  decisions.every(isDecision) &&
  typeof verified === 'boolean' &&
  (grant === undefined || isGrant(grant)) &&
  (code === undefined || CODES.includes(code));

export const isWithdrawal = (value: unknown): value is Withdrawal =>
  isRecord(value) && isSessionId(value['session']) && isCallId(value['callId']) && isText(value['runId'], 64);

export const isApprovalRequest = (value: unknown): value is ApprovalRequest =>
  isWithdrawal(value) &&
  isRecord(value) &&
  isText(value['tool'], 200) &&
  isText(value['digest'], 100) &&
  (TIERS as readonly unknown[]).includes(value['tier']) &&
  isTime(value['expiresAt']) &&
  isTime(value['requestedAt']) &&
  Array.isArray(value['route']) &&
  value['route'].length <= 16 &&
  value['route'].every(isSessionId);

export const isEscalation = (value: unknown): value is Escalation =>
  isWithdrawal(value) && isRecord(value) && isRecord(value['step']) && isStep(value['step']);

const isStep = ({ afterMs, kind, role }: Record<string, unknown>): boolean =>
  isTime(afterMs) && (kind === 'remind' || kind === 'reassign') && (role === undefined || isText(role, 64));

export const isChildEnded = (value: unknown): value is ChildEnded =>
  isRecord(value) && isSessionId(value['id']) && typeof value['failed'] === 'boolean' && isText(value['reason'], 2_000);

export const isNotice = (value: unknown): value is SessionNotice =>
  isRecord(value) &&
  isTime(value['at']) &&
  isSessionId(value['session']) &&
  isText(value['kind'], 40) &&
  isText(value['text'], 2_000);

export const isChildRequest = (value: unknown): value is ChildRequest =>
  isRecord(value) &&
  typeof value['id'] === 'string' &&
  (value['kind'] === 'branch' || value['kind'] === 'worker') &&
  (value['agent'] === undefined || isText(value['agent'], 200)) &&
  (value['workspace'] === undefined || isText(value['workspace'], 4_096));
