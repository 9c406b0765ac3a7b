/** Signals from one workflow to another, where the other may be gone. */
import {
  ApplicationFailure,
  CancellationScope,
  type ExternalWorkflowHandle,
  type SignalDefinition,
  isCancellation,
} from '@temporalio/workflow';

/** Sends; false when the receiver is closed or does not exist. Not cut short by the sender's own cancellation. */
export async function signalIfThere<Args extends unknown[]>(
  receiver: ExternalWorkflowHandle,
  signal: SignalDefinition<Args>,
  ...args: Args
): Promise<boolean> {
  try {
    await CancellationScope.nonCancellable(() => receiver.signal(signal, ...args));
    return true;
  } catch (error) {
    // Core reports a missing receiver as a failure of this command; anything else would be a fault of ours.
    if (!isCancellation(error) && error instanceof Error) return false;
    throw ApplicationFailure.nonRetryable(String(error));
  }
}
