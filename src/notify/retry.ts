/** Tries again what failed for a passing reason. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NotTold } from './notifier.ts';

const WAITS_MS = [250, 1_000] as const;
/** What a receiver may ask us to wait; people wait meanwhile. */
const LONGEST_WAIT_MS = 3_000;

/** Three tries at most, as long as the signal lets it. */
export async function withRetries(attempt: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (const wait of [...WAITS_MS, undefined]) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof NotTold && error.temporary;
      if (!passing || wait === undefined || signal.aborted) throw error;
      try {
        await sleep(Math.min(error.retryAfterMs ?? wait, LONGEST_WAIT_MS), undefined, { signal });
      } catch {
        // There is no time for another try; what the last one failed of says more.
        throw error;
      }
    }
  }
}
