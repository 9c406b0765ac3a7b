/** The lines of a request's page. Whatever a model wrote in them stands behind a gutter: see src/approval/render/terminal.ts. */
import { decisionCommands, describeRequest, toTerminal } from '../../approval/render/index.ts';
import { foreignLines, wrapped } from '../../approval/render/foreign.ts';
import { safeJson } from '../../approval/render/safe-text.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { Shown } from './state.ts';

/** The page scrolls, so that texts are cut late: a call's arguments take 256 KB at most. */
const LINES = 4_000;
/** Longer lines are harder to read than to scroll. */
const WIDEST = 120;
/** Times on the page are of then; the bar above it has those of now. */
const FRESH_MS = 15_000;

interface Made {
  columns: number;
  color: boolean;
  at: number;
  lines: string[];
}
const made = new WeakMap<Shown, Made>();

/** Remembered for a while, since a page of 256 KB is drawn again at each key. */
export function documentLines(
  shown: Shown,
  columns: number,
  { color, now }: { color: boolean; now: number },
): string[] {
  const known = made.get(shown);
  if (known?.columns === columns && known.color === color && Math.abs(now - known.at) < FRESH_MS) return known.lines;
  const lines = linesOf(shown, Math.min(columns, WIDEST), color, now);
  made.set(shown, { columns, color, at: now, lines });
  return lines;
}

/** The same count whatever the time and the colours. */
export function documentHeight(shown: Shown, columns: number): number {
  const known = made.get(shown);
  if (known?.columns === columns) return known.lines.length;
  return documentLines(shown, columns, { color: false, now: shown.open.requestedAt }).length;
}

function linesOf({ open, preview, edited }: Shown, width: number, color: boolean, now: number): string[] {
  const { route, collected } = open;
  const view = describeRequest(open, { route, now, ...(preview && { preview }), ...(collected && { collected }) });
  // Here keys decide; the commands are for those who read it elsewhere.
  const commands = new Set(decisionCommands(view).map((command) => `    ${command}`));
  const text = toTerminal(view, { width, color, lines: LINES });
  const request = text.split('\n').filter((line) => !commands.has(line));
  return edited ? [...editedLines(edited, width, color), '', ...request] : request;
}

function editedLines(edited: JsonObject, width: number, color: boolean): string[] {
  const { head, left, tail } = foreignLines(safeJson(edited, 2), { lines: LINES, size: LINES * width });
  const lines = [...head, ...(left === undefined ? [] : [`⋮ ${left}`]), ...tail];
  const heading = 'Your arguments, which would run in place of those below';
  return [
    color ? `\u001b[1;33m${heading}\u001b[0m` : heading,
    ...lines.flatMap((line) => wrapped(line, width - 4).map((piece, i) => `  ${i === 0 ? '│' : '┆'} ${piece}`)),
  ];
}
