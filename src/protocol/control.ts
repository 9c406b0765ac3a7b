/** The emergency stop: while the service is halted, nothing new runs and what waits goes on waiting. */

/** Workflow id of the one control workflow of a namespace. */
export const CONTROL_WORKFLOW_ID = 'countersign-control';
/** Where its memo says whether the service is halted: a {@link Halt}, or null. */
export const CONTROL_MEMO = 'countersignHalt';

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
  /** Milliseconds since the epoch. */
  at: number;
}

export const isControlRequest = (value: unknown): value is ControlRequest => {
  if (typeof value !== 'object' || value === null) return false;
  const { by, reason } = value as Record<string, unknown>;
  return (
    typeof by === 'string' && by.length > 0 && by.length <= 200 && typeof reason === 'string' && reason.length <= 1_000
  );
};
