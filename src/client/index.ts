/** Countersign's client library. */
export { type Signer, signerOf } from '../approval/sign.ts';
export {
  type ApproveOptions,
  Approvals,
  type DecisionOptions,
  type OpenRequest,
  type WaitingCall,
} from './approvals.ts';
export type {
  CallAudit,
  CallEntry,
  DecidedBy,
  DecisionEntry,
  NotifiedEntry,
  RouteEntry,
  SessionAudit,
  SessionEntry,
} from './audit.ts';
export { CallHandle } from './call.ts';
export { type ConnectOptions, Countersign, type EmbeddedWorker, type OpenSessionOptions } from './countersign.ts';
export { type GrantOptions, Grants } from './grants.ts';
export { Control, type ControlOptions } from './control.ts';
export { type CallOptions, SessionHandle } from './session.ts';
export type { ArgumentsOf, BuiltInTools } from './tool-types.ts';
export type {
  ApprovalDetails,
  ApprovalRequest,
  CollectedDecision,
  Decision,
  DecisionAnswer,
} from '../protocol/approval.ts';
export type { Settled, Waiting } from '../protocol/call.ts';
export type { Halt } from '../protocol/control.ts';
export { CountersignError, ERRORS, type ErrorCode, type ErrorKind } from '../protocol/errors.ts';
export type { Json, JsonObject } from '../protocol/json.ts';
export type { Artifact, CallError, Explanation, Outcome, OutcomeStatus } from '../protocol/outcome.ts';
export type { SessionClosed, SessionFacts, SessionKind, SessionState, SessionView } from '../protocol/session.ts';
export type { Effect, Tier } from '../protocol/tool.ts';
