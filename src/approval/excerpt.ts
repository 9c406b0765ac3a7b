/** Cutting text in its middle. */
import type { Excerpt } from '../protocol/preview.ts';

export interface Room {
  lines: number;
  /** In units of `costOf`. */
  size: number;
  /** What one character takes up; 1 unless said otherwise. */
  costOf?(character: string): number;
}

/** The text, or its first two thirds and its last third of what there is room for. Cuts between characters, never within one. */
export function excerpt(text: string, { lines, size, costOf = () => 1 }: Room): Excerpt {
  const tailRoom = { lines: Math.floor(lines / 3), size: Math.floor(size / 3) };
  const whole = firstOf(text, { lines, size }, costOf);
  if (whole === text.length) return { head: text };
  const end = firstOf(text, { lines: lines - tailRoom.lines, size: size - tailRoom.size }, costOf);
  const start = Math.max(end, lastOf(text, tailRoom, costOf));
  const between = text.slice(end, start);
  return {
    head: text.slice(0, end).replace(/\n$/, ''),
    left: { lines: count(between, '\n'), characters: between.length },
    tail: text.slice(start),
  };
}

/** How far from the start the room reaches. */
function firstOf(
  text: string,
  { lines, size }: { lines: number; size: number },
  costOf: (character: string) => number,
): number {
  let [at, left, breaks] = [0, size, 0];
  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    left -= costOf(character);
    if (left < 0) return at;
    at += character.length;
    if (character === '\n' && (breaks += 1) >= lines && at < text.length) return at;
  }
  return at;
}

/** From where on the room reaches the end. */
function lastOf(
  text: string,
  { lines, size }: { lines: number; size: number },
  costOf: (character: string) => number,
): number {
  let [at, left, breaks] = [text.length, size, 0];
  while (at > 0) {
    const pair = at > 1 && /[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 2, at));
    const character = text.slice(at - (pair ? 2 : 1), at);
    left -= costOf(character);
    if (left < 0) return at;
    if (character === '\n' && at < text.length && (breaks += 1) >= lines) return at;
    at -= character.length;
  }
  return at;
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}

/** Bytes of a character in JSON as UTF-8. */
export function jsonCost(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  if (code === 0x22 || code === 0x5c) return 2;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
