/** What a row of samples comes to. */

export interface Summary {
  /** Number of samples. */
  n: number;
  p50: number;
  p95: number;
}

/** Nearest-rank percentile (0 to 1) of samples in any order. */
export function percentile(samples: readonly number[], rank: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(rank * sorted.length) - 1)] ?? Number.NaN;
}

/** Mean of the two in the middle where there are two. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

export const summary = (samples: readonly number[]): Summary => ({
  n: samples.length,
  p50: median(samples),
  p95: percentile(samples, 0.95),
});
