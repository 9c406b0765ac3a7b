/** How work that was told to stop ends: in one way, wherever it was. */
import { CountersignError, isCountersignError } from '../protocol/errors.ts';

/** The error that the signal carries when it is one of ours (a time limit), `cancelled` otherwise. */
export function abortedBy(signal: AbortSignal): CountersignError {
  const reason: unknown = signal.reason;
  return isCountersignError(reason)
    ? reason
    : new CountersignError('cancelled', 'the call was cancelled', { cause: reason });
}

/** Throws when the signal has been given. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedBy(signal);
}
