/** The service's log on stderr: lines for people on a terminal, pino's JSON for everything else. */
import { type Logger, pino, stdSerializers } from 'pino';
import { note, paint } from '../io/output.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { clock } from '../render/time.ts';

interface Entry {
  level: number;
  time: number;
  msg?: string;
  error?: unknown;
}

/** Errors are no plain data: without a serializer all of them are `{}`. */
const serializers = { error: stdSerializers.err };

export function serviceLog(): Logger {
  const level = process.env['COUNTERSIGN_DEBUG'] ? 'debug' : 'info';
  if (!process.stderr.isTTY) return pino({ level, serializers }, pino.destination(2));
  return pino({ level, serializers }, { write: (line: string) => note(logLine(JSON.parse(line) as Entry)) });
}

export function logLine({ level, time, msg = '', error }: Entry): string {
  const word =
    level >= 50
      ? paint('red', 'error', process.stderr)
      : level >= 40
        ? paint('yellow', 'warn ', process.stderr)
        : 'info ';
  const why = error === undefined ? '' : `: ${wordsOf(error)}`;
  return `${paint('dim', clock(time).slice(11), process.stderr)} ${word} ${safeLine(`${msg}${why}`)}`;
}

const wordsOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
