/**
 * Text from models and people in what the Temporal UI shows as Markdown: it appears as it is written, and is no link, no picture
 * (the UI would fetch it) and no HTML. Escapes are CommonMark's, section 2.4.
 */
export const plainMarkdown = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/[\\`*_[\]<>!|~&@]/g, '\\$&')
    .replace(/:\/\//g, ':\\/\\/')
    .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}\\.`);

/** `2026-11-21 14:05 UTC`; says so where it is no time that a `Date` can be. */
export function plainTime(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'no known time';
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What was written, of a text that {@link plainMarkdown} made. */
export const fromPlainMarkdown = (text: string): string => text.replace(/\\([\\`*_[\]<>!|~&@/.])/g, '$1');
