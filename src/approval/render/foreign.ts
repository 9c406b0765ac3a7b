/** Foreign text as lines that can be put behind a gutter: visible, cut in the middle, never longer than there is room. */
import type { Excerpt } from '../../protocol/preview.ts';
import { type Room, excerpt } from '../excerpt.ts';
import { oneDirection } from './look-alikes.ts';
import { charactersOf, exactText } from './safe-text.ts';

export interface ForeignLines {
  head: string[];
  /** What stands between head and tail, in our words; absent where nothing was cut. */
  left?: string;
  tail: string[];
}

/** What a character takes up when it is shown: its columns, counted high, because a line that a terminal wraps leaves its gutter. */
export function columnsOf(text: string): number {
  let columns = 0;
  // Past Latin, some fonts and terminals take two columns for a character; of an emoji, each part may be drawn for itself.
  for (const [first = '', ...rest] of charactersOf(text).map((character) => Array.from(character))) {
    const parts = 1 + rest.filter((part) => part !== '\u200d' && part !== '\ufe0f').length;
    const narrow = parts === 1 && ((first.codePointAt(0) ?? 0) <= 0x24f || NARROW.test(first));
    columns += narrow ? 1 : 2 * parts;
  }
  return columns;
}
/** Signs of ours that stand in foreign lines. */
const NARROW = /[⟨⟩]/;

/** What a character takes up once it is made visible. Of marks more than they need: heaps of them are shown by number. */
export const shownCost = (character: string): number => (MARK.test(character) ? 4 : columnsOf(shown(character)));
const MARK = /\p{M}/u;

/** Tabs are drawn, so that they are neither blanks nor a jump over the end of the line. */
const shown = (text: string): string => exactText(text).replaceAll('⇥', '⟨U+21E5⟩').replaceAll('\t', '⇥   ');

/** @param room `size` in columns */
export function foreignLines(content: string | Excerpt, room: Omit<Room, 'costOf'>): ForeignLines {
  const { head, left, tail } = fitted(typeof content === 'string' ? { head: content } : content, {
    ...room,
    costOf: shownCost,
  });
  const lines = (text: string): string[] => shown(text).split('\n').map(oneDirection);
  return {
    head: lines(head),
    ...(left && { left: leftText(left) }),
    tail: tail === undefined || tail === '' ? [] : lines(tail),
  };
}

const leftText = ({ lines, characters }: NonNullable<Excerpt['left']>): string => {
  const count = (value: number): string => (Number.isFinite(value) ? value.toLocaleString('en-US') : '?');
  return lines > 0
    ? `${count(lines)} lines, ${count(characters)} characters not shown`
    : `${count(characters)} characters not shown`;
};

/** An excerpt that was made for other room, in this room. */
function fitted(content: Excerpt, room: Room): Excerpt {
  const { head, left, tail = '' } = content;
  if (left === undefined) return excerpt(head, room);
  const part = (share: number): Room => ({
    ...room,
    lines: Math.max(1, Math.floor(room.lines * share)),
    size: Math.max(1, Math.floor(room.size * share)),
  });
  const start = excerpt(head, part(2 / 3));
  const end = excerpt(tail, part(1 / 3));
  const dropped = [start.left, start.left && sizeOf(start.tail ?? ''), end.left, end.left && sizeOf(end.head)];
  const sum = dropped.reduce((total, one) => add(total, one), add(left, undefined));
  return { head: start.head, left: sum ?? left, tail: end.left ? (end.tail ?? '') : end.head };
}

const sizeOf = (text: string): NonNullable<Excerpt['left']> => ({
  lines: text.split('\n').length - 1,
  characters: text.length,
});

const add = (a: Excerpt['left'], b: Excerpt['left']): Excerpt['left'] =>
  a && b ? { lines: a.lines + b.lines, characters: a.characters + b.characters } : (a ?? b);

/** The line in pieces of at most so many columns. */
export function wrapped(line: string, columns: number): string[] {
  const pieces: string[] = [];
  let [piece, width] = ['', 0];
  for (const character of charactersOf(line)) {
    const cost = columnsOf(character);
    if (width + cost > columns && piece !== '') {
      pieces.push(piece);
      [piece, width] = ['', 0];
    }
    piece += character;
    width += cost;
  }
  return [...pieces, piece];
}
