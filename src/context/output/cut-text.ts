/** Sizes of text as JSON, and cutting text to such a size between characters. */
import type { Json } from '../../protocol/json.ts';

/** Bytes of the value as JSON in UTF-8. Past `enough` it may answer any larger figure: nobody needs the exact size of what is too large. */
export function jsonBytes(value: Json, enough: number): number {
  if (typeof value === 'string')
    return value.length > enough ? value.length + 2 : Buffer.byteLength(JSON.stringify(value));
  if (Array.isArray(value)) {
    let size = 2;
    for (const item of value) {
      size += jsonBytes(item, enough) + 1;
      if (size > enough + 1) return size;
    }
    return value.length > 0 ? size - 1 : size;
  }
  if (typeof value === 'object' && value !== null) {
    let size = 2;
    const entries = Object.entries(value);
    for (const [key, item] of entries) {
      size += jsonBytes(key, enough) + 1 + jsonBytes(item, enough) + 1;
      if (size > enough + 1) return size;
    }
    return entries.length > 0 ? size - 1 : size;
  }
  return JSON.stringify(value).length;
}

/**
 * The text, cut so that as JSON it has at most `limit` bytes, its mark included. With `tail` a third of the room is kept for the end, where
 * commands say what went wrong. Text that fits is returned as it is.
 */
export function cutText(text: string, limit: number, { tail, mark }: { tail: boolean; mark: string }): string {
  if (jsonBytes(text, limit) <= limit) return text;
  const end = `\n${mark}`;
  const gap = tail ? '\n[…]\n' : '';
  const room = Math.max(0, limit - jsonBytes(end + gap, limit));
  const tailText = tail ? lastOf(text, Math.floor(room / 3)) : '';
  const headText = firstOf(text, room - (jsonBytes(tailText, limit) - 2));
  return `${headText}${gap}${tailText}${end}`;
}

/** Bytes of one code unit pair or unit inside a JSON string. Halves of pairs are escaped by JSON.stringify: six bytes. */
function unitBytes(code: number): number {
  if (code >= 0x10000) return 4;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  if (code >= 0x800) return 3;
  if (code >= 0x80) return 2;
  if (
    code === 0x22 ||
    code === 0x5c ||
    code === 0x0a ||
    code === 0x0d ||
    code === 0x09 ||
    code === 0x08 ||
    code === 0x0c
  )
    return 2;
  return code < 0x20 ? 6 : 1;
}

function firstOf(text: string, room: number): string {
  let left = room;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    left -= unitBytes(code);
    if (left < 0) break;
    at += code >= 0x10000 ? 2 : 1;
  }
  return text.slice(0, at);
}

function lastOf(text: string, room: number): string {
  let left = room;
  let at = text.length;
  while (at > 0) {
    const pair = at > 1 && isPair(text.charCodeAt(at - 2), text.charCodeAt(at - 1));
    const from = pair ? at - 2 : at - 1;
    left -= unitBytes(text.codePointAt(from) ?? 0);
    if (left < 0) break;
    at = from;
  }
  return text.slice(at);
}

const isPair = (high: number, low: number): boolean =>
  high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
