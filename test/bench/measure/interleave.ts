/** Rows measured in turn, in another order each round, so that a noisy moment hits all of them alike. */

export interface Task {
  name: string;
  /** Takes part in every n-th round only; for rows that take long. */
  every?: number;
  /** Its time as a whole is no row; only what it returns is. */
  untimed?: boolean;
  /** What it returns is added to the rows of those names; the whole is timed under the task's own name, which it is told. */
  run(name: string): Promise<Record<string, number | number[]> | undefined | void>;
}

export interface InterleaveOptions {
  rounds: number;
  /** Rounds that are run first and thrown away: caches fill, code is compiled. */
  warmUp: number;
  /** Told after each round, 0 to 1. */
  progress?: (part: number) => void;
}

/** Milliseconds by row. */
export type Samples = Map<string, number[]>;

export async function interleave(
  tasks: readonly Task[],
  { rounds, warmUp, progress }: InterleaveOptions,
): Promise<Samples> {
  const samples: Samples = new Map();
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const { name, every = 1, untimed, run } of shuffled(tasks)) {
      if (round >= 0 && round % every !== 0) continue;
      const since = performance.now();
      const parts = await run(name);
      const took = performance.now() - since;
      if (round < 0) continue;
      if (!untimed) add(samples, name, took);
      for (const [part, ms] of Object.entries(parts ?? {})) add(samples, part, ...[ms].flat());
    }
    progress?.((round + warmUp + 1) / (rounds + warmUp));
  }
  return samples;
}

export function add(samples: Samples, name: string, ...ms: number[]): void {
  const row = samples.get(name);
  if (row) row.push(...ms);
  else samples.set(name, ms);
}

/** Fisher and Yates. */
function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [result[i], result[j]] = [result[j] as T, result[i] as T];
  }
  return result;
}
