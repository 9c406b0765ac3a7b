/** The line by which a call's end, or what it waits for, is told to programs. */
import type { CallHandle, Outcome, Settled } from '../../client/index.ts';
import { longCode } from '../../protocol/approval.ts';
import type { Halt } from '../../protocol/control.ts';
import type { CallError, OutcomeStatus } from '../../protocol/outcome.ts';
import { STATUS, type Status } from '../status.ts';

/** How far a call has come: `running` is said only to those who did not wait, or no longer. */
export type Progress = Settled | { state: 'running'; held?: Halt };

export interface HeldField {
  by: string;
  reason: string;
  /** ISO 8601. */
  at: string;
}

export const heldField = ({ by, reason, at }: Halt): HeldField => ({ by, reason, at: new Date(at).toISOString() });

export interface OutcomeLine extends Omit<Outcome, 'status'> {
  callId: string;
  session: string;
  tool: string;
  status: OutcomeStatus | 'waiting' | 'running';
  waitingFor?: 'approval' | 'correction';
  /** Of the request that waits for approval: `#` and 24 letters. */
  longCode?: string;
  /** Who halted the service, where that is why the call does not run yet. */
  held?: HeldField;
  error?: CallError;
  /** From the start to this answer, as this program saw it; of a call that was started before, to its end by Temporal's clock. */
  durationMs: number;
}

export function outcomeLine(
  call: Pick<CallHandle, 'callId' | 'session'>,
  tool: string,
  progress: Progress,
  durationMs: number,
): OutcomeLine {
  const name = { callId: call.callId, session: call.session, tool };
  switch (progress.state) {
    case 'done':
      return { ...name, ...progress.outcome, durationMs };
    case 'running': {
      const { held } = progress;
      return {
        ...name,
        status: 'running',
        ...(held && { held: heldField(held) }),
        attempts: 1,
        tries: 0,
        durationMs,
      };
    }
    case 'waiting': {
      const { waiting, seq } = progress;
      if (waiting.for === 'approval') {
        // Whatever was waited for before was a correction, and each of them began an attempt.
        const code = longCode(waiting.request.digest);
        return {
          ...name,
          status: 'waiting',
          waitingFor: 'approval',
          longCode: code,
          attempts: seq,
          tries: 0,
          durationMs,
        };
      }
      const { error, attempt } = waiting;
      return { ...name, status: 'waiting', waitingFor: 'correction', error, attempts: attempt, tries: 0, durationMs };
    }
  }
}

/** `running` is what was asked for by those who don't wait, and too long for those who do. */
export function statusOfLine({ status }: Pick<OutcomeLine, 'status'>, { waited }: { waited: boolean }): Status {
  switch (status) {
    case 'completed':
      return STATUS.done;
    case 'waiting':
      return STATUS.waiting;
    case 'running':
      return waited ? STATUS.waiting : STATUS.done;
    default:
      return STATUS.otherwise;
  }
}
