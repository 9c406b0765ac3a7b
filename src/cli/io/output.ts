/** Where the program speaks: answers on stdout, everything else on stderr. */
import { styleText } from 'node:util';
import type { ErrorReport } from '../status.ts';
import { safeJson, safeLine, safeText } from '../../approval/render/safe-text.ts';

type Format = Parameters<typeof styleText>[0];

/** Colours only where the stream is a terminal; NO_COLOR and FORCE_COLOR are respected. */
export const paint = (format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string =>
  styleText(format, text, { stream });

/** Whether a stream shows colours. */
export const hasColors = (stream: NodeJS.WriteStream = process.stdout): boolean => paint('bold', 'x', stream) !== 'x';

/** Takes away what stands in a terminal's line. */
export const CLEAR_LINE = '\r\x1b[2K';

/** A line for people on stdout. Parts that came from a model must have gone through src/approval/render/safe-text.ts. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** One JSON value on one line of stdout. */
export const printJson = (value: unknown): void => void process.stdout.write(`${safeJson(value)}\n`);

/** A line for people on stderr. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

export function printError(report: ErrorReport, json: boolean): void {
  if (json) return printJson({ error: report });
  note(
    `${paint(['red', 'bold'], 'countersign:', process.stderr)} ${safeLine(report.code)}: ${safeText(report.message)}`,
  );
}

type Hook = () => void;
const hooks = new Set<Hook>();

/** Runs when Ctrl-C is pressed, before the program ends with status 130. Returns how to take it back. */
export function onInterrupt(hook: Hook): () => void {
  hooks.add(hook);
  return () => hooks.delete(hook);
}

/** A reader that goes away (`| head`) is no error, and Ctrl-C ends the program with status 130. */
export function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.on('SIGINT', () => {
    // The newest first: a line that moves is taken away before anything is said.
    for (const hook of [...hooks].reverse()) hook();
    if (process.listenerCount('SIGINT') === 1) process.exit(130);
  });
}
