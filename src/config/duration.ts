/** Durations as people write them. Apart from the rest of the configuration, for commands that need nothing else of it. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration that the schema accepted: `30m`. */
export function durationMs(text: string): number {
  const [, count = '0', unit = 'ms'] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(count) * (UNITS[unit] ?? 1);
}
