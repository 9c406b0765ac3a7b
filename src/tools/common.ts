/** Pieces of schema and text that several tools share. */
import { Type, type TOptional, type TString } from 'typebox';
import type { ToolLimits } from '../protocol/tool.ts';

/** Reads that may run inside preparation. */
export const QUICK_LIMITS: ToolLimits = {
  timeoutMs: 10_000,
  maxTries: 3,
  backoffMs: 1_000,
  maxBackoffMs: 10_000,
  quickMs: 1_000,
};

/** Changes of one file, and what else ends soon or not at all. */
export const FILE_LIMITS: ToolLimits = { timeoutMs: 30_000, maxTries: 3, backoffMs: 1_000, maxBackoffMs: 10_000 };

/** A path as models write it. */
export const PATH = (what: string): TString =>
  Type.String({
    minLength: 1,
    maxLength: 4_096,
    description: `${what} Relative to the workspace, or absolute inside of it.`,
  });

export const OPTIONAL_PATH = (what: string): TOptional<TString> => Type.Optional(PATH(what));

export const SHA256 = (what: string): TString =>
  Type.String({ pattern: '^[0-9a-f]{64}$', description: `${what} sha256, 64 hexadecimal digits.` });

const encoder = new TextEncoder();
export const textBytes = (text: string): Uint8Array => encoder.encode(text);

/** A path or command for one line of a summary: no line breaks or control characters, 200 characters at most. */
export function named(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is to be found
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 199).toWellFormed()}…`;
}

/** `1,234`: the same for every reader, whatever the machine's language. */
export const count = (value: number): string => value.toLocaleString('en-US');

/** `1 file`, `2 files`. */
export const plural = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : nouns}`;
