/** The one line by which an auditor knows a call in the Temporal UI. Written by the starter, so it proves nothing. */
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';

/** Arguments that name what a tool acts on, the most telling first. */
const TELLING = ['command', 'path', 'pattern', 'url', 'query', 'to'] as const;
/** Temporal takes 400 bytes. */
const MAX_BYTES = 300;

/** `shell: npm test`, with what looks like a secret replaced by `…`. */
export function callSummary(tool: string, args: JsonObject): string {
  const telling = TELLING.map((name) => args[name]).find((value) => typeof value === 'string');
  // Backticks and the like are Markdown to the UI; control characters would break the line.
  const text = redact(`${tool}${telling === undefined ? '' : `: ${telling}`}`).replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return cut(text, MAX_BYTES);
}

const SECRETS: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g, '…'],
  [/\b(authorization:\s*(?:bearer|basic)\s+)\S+/gi, '$1…'],
  [/\b((?:[\w-]*(?:password|passwd|secret|token|api[-_]?key|access[-_]?key|credential)[\w-]*)["']?\s*[=:\s]\s*["']?)[^\s"'&]+/gi, '$1…'],
  [/(:\/\/[^/\s:@]+:)[^@\s/]+@/g, '$1…@'],
  [/\b(?:sk|pk|ghp|gho|ghs|github_pat|xox[abpr]|glpat|AKIA|ASIA|AIza)[-_]?[A-Za-z0-9_-]{12,}/g, '…'],
  [/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g, '…'],
];

/** Replaces what looks like a secret. Best effort, for display only. */
export const redact = (text: string): string =>
  SECRETS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);

const SECRET_NAME = /password|passwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization/i;

/** {@link redact} for every text in an object, and the whole text under a name that says what it is. */
export function redactJson(object: JsonObject): JsonObject {
  const entries = Object.entries(object).map(([name, value]): [string, Json] => [
    name,
    typeof value === 'string' && SECRET_NAME.test(name) ? '…' : redactValue(value),
  ]);
  return Object.fromEntries(entries);
}

function redactValue(value: Json): Json {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactValue);
  return isJsonObject(value) ? redactJson(value) : value;
}

function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let end = Math.min(text.length, maxBytes);
  while (Buffer.byteLength(text.slice(0, end)) > maxBytes - 3) end -= 1;
  return `${text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
