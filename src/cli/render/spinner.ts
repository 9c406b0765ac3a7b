/** One line on stderr that moves while something runs; nothing at all where stderr is no terminal. */
import { CLEAR_LINE, note, onInterrupt, paint } from '../io/output.ts';
import { cut } from './table.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { span } from './time.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** What is over by then needs no spinner. */
const AFTER_MS = 250;
const FRAME_MS = 100;

export interface Spinner {
  /** Replaces what stands behind the title: the latest word of what runs. */
  say(text: string): void;
  /** A line on stderr that stays. */
  note(text: string): void;
  stop(): void;
}

export function startSpinner(title: string, stream: NodeJS.WriteStream = process.stderr): Spinner {
  if (!stream.isTTY) return { say: () => undefined, note, stop: () => undefined };
  const since = Date.now();
  let word = '';
  let drawn = false;
  const draw = (): void => {
    const frame = FRAMES[Math.floor((Date.now() - since) / FRAME_MS) % FRAMES.length];
    const text = cut(
      `${safeLine(title)}  ${span(Date.now() - since)}${word === '' ? '' : `  ${word}`}`,
      (stream.columns || 80) - 3,
    );
    stream.write(`${CLEAR_LINE}${paint('cyan', frame ?? '', stream)} ${text}`);
    drawn = true;
  };
  let frames: NodeJS.Timeout | undefined;
  const start = setTimeout(() => (frames = setInterval(draw, FRAME_MS)), AFTER_MS);
  const stop = (): void => {
    clearTimeout(start);
    clearInterval(frames);
    if (drawn) stream.write(CLEAR_LINE);
    drawn = false;
    forget();
  };
  const forget = onInterrupt(stop);
  const say = (text: string): void => void (word = safeLine(text));
  return { say, note: (text) => note(`${drawn ? CLEAR_LINE : ''}${text}`), stop };
}

/** Shows the title for as long as the work takes. */
export async function withSpinner<T>(title: string, work: (spinner: Spinner) => Promise<T>): Promise<T> {
  const spinner = startSpinner(title);
  try {
    return await work(spinner);
  } finally {
    spinner.stop();
  }
}
