/** How long to wait before the next try: pure. */
import type { ToolLimits } from '../protocol/tool.ts';

/** Milliseconds before try number `next` (2 or more): doubling from `backoffMs`, never above `maxBackoffMs`. */
export function backoffBefore(next: number, limits: Pick<ToolLimits, 'backoffMs' | 'maxBackoffMs'>): number {
  return Math.min(limits.backoffMs * 2 ** Math.max(0, next - 2), limits.maxBackoffMs);
}

/** Waits between looks whether a halted service has resumed. */
export const HELD_BACKOFF = { backoffMs: 1_000, maxBackoffMs: 30_000 } as const;

/** Waits between attempts of preparation, which only reads: 1 s doubling to 30 s. */
export const PREPARE_BACKOFF = { backoffMs: 1_000, maxBackoffMs: 30_000, maxTries: 6 } as const;
