/** The one line by which an auditor knows a call in the Temporal UI. Written by the starter, so it proves nothing. */
import { redact } from '../approval/redact.ts';
import type { JsonObject } from '../protocol/json.ts';
import { plainMarkdown } from '../protocol/markdown.ts';

/** Arguments that name what a tool acts on, the most telling first. */
const TELLING = ['command', 'path', 'pattern', 'url', 'query', 'to'] as const;
/** Temporal takes 400 bytes. */
const MAX_BYTES = 300;

/** `shell: npm test`, with what looks like a secret replaced by `…`. */
export function callSummary(tool: string, args: JsonObject): string {
  const telling = TELLING.map((name) => args[name]).find((value) => typeof value === 'string');
  // The UI shows it as Markdown, on one line.
  const text = plainMarkdown(redact(`${tool}${telling === undefined ? '' : `: ${telling}`}`));
  return cut(text, MAX_BYTES);
}

function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let end = Math.min(text.length, maxBytes);
  while (Buffer.byteLength(text.slice(0, end)) > maxBytes - 3) end -= 1;
  return `${text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
