import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `check` holds; throws with `what` when that takes too long. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string,
  { everyMs = 10, withinMs = 60_000 } = {},
): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await check()); await sleep(everyMs)) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
  }
}
