/** What is said about a tool outside of its own file. */

/** In rising order of danger: a call's own risk can raise its tier, never lower it. */
export const TIERS = ['read_only', 'workspace', 'system', 'elevated'] as const;
export type Tier = (typeof TIERS)[number];

/** `read` may be repeated; `idempotent` may be repeated with the same call id; `once` is never repeated. */
export const EFFECTS = ['read', 'idempotent', 'once'] as const;
export type Effect = (typeof EFFECTS)[number];

/** The stricter of two tiers. */
export const higherTier = (a: Tier, b: Tier): Tier => (TIERS.indexOf(a) >= TIERS.indexOf(b) ? a : b);

/** How long one try may take and how timeouts are retried. All times in milliseconds. */
export interface ToolLimits {
  /** Time limit of one try; past it the try ends as `Timeout`. */
  timeoutMs: number;
  /** Tries in all when a try times out; always 1 for `once`. */
  maxTries: number;
  /** First wait before a retry; doubles with each. */
  backoffMs: number;
  /** Ceiling of that wait. */
  maxBackoffMs: number;
  /** Set on quick reads only (1,000 or less): such a call may run inside preparation, as a local activity. */
  quickMs?: number;
}
