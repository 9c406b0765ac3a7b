/** Columns. Cells are one line of safe text each; only the header is painted. */
import { paint } from '../io/output.ts';

const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115E\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;
const NONE = /\p{M}/u;

/** Columns of a terminal that the text takes: near enough for tables. */
export const widthOf = (text: string): number =>
  Array.from(text).reduce((width, character) => width + (NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1), 0);

/** The table's lines, with the header first. On a terminal the last column is cut to what fits. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = process.stdout.columns,
): string[] {
  const widths = header.map((title, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const room = columns === undefined ? Infinity : Math.max(20, columns - before);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === widths.length - 1 ? cut(cell, room) : padded(cell, widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(header)), ...rows.map(line)];
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** At most so many columns, with `…` where something was left out. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
