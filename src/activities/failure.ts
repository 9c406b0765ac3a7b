/** The one place where what went wrong becomes what callers see. */
import { type ErrorCode, callError, isCountersignError } from '../protocol/errors.ts';
import type { CallError, Execution } from '../protocol/outcome.ts';

/** An error as outcomes carry it. Errors that are not ours are `internal` failures of the tool, in their own words. */
export function toCallError(error: unknown, otherwise: ErrorCode = 'tool_failed'): CallError {
  if (isCountersignError(error)) {
    return { ...callError(error.code, error.message), ...(error.field !== undefined && { field: error.field }) };
  }
  const text = error instanceof Error ? error.message : String(error);
  return callError(otherwise, text.slice(0, 2_000));
}

/** How an execution that threw has ended. */
export function toExecution(error: unknown): Execution {
  const mapped = toCallError(error);
  const status = mapped.kind === 'PermissionDenied' ? 'denied' : mapped.kind === 'Timeout' ? 'timed_out' : 'failed';
  return { status, error: mapped };
}
