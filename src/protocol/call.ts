/** What a call is started with, how it reports that it waits, and what its activities are told. */
import type { JsonObject } from './json.ts';
import type { ApprovalRequest, SealedDecision } from './approval.ts';
import type { Grant } from './grant.ts';
import type { CallError, Outcome } from './outcome.ts';

/** The call's workflow input. Session and call id are the workflow id's; a caller can't hand itself anything else. */
export interface CallInput {
  tool: string;
  arguments: JsonObject;
}

/** What a call waits for, as its memo says it to listings ({@link CALL_MEMO}). */
export type Waiting =
  | { for: 'approval'; since: number; tool: string; request: ApprovalRequest; route: string[]; summary: string }
  | { for: 'correction'; since: number; until: number; tool: string; attempt: number; error: CallError };

export const CALL_MEMO = 'countersignWaiting';

/** What `settle` answers. `seq` counts the waiting states so far; pass it to learn of the next one. */
export type Settled = { state: 'done'; outcome: Outcome } | { state: 'waiting'; seq: number; waiting: Waiting };

export interface Amendment {
  arguments: JsonObject;
  /** The attempt that was found invalid; guards against amending twice. */
  attempt: number;
}

export interface AmendAnswer {
  answer: 'accepted' | 'not_waiting_for_correction';
  message: string;
}

/** What `prepareCall` is told; who calls it follows from the workflow id that Temporal gives the activity. */
export interface PrepareInput extends CallInput {
  attempt: number;
}

/** What `executeTool` is told. All of it is checked there again. */
export interface ExecuteInput extends CallInput {
  /** The decision that allows it, where policy asks for one. */
  approval?: Approval;
  /** The grant that stands in for a decision. */
  grant?: Grant;
  /** Set after a worker was lost with a `once` tool: report what is recorded, never start. */
  recover?: true;
}

/** A request's binding and the decision on it. */
export interface Approval {
  digest: string;
  requestedAt: number;
  expiresAt: number;
  decision: SealedDecision;
}
