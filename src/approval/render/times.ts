/** Times as people say them. */

/** `850 ms`, `3.2 s`, `5 min`, `2 h 5 min`, `3 d`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** `2026-11-21 22:43:28 UTC`: the same for everybody who is told. */
export function utc(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? 'at no time that can be read'
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
