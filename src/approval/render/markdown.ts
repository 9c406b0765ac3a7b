/**
 * The request as Markdown, for the Temporal UI and for chat. Foreign text stands in code only: fences and backticks longer than any run
 * inside, so that no markup, link, image or HTML of it is one; and behind a gutter too, for readers that end fences early.
 */
import { type Row, documentOf } from './document.ts';
import { type ForeignLines, foreignLines } from './foreign.ts';
import type { RequestView } from './view.ts';

export interface MarkdownOptions {
  /** Lines of each text before its middle is left out. Default: 20. */
  lines?: number;
}

/** Columns that a line is reckoned to have, for cutting. */
const COLUMNS = 100;

export function toMarkdown(view: RequestView, { lines = 20 }: MarkdownOptions = {}): string {
  const rows = documentOf(view);
  return rows.map((row, i) => `${separator(row, rows[i - 1])}${rowText(row, lines)}`).join('\n');
}

/** Lists stay together, everything else is a paragraph of its own. */
const separator = (row: Row, before: Row | undefined): string =>
  before === undefined || (row.kind === before.kind && (row.kind === 'field' || row.kind === 'command')) ? '' : '\n';

function rowText(row: Row, lines: number): string {
  switch (row.kind) {
    case 'title':
      return `**${row.text}**`;
    case 'heading':
      return `**${row.text}**`;
    case 'note':
      return row.tone === 'careful' ? `⚠ ${escaped(row.text)}` : escaped(row.text);
    case 'command':
      return `- \`${row.text}\``;
    case 'field':
      return `- ${row.name}: ${code(foreignLines(String(row.text), { lines: 1, size: 2 * COLUMNS }))}`;
    case 'block':
      return foreignBlock(foreignLines(row.text, { lines, size: lines * COLUMNS }));
  }
}

/** A number at the start of a line of ours would begin a list, and swallow the block after it. */
const escaped = (text: string): string => text.replace(/^(\d+)\. /, '$1\\. ');

const longestRun = (text: string): number => Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));

/** Code in a line. Where something was cut, that is said outside of it. */
function code({ head, left, tail }: ForeignLines): string {
  const one = (lines: string[]): string => {
    const text = lines.join('⏎').trimEnd();
    if (text === '') return '(empty)';
    const ticks = '`'.repeat(longestRun(text) + 1);
    const pad = /^[ `]|[ `]$/.test(text) ? ' ' : '';
    return `${ticks}${pad}${text}${pad}${ticks}`;
  };
  return left === undefined ? one(head) : `${one(head)} (${left}) ${one(tail)}`;
}

/** Lines within a fence that none of them can end. */
export function fenced(lines: readonly string[]): string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [fence, ...lines, fence];
}

function foreignBlock({ head, left, tail }: ForeignLines): string {
  const block = (lines: string[]): string => fenced(lines.map((line) => `│ ${line}`)).join('\n');
  if (left === undefined) return block(head);
  return [block(head), '', `⋮ ${left}`, ...(tail.length === 0 ? [] : ['', block(tail)])].join('\n');
}
