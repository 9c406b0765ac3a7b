/** The emergency stop: while the service is halted, nothing new runs and what waits goes on waiting. */

/** Workflow id of the one control workflow of a namespace. */
export const CONTROL_WORKFLOW_ID = 'countersign-control';
/** Where its memo says whether the service is halted: a {@link Halt}, or null. */
export const CONTROL_MEMO = 'countersignHalt';
/** Where its memo has what ended the last halt: a {@link Resume}, or null. */
export const RESUME_MEMO = 'countersignResume';

export const CONTROL_MESSAGE = {
  /** Update: halts. */
  halt: 'halt',
  /** Update: resumes. */
  resume: 'resume',
} as const;

export interface ControlRequest {
  /** Who asks; unverified. */
  by: string;
  reason: string;
}

export interface Halt extends ControlRequest {
  /** Never used for another halt, so that what ends one ends no other. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The end of a halt. Signed, it says which one, and when by the clock of its approver. */
export interface Resume extends ControlRequest {
  /** Id of the halt. */
  halt?: string;
  /** Milliseconds since the epoch. */
  at?: number;
  /** Ed25519 by the approver's key over what src/approval/payload.ts names; base64url without padding. */
  signature?: string;
}

export const isControlRequest = (value: unknown): value is ControlRequest => {
  if (typeof value !== 'object' || value === null) return false;
  const { by, reason } = value as Record<string, unknown>;
  return (
    typeof by === 'string' && by.length > 0 && by.length <= 200 && typeof reason === 'string' && reason.length <= 1_000
  );
};

/** Of a memo, which anybody in the namespace may have written. */
export const isHalt = (value: unknown): value is Halt => {
  if (!isControlRequest(value)) return false;
  const { id, at } = value as Partial<Halt>;
  return typeof id === 'string' && id.length <= 100 && Number.isFinite(at);
};

export const isResume = (value: unknown): value is Resume => {
  if (!isControlRequest(value)) return false;
  const { halt, at, signature } = value as Partial<Resume>;
  return (
    (halt === undefined || (typeof halt === 'string' && halt.length <= 100)) &&
    (at === undefined || Number.isSafeInteger(at)) &&
    (signature === undefined || (typeof signature === 'string' && signature.length <= 100))
  );
};
