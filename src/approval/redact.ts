/** Secrets in text that is shown where more people look than decide: summaries, notifications, audits. */
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';

/**
 * Each pattern takes time in proportion to the text, whatever is in it: a word is looked at from its start only, and what may
 * repeat is never followed by what may match the same.
 */
const SECRETS: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g, '…'],
  [/\b(authorization:\s*(?:bearer|basic)\s+)\S+/gi, '$1…'],
  [
    /(?<![\w-])((?=[\w-]*(?:password|passwd|secret|token|api[-_]?key|access[-_]?key|credential))[\w-]+["']?\s*[=:]\s*["']?)[^\s"'&]+/gi,
    '$1…',
  ],
  // Behind a blank too, but not after a path: a file called passwd has no secret after it.
  [
    /(?<![\w/.-])((?=[\w-]*(?:password|passwd|secret|token|api[-_]?key|access[-_]?key|credential))[\w-]+["']?\s+["']?)[^\s"'&]+/gi,
    '$1…',
  ],
  [/(:\/\/[^/\s:@]+:)[^@\s/]+@/g, '$1…@'],
  [/\b(?:sk|pk|ghp|gho|ghs|github_pat|xox[abpr]|glpat|AKIA|ASIA|AIza)[-_]?[A-Za-z0-9_-]{12,}/g, '…'],
  [/(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g, '…'],
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
