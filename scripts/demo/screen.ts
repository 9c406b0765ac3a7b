/** What the demo shows: scenes, and in each the real results. Colours only on a terminal; NO_COLOR is respected. */
import { styleText } from 'node:util';
import type { Outcome } from '../../src/client/index.ts';

type Format = Parameters<typeof styleText>[0];

const paint = (format: Format, text: string): string => styleText(format, text, { stream: process.stdout });
const write = (text: string): void => void process.stdout.write(`${text}\n`);

const started = performance.now();
const clock = (): string => `${((performance.now() - started) / 1000).toFixed(0).padStart(3)} s`;

export function title(text: string): void {
  write(paint('bold', text));
}

/** A scene's heading: what is being shown. */
export function scene(text: string): void {
  write(`\n${paint('dim', clock())}  ${paint(['bold', 'cyan'], text)}`);
}

/** A line below it. */
export const say = (text: string): void => write(`       ${text}`.trimEnd());

const COLOUR = {
  completed: 'green',
  unknown: 'magenta',
  cancelled: 'magenta',
  waiting: 'yellow',
} as const satisfies Record<string, Format>;
type Coloured = keyof typeof COLOUR;

const statusText = (status: string): string =>
  paint(status in COLOUR ? COLOUR[status as Coloured] : 'red', status.padEnd(9));

/** `completed  read slug.sh   slug.sh: lines 1–6 of 6` */
export function result(what: string, status: string, text = ''): void {
  say(`${statusText(status)} ${what}${text === '' ? '' : paint('dim', `  ${oneLine(text)}`)}`);
}

/** An outcome in one line: what came out, or the error. */
export function outcome(what: string, { status, display, error }: Outcome): void {
  result(what, status, error ? `${error.code}: ${error.message}` : (display ?? ''));
}

export function checked(what: string, ok: boolean, difference: string): void {
  say(`${ok ? paint('green', '✓') : paint('red', '✗')} ${what}${ok ? '' : paint('red', `: ${difference}`)}`);
}

export function verdict(failures: number, checks: number): void {
  const text = failures === 0 ? `All ${checks} checks hold.` : `${failures} of ${checks} checks failed.`;
  write(`\n${paint('dim', clock())}  ${paint(['bold', failures === 0 ? 'green' : 'red'], text)}`);
}

const WIDTH = 110;

function oneLine(text: string): string {
  const line = text
    .trim()
    .split('\n')
    .filter((part) => part.trim() !== '')
    .join(' · ');
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
}
