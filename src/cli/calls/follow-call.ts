/** Waits for a call as long as its caller wants to. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallHandle } from '../../client/index.ts';
import type { Progress } from './outcome-line.ts';

/**
 * `settle`: until the call is done or needs someone. `none`: not at all. A number: that many milliseconds, also while a person
 * has to decide; a correction is the caller's own business and is never waited for.
 */
export type Wait = 'settle' | 'none' | number;

/** Timers of Node take no more: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `seen`: how many waiting states the caller knows of already. `onWaiting` hears of requests for approval that are waited out. */
export async function followCall(
  call: CallHandle,
  wait: Wait,
  { seen = 0, onWaiting }: { seen?: number; onWaiting?: (progress: Progress & { state: 'waiting' }) => void } = {},
): Promise<Progress> {
  if (wait === 'none') return { state: 'running' };
  if (wait === 'settle') return call.settled(seen);
  const late = new AbortController();
  const deadline = sleep(Math.min(wait, MAX_TIMER_MS), undefined, { signal: late.signal }).catch(() => undefined);
  let last: Progress = { state: 'running' };
  let known = seen;
  try {
    for (;;) {
      const next = await Promise.race([call.settled(known), deadline]);
      if (next === undefined) return await stillSo(call, last);
      if (next.state === 'done' || next.waiting.for === 'correction') return next;
      last = next;
      known = next.seq;
      onWaiting?.(next);
    }
  } finally {
    late.abort();
  }
}

/** A request that was decided in the meantime is none any more, though the call is not done. */
async function stillSo(call: CallHandle, last: Progress): Promise<Progress> {
  if (last.state !== 'waiting') return last;
  return (await call.approval().catch(() => undefined)) ? last : { state: 'running' };
}
