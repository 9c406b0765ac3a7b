/** Parsers of options, in commander's form. */
import { InvalidArgumentError } from 'commander';
import { durationMs } from '../../config/duration.ts';

/** `30s`, `5m`, `250ms` → milliseconds. */
export function duration(text: string): number {
  if (!/^\d{1,9}(ms|s|m|h|d)$/.test(text))
    throw new InvalidArgumentError('It is a number with ms, s, m, h or d, as 30s.');
  return durationMs(text);
}

/** Somebody's name, for options as `--as`. */
export function personName(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('It needs a name, as ann; left out, it is your name on this machine.');
  return text;
}

export function port(text: string): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
  return number;
}

export const concurrency = (text: string): number => count(text, 1_000);

/** How many lines a listing has at most. */
export const limit = (text: string): number => count(text, 100_000);

function count(text: string, most: number): number {
  const number = Number(text);
  if (!/^\d{1,6}$/.test(text) || number < 1 || number > most)
    throw new InvalidArgumentError(`It is a number from 1 to ${most}.`);
  return number;
}
