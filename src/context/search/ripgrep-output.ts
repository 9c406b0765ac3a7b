/** ripgrep's `--json` lines → matches with the lines around them. */
import type { SearchResult } from '../../tools/tool-context.ts';

const LINE_LENGTH = 300;

type Match = SearchResult['matches'][number];
interface RipgrepText {
  text?: string;
  bytes?: string;
}
type Message = { type: string; data: { path?: RipgrepText; lines?: RipgrepText; line_number?: number | null } };

/** The first `maxMatches`, in ripgrep's order. */
export function parseMatches(json: string, maxMatches: number): SearchResult {
  const matches: Match[] = [];
  /** Lines of context since the last match; they come before the next one if there is one. */
  let since: { line: number; text: string }[] = [];
  for (const row of json.split('\n')) {
    const message = messageOf(row);
    if (message?.type === 'end') {
      giveAfter(matches.at(-1), since);
      since = [];
    }
    if (message?.type === 'context') since.push(lineOf(message));
    if (message?.type !== 'match') continue;
    if (matches.length === maxMatches) {
      giveAfter(matches.at(-1), since);
      return { matches, truncated: true };
    }
    const { line, text } = lineOf(message);
    const match: Match = { path: pathOf(message), line, text };
    const previous = matches.at(-1);
    if (previous !== undefined && previous.path === match.path) giveAfter(previous, since);
    const before = run(since, line - 1, -1);
    if (before.length > 0) match.before = before;
    matches.push(match);
    since = [];
  }
  giveAfter(matches.at(-1), since);
  return { matches, truncated: false };
}

/** Undefined for a row that was cut off, as the last is when the output was capped. */
function messageOf(row: string): Message | undefined {
  if (row === '') return undefined;
  try {
    return JSON.parse(row) as Message;
  } catch {
    return undefined;
  }
}

function giveAfter(match: Match | undefined, since: readonly { line: number; text: string }[]): void {
  if (match === undefined) return;
  const after = run(since, match.line + 1, 1);
  if (after.length > 0) match.after = after;
}

/** Texts of the lines that adjoin `from` without a gap, in the order of the file. */
function run(lines: readonly { line: number; text: string }[], from: number, step: 1 | -1): string[] {
  const byLine = new Map(lines.map(({ line, text }) => [line, text]));
  const texts: string[] = [];
  for (let line = from; byLine.has(line); line += step) texts.push(byLine.get(line) ?? '');
  return step === 1 ? texts : texts.reverse();
}

const pathOf = ({ data }: Message): string => decode(data.path).replace(/^\.\//, '');

function lineOf({ data }: Message): { line: number; text: string } {
  const text = decode(data.lines).replace(/\r?\n$/, '');
  return {
    line: data.line_number ?? 0,
    text: text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH - 1).toWellFormed()}…` : text,
  };
}

/** ripgrep gives what is no UTF-8 as base64. */
const decode = (value: RipgrepText | undefined): string =>
  value?.text ?? Buffer.from(value?.bytes ?? '', 'base64').toString('utf8');
