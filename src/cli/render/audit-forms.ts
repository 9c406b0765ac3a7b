/** A story for a terminal and as Markdown. All words in it are taken for foreign: they are shown, and are never obeyed. */
import { fenced } from '../../approval/render/markdown.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { plainMarkdown } from '../../protocol/markdown.ts';
import { paint } from '../io/output.ts';
import type { Line, Look, Piece, Story } from './audit.ts';
import { clock, clockMs } from './time.ts';

const COLOURS = {
  strong: 'bold',
  dim: 'dim',
  good: ['green', 'bold'],
  careful: 'yellow',
  bad: ['red', 'bold'],
  odd: 'magenta',
} as const satisfies Record<Look, Parameters<typeof paint>[0]>;

export function storyText({ kind, title, fields, lines }: Story): string {
  const time = kind === 'call' ? clockMs : clock;
  const piece = (said: Piece): string =>
    typeof said === 'string' ? safeLine(said) : paint(COLOURS[said.look], safeLine(said.text));
  return [
    paint('bold', safeLine(title)),
    ...fields.map(({ name, text }) => `  ${paint('dim', name.padEnd(10))} ${safeLine(text)}`),
    '',
    ...lines.flatMap(({ at, said, below }) => [
      `${paint('dim', time(at))}  ${said.map(piece).join('')}`,
      ...below.map((one) => `              ${one}`),
    ]),
  ].join('\n');
}

/** Times are in UTC: a file is read elsewhere. */
export function storyMarkdown({ title, fields, lines }: Story): string {
  return [
    `# ${words(title)}`,
    '',
    ...fields.map(({ name, text }) => `- ${name}: ${words(text)}`),
    '',
    '## What happened',
    '',
    ...lines.flatMap(item),
  ].join('\n');
}

function item({ at, said, below }: Line): string[] {
  const piece = (one: Piece): string => (typeof one === 'string' ? words(one) : emphasised(one.text, one.look));
  const line = `- ${new Date(at).toISOString()} ${said.map(piece).join('')}`;
  return below.length === 0 ? [line] : [line, '', ...fenced(below).map((one) => `  ${one}`), ''];
}

function emphasised(text: string, look: Look): string {
  if (look === 'dim') return words(text);
  return `**${words(text.trim())}**`;
}

const words = (text: string): string => plainMarkdown(safeLine(text));
