/**
 * The request for a terminal. Each foreign line stands behind `│`, and behind `┆` where it goes on from the line above; no line
 * of the frame has either. Lines are broken here, at the terminal's width: one that the terminal broke would leave the gutter.
 */
import { type Row, type Tone, documentOf } from './document.ts';
import { type ForeignLines, columnsOf, foreignLines, wrapped } from './foreign.ts';
import type { RequestView } from './view.ts';

export interface TerminalOptions {
  /** Columns; 24 at least. */
  width: number;
  color: boolean;
  /** Lines of each text before its middle is left out; Infinity shows all. Default: 24. */
  lines?: number;
}

const NAME_WIDTH = 10;
const MIN_WIDTH = 24;
/** Below it, a name stands on a line of its own. */
const BESIDE_WIDTH = 48;

export function toTerminal(view: RequestView, options: TerminalOptions): string {
  const width = Math.max(MIN_WIDTH, Math.floor(options.width));
  const form: Form = { width, lines: options.lines ?? 24, paint: options.color ? colored : (_, text) => text };
  const rows = documentOf(view);
  const cut = form.lines !== Infinity && rows.some((row) => isCut(row, form));
  return [...rows, ...(cut ? rest(view) : [])].flatMap((row) => rowLines(row, form)).join('\n');
}

/** Where the rest of what is not shown is found. */
const rest = ({ longCode }: RequestView): Row[] => [
  { kind: 'note', text: 'Not all of it is shown above. This shows all:', tone: 'careful' },
  { kind: 'command', text: `countersign show '${longCode}' --full` },
];

type Style = 'title' | 'heading' | 'dim' | 'good' | 'careful' | 'added' | 'removed' | 'plain';

interface Form {
  width: number;
  lines: number;
  paint(style: Style, text: string): string;
}

const CODES: Readonly<Record<Exclude<Style, 'plain'>, string>> = {
  title: '1;33',
  heading: '1',
  dim: '2',
  good: '32',
  careful: '33',
  added: '32',
  removed: '31',
};

const colored = (style: Style, text: string): string =>
  style === 'plain' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`;

const toneStyle = (tone: Tone | undefined, otherwise: Style): Style =>
  tone === undefined || tone === 'plain' ? otherwise : tone;

function rowLines(row: Row, form: Form): string[] {
  const { paint, width } = form;
  const own = (text: string, indent: string, style: Style): string[] =>
    broken(text, width - indent.length).map((line) => indent + paint(style, line));
  switch (row.kind) {
    case 'title':
      return own(row.text, '', 'title');
    case 'heading':
      return ['', ...own(row.text, '', toneStyle(row.tone, 'heading'))];
    case 'note':
      return own(row.text, '  ', toneStyle(row.tone, 'plain'));
    case 'command':
      return [`    ${row.text}`];
    case 'field':
      return fieldLines(row, form);
    case 'block':
      return gutterLines(blockOf(row, form), '  ', form, row.look === 'diff');
  }
}

const blockOf = ({ text }: Extract<Row, { kind: 'block' }>, { lines, width }: Form): ForeignLines =>
  foreignLines(text, { lines, size: lines * (width - 4) });

/** Whether a row leaves out what it was given; what a preview had left out before is in the arguments. */
function isCut(row: Row, form: Form): boolean {
  switch (row.kind) {
    case 'field':
      return fieldOf(row, form).shown.left !== undefined;
    case 'block':
      return typeof row.text === 'string' && blockOf(row, form).left !== undefined;
    default:
      return false;
  }
}

/** Foreign rows of one field, however long it is. */
const FIELD_LINES = 4;

type Field = Extract<Row, { kind: 'field' }>;

function fieldOf({ text }: Field, form: Form): { beside: boolean; indent: string; shown: ForeignLines } {
  const beside = form.width >= BESIDE_WIDTH;
  const indent = beside ? ' '.repeat(NAME_WIDTH + 3) : '  ';
  const lines = form.lines === Infinity ? Infinity : FIELD_LINES;
  return {
    beside,
    indent,
    shown: foreignLines(String(text), { lines, size: lines * (form.width - indent.length - 2) }),
  };
}

function fieldLines(field: Field, form: Form): string[] {
  const { name } = field;
  const { beside, indent, shown } = fieldOf(field, form);
  const lines = gutterLines(shown, indent, form, false);
  const label = `  ${form.paint('dim', name.padEnd(NAME_WIDTH))} `;
  if (!beside) return [`  ${form.paint('dim', name)}`, ...lines];
  return lines.map((line, i) => (i === 0 ? label + line.slice(indent.length) : line));
}

function gutterLines({ head, left, tail }: ForeignLines, indent: string, form: Form, diff: boolean): string[] {
  const columns = form.width - indent.length - 2;
  const foreign = (line: string): string[] => {
    const style: Style = !diff ? 'plain' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'plain';
    return wrapped(line, columns).map(
      (piece, i) => `${indent}${form.paint('dim', i === 0 ? '│' : '┆')} ${form.paint(style, piece)}`,
    );
  };
  return [
    ...head.flatMap(foreign),
    ...(left === undefined ? [] : [`${indent}${form.paint('careful', `⋮ ${left}`)}`]),
    ...tail.flatMap(foreign),
  ];
}

/** Words of ours on lines of at most so many columns. */
function broken(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && columnsOf(`${line} ${word}`) > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
