/** What a part of the benchmark finds out. */
import type { Progress } from '../measure/progress.ts';
import type { Summary } from '../measure/stats.ts';
import type { Stage } from '../stage/stage.ts';

export interface Row extends Summary {
  name: string;
  unit: 'ms' | 'calls/s' | 'MB' | 'KB';
  /** Events in the history of one such call. */
  events?: number;
  /** How it stands to another row. */
  ratio?: { of: string; value: number };
  note?: string;
}

/** One line of the REACH list. */
export interface Target {
  what: string;
  /** `at most` or `at least` this. */
  limit: { at: 'most' | 'least'; value: number; unit: string };
  measured: number;
}

export interface Found {
  rows: Row[];
  targets?: Target[];
}

export interface Surroundings {
  stage: Stage;
  soak: boolean;
  progress: Pick<Progress, 'at'>;
}

export interface Part {
  name: string;
  title: string;
  /** On the machine of docs/performance.md: in a default run, and in one with --soak. */
  seconds: number;
  soakSeconds?: number;
  run(surroundings: Surroundings): Promise<Found>;
}

export const atMost = (what: string, value: number, unit: string, measured: number): Target => ({
  what,
  limit: { at: 'most', value, unit },
  measured,
});
export const atLeast = (what: string, value: number, unit: string, measured: number): Target => ({
  what,
  limit: { at: 'least', value, unit },
  measured,
});

export const holds = ({ limit: { at, value }, measured }: Target): boolean =>
  at === 'most' ? measured <= value : measured >= value;
