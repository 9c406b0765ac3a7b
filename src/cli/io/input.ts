/** What people and programs hand in: JSON, as text or on standard input. */
import { CountersignError } from '../../protocol/errors.ts';
import { type JsonObject, isJsonObject } from '../../protocol/json.ts';

/** Bytes of standard input that are read; far more than a call's arguments may take. */
const STDIN_BYTES = 8 * 1024 * 1024;
/** Past it, programs that walk JSON by recursion run out of stack. Tools take far less, and say so themselves. */
const MAX_DEPTH = 500;

/** The value of a JSON text. @throws CountersignError `invalid_json`, saying where; `invalid_arguments` when it is nested beyond reason */
export function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CountersignError('invalid_json', `${what} is not valid JSON: ${why}`);
  }
  if (isDeeper(value, MAX_DEPTH))
    throw new CountersignError('invalid_arguments', `${what} is nested deeper than ${MAX_DEPTH} levels`);
  return value;
}

/** A call's arguments. @throws as {@link parseJson}, and `invalid_arguments` for what is no object */
export function parseArguments(text: string, what = 'ARGS_JSON'): JsonObject {
  const value = parseJson(text, what);
  if (isJsonObject(value)) return value;
  throw new CountersignError('invalid_arguments', `${what} must be a JSON object, as '{"path":"README.md"}'`, {
    field: '',
  });
}

/** The arguments of a command line: absent, as text, or `-` for standard input. */
export async function readArguments(given: string | undefined): Promise<JsonObject> {
  if (given === undefined) return {};
  return given === '-' ? parseArguments(await readStdin(), 'standard input') : parseArguments(given);
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > STDIN_BYTES)
      throw new CountersignError('arguments_too_large', `standard input is longer than ${STDIN_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Breadth first, so that depth costs no stack. */
function isDeeper(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}
