/** Times as people say them. */

export { span } from '../../approval/render/times.ts';

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
