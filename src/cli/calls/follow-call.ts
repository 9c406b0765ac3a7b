/** Waits for a call as long as its caller wants to. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallHandle } from '../../client/index.ts';
import type { Halt } from '../../protocol/control.ts';
import type { Progress } from './outcome-line.ts';

/**
 * `settle`: until the call is done or needs someone. `none`: not at all. A number: that many milliseconds, also while a person
 * has to decide or to resume the service; a correction is the caller's own business and is never waited for.
 */
export type Wait = 'settle' | 'none' | number;

/** Timers of Node take no more: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether a call is held by a halt is looked at this long after it was begun to wait for it, then ever less often. */
const LOOK_AFTER_MS = 1_000;
const LOOK_AT_LEAST_MS = 30_000;

export interface Following {
  /** How many waiting states the caller knows of already. */
  seen?: number;
  /** Hears of requests for approval that are waited out. */
  onWaiting?: (progress: Progress & { state: 'waiting' }) => void;
  /** Hears of a halt that is waited out. */
  onHeld?: (halt: Halt) => void;
}

export async function followCall(
  call: CallHandle,
  wait: Wait,
  { seen = 0, onWaiting, onHeld }: Following = {},
): Promise<Progress> {
  if (wait === 'none') return asProgress(await heldNow(call));
  const over = new AbortController();
  const held = whenHeld(call, over.signal);
  try {
    if (wait === 'settle') return await Promise.race([call.settled(seen), held.then(asProgress)]);
    if (onHeld) void held.then(onHeld);
    const deadline = sleep(Math.min(wait, MAX_TIMER_MS), undefined, { signal: over.signal }).catch(() => undefined);
    let last: Progress = { state: 'running' };
    let known = seen;
    for (;;) {
      const next = await Promise.race([call.settled(known), deadline]);
      if (next === undefined) return await stillSo(call, last);
      if (next.state === 'done' || next.waiting.for === 'correction') return next;
      last = next;
      known = next.seq;
      onWaiting?.(next);
    }
  } finally {
    over.abort();
  }
}

/** How a call stands at this moment. */
export async function standingOf(call: CallHandle): Promise<Progress> {
  const now = await call.now();
  return now.state === 'running' ? asProgress(await heldNow(call)) : now;
}

/** Resolves once the service is halted and holds the call; never where nobody waits any more. */
async function whenHeld(call: CallHandle, signal: AbortSignal): Promise<Halt> {
  for (let wait = LOOK_AFTER_MS; ; wait = Math.min(2 * wait, LOOK_AT_LEAST_MS)) {
    await sleep(wait, undefined, { signal }).catch(() => undefined);
    const held = signal.aborted ? undefined : await heldNow(call);
    if (signal.aborted) return new Promise(() => undefined);
    if (held) return held;
  }
}

/** A request that was decided in the meantime is none any more, though the call is not done. */
async function stillSo(call: CallHandle, last: Progress): Promise<Progress> {
  if (last.state === 'waiting' && (await call.approval().catch(() => undefined))) return last;
  return asProgress(await heldNow(call));
}

const asProgress = (held: Halt | undefined): Progress => ({ state: 'running', ...(held && { held }) });

/** Only a courtesy: whoever waits hears of what is wrong with the server from the waiting itself. */
const heldNow = (call: CallHandle): Promise<Halt | undefined> => call.held().catch(() => undefined);
