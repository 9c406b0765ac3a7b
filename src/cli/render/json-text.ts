/** JSON from a model as people read it: one name a line, long text as it is, everything hidden made visible. */
import type { Json, JsonObject } from '../../protocol/json.ts';
import { isJsonObject } from '../../protocol/json.ts';
import { paint } from '../io/output.ts';
import { safeJson, safeLine, safeText } from '../../approval/render/safe-text.ts';

/** The members of an object, indented by two; text of several lines as a block behind `│`. */
export function objectLines(object: JsonObject, indent = '  '): string[] {
  const entries = Object.entries(object);
  if (entries.length === 0) return [`${indent}${paint('dim', '(none)')}`];
  return entries.flatMap(([name, value]) => memberLines(safeLine(name), value, indent));
}

function memberLines(name: string, value: Json, indent: string): string[] {
  const title = `${indent}${paint('cyan', name)}:`;
  if (typeof value === 'string' && isBlock(value)) {
    const block = safeText(value.replace(/\n$/, '')).split('\n');
    return [title, ...block.map((line) => `${indent}  ${paint('dim', '│')} ${line}`)];
  }
  if (typeof value === 'string') return [`${title} ${isPlain(value) ? safeLine(value) : safeJson(value)}`];
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')) {
    return [title, ...value.map((item) => `${indent}  - ${safeLine(item)}`)];
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) return [title, ...objectLines(value, `${indent}  `)];
  return [`${title} ${safeJson(value)}`];
}

const isBlock = (text: string): boolean => text.trimEnd().includes('\n');

/** Blanks at the ends and emptiness are seen only within quotes. */
const isPlain = (text: string): boolean => text !== '' && text.trim() === text;
