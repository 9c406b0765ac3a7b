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

/** Local date and time to the second. */
export function clock(at: number | string | Date): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** {@link clock} without the day, to the millisecond. */
export const clockMs = (at: number | string | Date): string =>
  `${clock(at).slice(11)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;
