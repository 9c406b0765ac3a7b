/**
 * The screen's lines, of a state: pure, one string a row. The bar, the rule and the foot are ours and stand at fixed rows;
 * foreign text is made safe, cut to its place, and stands behind `│` between them.
 */
import { columnsOf, wrapped } from '../../approval/render/foreign.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { isSessionId } from '../../protocol/ids.ts';
import { span } from '../render/time.ts';
import { documentHeight, documentLines } from './document.ts';
import {
  type Asking,
  type Notice,
  type RequestPage,
  type Row,
  type Shown,
  type State,
  FOOT_HEIGHT,
  GONE,
  LISTED,
  SMALLEST,
  bodyHeight,
  isTooSmall,
  othersEdit,
  selectedIndex,
  stillWaits,
  visibleRows,
} from './state.ts';

export interface FrameOptions {
  color: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

const CODES = {
  bar: '7;1',
  bold: '1',
  dim: '2',
  good: '32',
  bad: '31',
  careful: '33',
  ask: '1;33',
  plain: '',
} as const;
type Style = keyof typeof CODES;
type Paint = (style: Style, text: string) => string;

/** {@link span} without fractions, which would only flicker. */
const seconds = (ms: number): string => (ms < 59_500 ? `${Math.max(0, Math.round(ms / 1_000))} s` : span(ms));

/** As many lines as the window has rows, none wider than it. */
export function frame(state: State, { color, now }: FrameOptions): string[] {
  const { size } = state;
  const paint: Paint = (style, text) =>
    color && style !== 'plain' && text !== '' ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
  if (isTooSmall(size))
    return filled(
      [
        `This window is too small (${size.columns}×${size.rows}).`,
        `The inbox needs ${SMALLEST.columns}×${SMALLEST.rows}. q quits.`,
      ].map((line) => line.slice(0, size.columns)),
      size.rows,
    );
  const body = state.help ? helpLines(state, paint) : bodyLines(state, { color, now }, paint);
  return [
    paint('bar', barText(state, now)),
    ...filled(body, bodyHeight(size)),
    paint('dim', ruleText(state, { color, now })),
    ...filled(footLines(state, paint), FOOT_HEIGHT),
    paint('dim', own(keysText(state), size.columns)),
  ];
}

const filled = (lines: string[], rows: number): string[] => Array.from({ length: rows }, (_, i) => lines[i] ?? '');

/** Our own words: each character takes one column. */
const own = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;

/** Somebody else's, on one line and in so many columns. */
export function foreign(text: string, columns: number): string {
  // What lies far beyond the window's edge need not be looked at.
  const line = safeLine(text.slice(0, 2_000));
  if (columnsOf(line) <= columns && text.length <= 2_000) return line;
  let kept = '';
  let width = 1;
  for (const character of line) {
    width += columnsOf(character);
    if (width > columns) break;
    kept += character;
  }
  return columns > 0 ? `${kept}…` : '';
}

// ── the bar ─────────────────────────────────────────────────────────────────

function barText(state: State, now: number): string {
  const { page, size } = state;
  if (page.at !== 'request' || state.help) return spread(' Countersign inbox', `${waitingText(state)} `, size.columns);
  const { open } = page.shown;
  const { request, code, tier } = open;
  const left = request.expiresAt - now;
  const tool = foreign(request.tool, 24);
  return spread(
    ` ${code}  ${tool}  ${tier}`,
    `${left > 0 ? `expires in ${seconds(left)}` : 'has expired'} `,
    size.columns,
  );
}

function spread(left: string, right: string, columns: number): string {
  const space = columns - columnsOf(left) - right.length;
  return space > 0 ? `${left}${' '.repeat(space)}${right}` : own(left, columns);
}

function waitingText({ rows, listed, waiting, halted }: State): string {
  const count = !listed
    ? 'looking …'
    : rows.length === 1
      ? '1 request waits'
      : rows.length >= LISTED
        ? `the newest ${LISTED} of ${waiting === undefined ? 'what waits' : waiting.toLocaleString('en-US')}`
        : `${rows.length} requests wait`;
  return halted ? `HALTED · ${count}` : count;
}

// ── between bar and rule ────────────────────────────────────────────────────

function bodyLines(state: State, options: FrameOptions, paint: Paint): string[] {
  const { page, size } = state;
  switch (page.at) {
    case 'list':
      return listLines(state, options.now, paint);
    case 'opening':
      return ['', paint('dim', '  Looking …')];
    case 'request':
      return documentLines(page.shown, size.columns, options).slice(page.scroll, page.scroll + bodyHeight(size));
  }
}

function listLines(state: State, now: number, paint: Paint): string[] {
  if (state.rows.length === 0)
    return ['', paint('dim', state.listed ? '  Nothing waits for you. The list refreshes by itself.' : '  Looking …')];
  const chosen = state.rows[selectedIndex(state)];
  return visibleRows(state).flatMap((row) => rowLines(row, state, now, paint, row === chosen));
}

function rowLines(row: Row, state: State, now: number, paint: Paint, chosen: boolean): string[] {
  const { columns } = state.size;
  const tool = foreign(row.tool, 16);
  const head = ` ${chosen ? '▸' : ' '} ${row.code}  `;
  const room = columns - head.length - columnsOf(tool) - 4;
  const { summary, agent } = row;
  const left = row.expiresAt - now;
  const times = `waits ${seconds(now - row.since)} · ${left > 0 ? `${seconds(left)} left` : 'expired'}`;
  const indent = ' '.repeat(head.length);
  const facts = `${foreign(row.tier, 10)} · ${times} · `;
  // The rest are ids by their form; an agent's name that is none stands on the request's own page.
  const who = foreign(
    `${agent === undefined || !isSessionId(agent) ? '' : `${agent} · `}${row.route.join(' → ')}`,
    columns - indent.length - facts.length,
  );
  return [
    `${paint(chosen ? 'ask' : 'plain', head)}${paint('bold', tool)}  ${summary === '' ? '' : `${paint('dim', '│')} ${foreign(withoutTool(summary, row.tool), room)}`}`,
    `${indent}${paint('dim', facts + who)}`,
  ];
}

/** Summaries begin with the tool's name, which stands beside them. */
const withoutTool = (summary: string, tool: string): string =>
  summary.startsWith(`${tool}: `) ? summary.slice(tool.length + 2) : summary;

const HELP = [
  '',
  '  In the list',
  '    ↑ ↓, PgUp PgDn, Home End  choose a request; the choice stays with it',
  '    Enter, →                  look at it',
  '    r                         refresh now (it does so by itself each second)',
  '',
  '  On a request',
  '    ↑ ↓, PgUp PgDn, Space     read all of it',
  '    y, then Enter             approve exactly what is shown, once',
  '    n, a reason, Enter        deny it; the model is told the reason',
  '    e, then y, Enter          approve with arguments changed in your editor',
  '    s, then y, Enter          approve with the arguments that others approve',
  '    g, a time, Enter          let this very call run unasked, for so long',
  '    r                         look again        Esc, ←  back to the list',
  '',
  '  │ begins what a model or somebody else wrote. ⟨U+202E⟩ is a character that',
  '  would not be seen. The digest of what you see is computed here.',
];

const helpLines = ({ grants, size }: State, paint: Paint): string[] =>
  HELP.filter((line) => grants || !line.startsWith('    g')).map((line) =>
    /^ {2}\S/.test(line) ? paint('bold', own(line, size.columns)) : own(line, size.columns),
  );

// ── rule and foot ───────────────────────────────────────────────────────────

function ruleText(state: State, options: FrameOptions): string {
  const { page, size, rows } = state;
  const said = state.help
    ? ''
    : page.at === 'request'
      ? shownPart(page, state, options)
      : page.at === 'list'
        ? listPart(state, rows)
        : '';
  const title = said === '' ? '' : ` ${said} `;
  return own(`──${title}`.padEnd(size.columns, '─'), size.columns);
}

function shownPart({ shown, scroll }: RequestPage, { size }: State, options: FrameOptions): string {
  const height = documentLines(shown, size.columns, options).length;
  const below = height - scroll - bodyHeight(size);
  return below > 0
    ? `${below} more ${below === 1 ? 'line' : 'lines'} below: ↓ PgDn Space`
    : scroll > 0
      ? 'the end'
      : '';
}

function listPart(state: State, rows: readonly Row[]): string {
  const visible = visibleRows(state);
  if (visible.length >= rows.length) return '';
  const from = rows.indexOf(visible[0] as Row) + 1;
  return `${from}–${from + visible.length - 1} of ${rows.length.toLocaleString('en-US')}`;
}

/** Where the inbox speaks: a question, what is under way, what came of it, or why the list is old. */
function footLines(state: State, paint: Paint): string[] {
  const { page, size, notice, busy, problem, halted } = state;
  const { columns } = size;
  const say = (said: Notice): string[] => noticeLines(said, columns, paint);
  // What Enter would do is never hidden behind something else.
  if (page.at === 'request' && page.asking) {
    if (page.asking.for === 'approve') return approveLines(state, page, paint);
    return [typingLine(page, page.asking, columns, paint), ...(notice ? say(notice) : [])].slice(0, FOOT_HEIGHT);
  }
  if (notice) return say(notice);
  if (busy !== undefined) return say({ tone: 'plain', text: `${busy} …` });
  if (problem !== undefined) return say({ tone: 'bad', text: 'The list is not of now:', foreign: problem });
  if (page.at === 'request' && !stillWaits(state, page.shown)) return say(GONE);
  if (halted)
    return say({
      tone: 'bad',
      text: 'The service is halted; what you approve is held until it is resumed.',
      foreign: `${halted.by}: ${halted.reason}`,
    });
  return [];
}

/** Theirs goes on in the next line behind `┆`, as everywhere. */
function noticeLines({ tone, text, foreign: said }: Notice, columns: number, paint: Paint): string[] {
  const ours = own(` ${text}`, columns);
  const first = paint(tone === 'plain' ? 'careful' : tone, ours);
  if (said === undefined) return [first];
  const line = foreign(said, columns * FOOT_HEIGHT - ours.length - 6);
  const beside = columns - ours.length - 3;
  const head = wholeWords(line, Math.max(2, beside));
  const rest = line.slice(head.length).trimStart();
  return [
    `${first} ${paint('dim', '│')} ${head}`,
    ...(rest === '' ? [] : [` ${paint('dim', '┆')} ${foreign(rest, columns - 3)}`]),
  ];
}

/** What fits of a line, up to the end of a word where one ends not far before. */
function wholeWords(line: string, columns: number): string {
  const [piece = ''] = wrapped(line, columns);
  const space = piece.lastIndexOf(' ');
  return piece.length < line.length && line[piece.length] !== ' ' && space > piece.length / 2
    ? piece.slice(0, space)
    : piece;
}

function approveLines({ size: { columns } }: State, { shown, seen }: RequestPage, paint: Paint): string[] {
  const { open, edited } = shown;
  const unread = documentHeight(shown, columns) - seen;
  const what = edited
    ? 'with your arguments in place of its own'
    : open.bound?.partly
      ? 'though it is only partly bound'
      : 'exactly as shown';
  const warning = unread > 0 ? ` ${unread} ${unread === 1 ? 'line' : 'lines'} you have not seen.` : '';
  return [
    paint('ask', own(` Approve ${open.code} ${what}?`, columns)),
    `${paint('careful', warning)} Enter approves, Esc goes back.`,
  ];
}

function typingLine(
  { shown }: RequestPage,
  asking: Exclude<Asking, { for: 'approve' }>,
  columns: number,
  paint: Paint,
): string {
  const title =
    asking.for === 'deny' ? ` Deny ${shown.open.code}, because: ` : ' Always allow exactly this, for (30m, 8h, 7d): ';
  return `${paint('ask', title)}${typedPart(asking.text, columns - title.length - 1)}${paint('bar', ' ')}`;
}

/** The end of what is typed, where the typing is. */
function typedPart(text: string, columns: number): string {
  const line = safeLine(text);
  const characters = Array.from(line);
  let width = 0;
  let from = characters.length;
  while (from > 0 && width + columnsOf(characters[from - 1] ?? '') < columns) {
    from -= 1;
    width += columnsOf(characters[from] ?? '');
  }
  return characters.slice(from).join('');
}

function keysText({ page, help, grants }: State): string {
  if (help) return ' any key goes back   q quit';
  switch (page.at) {
    case 'list':
      return ' ↑↓ choose   Enter look   r refresh   ? help   q quit';
    case 'opening':
      return ' Esc back   q quit';
    case 'request':
      if (page.asking)
        return page.asking.for === 'approve'
          ? ' Enter approve  Esc back  ↑↓ scroll'
          : ` Enter ${page.asking.for}  Esc back  Ctrl-U clear`;
      return ` y approve  n deny  e edit  ${changesText(page.shown)}${grants ? 'g grant  ' : ''}↑↓ scroll  Esc back  ? help  q quit`;
  }
}

const changesText = (shown: Shown): string => (shown.edited ? 'u undo  ' : othersEdit(shown) ? 's same  ' : '');
