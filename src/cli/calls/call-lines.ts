/** `countersign call --jsonl`: one call a line, one answer a line, and nothing that a line says can stop the others. */
import type { SessionHandle } from '../../client/index.ts';
import { forEachAtMost } from '../../common/at-most.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { isCallId, isSessionId } from '../../protocol/ids.ts';
import { isJsonObject } from '../../protocol/json.ts';
import { type Wait, followCall } from './follow-call.ts';
import { parseJson } from '../io/input.ts';
import { type InputLine, readLines } from '../io/json-lines.ts';
import { mainSession } from '../sessions/main-session.ts';
import { outcomeLine } from './outcome-line.ts';
import { printJson } from '../io/output.ts';
import { type AnyCountersign, withService } from '../service/with-service.ts';
import { STATUS, type Status, reportOf } from '../status.ts';

/** Bytes of one line. Arguments take at most 256 KB, and JSON may write each of their bytes in six. */
export const LINE_BYTES = 2 * 1024 * 1024;
/** Sessions that are remembered, so that a thousand lines of one session look it up once. */
const KNOWN_SESSIONS = 1_000;

export interface CallLinesOptions {
  wait: Wait;
  concurrency: number;
  /** For lines that name none; the main session of this folder where not given. */
  session?: string;
}

export async function callLines({ wait, concurrency, session: fallback }: CallLinesOptions): Promise<Status> {
  await withService(async (countersign) => {
    const sessionOf = sessionCache(countersign, fallback);
    await forEachAtMost(readLines(process.stdin, LINE_BYTES), concurrency, async (input) => {
      printJson(await answer(input, sessionOf, wait));
    });
  });
  return STATUS.done;
}

/** What can be said of a line that led to no call: its names as far as they are any. */
interface Named {
  callId: string | null;
  session: string | null;
  tool: string | null;
}

async function answer(
  input: InputLine,
  sessionOf: (id: string | undefined) => Promise<SessionHandle<object>>,
  wait: Wait,
): Promise<object> {
  const since = performance.now();
  const named: Named = { callId: null, session: null, tool: null };
  const elapsed = (): number => Math.round(performance.now() - since);
  try {
    const asked = parseCallLine(input, named);
    const session = await sessionOf(asked.session);
    named.session = session.id;
    const call = await session.startUntyped(
      asked.tool,
      asked.arguments,
      asked.callId === undefined ? {} : { callId: asked.callId },
    );
    named.callId = call.callId;
    return { line: input.line, ...outcomeLine(call, asked.tool, await followCall(call, wait), elapsed()) };
  } catch (error) {
    return {
      line: input.line,
      ...named,
      status: statusFor(error),
      error: reportOf(error),
      attempts: 0,
      tries: 0,
      durationMs: elapsed(),
    };
  }
}

export interface CallLine {
  session?: string;
  callId?: string;
  tool: string;
  arguments: unknown;
}

/** @throws CountersignError saying what is wrong with the line; `named` then holds what could be read of it */
export function parseCallLine(input: InputLine, named: Named): CallLine {
  if ('tooLong' in input)
    throw new CountersignError('arguments_too_large', `line ${input.line} is longer than ${LINE_BYTES} bytes`);
  const value = parseJson(input.text, `line ${input.line}`);
  if (!isJsonObject(value))
    throw new CountersignError(
      'invalid_json',
      `line ${input.line} is no JSON object, as {"tool":"list","arguments":{}}`,
    );
  const own = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
  const [tool, args, session, callId] = [own('tool'), own('arguments'), own('session'), own('callId')];
  if (typeof tool === 'string') named.tool = tool;
  if (isSessionId(session)) named.session = session;
  if (isCallId(callId)) named.callId = callId;
  if (typeof tool !== 'string')
    throw new CountersignError('invalid_usage', `line ${input.line} needs "tool", the tool’s name as text`, {
      field: '/tool',
    });
  if (session !== undefined && !isSessionId(session)) {
    throw new CountersignError('invalid_id', `"session" is 1 to 64 of A-Z a-z 0-9 . _ -`, { field: '/session' });
  }
  if (callId !== undefined && !isCallId(callId)) {
    throw new CountersignError('invalid_id', `"callId" is 1 to 128 of A-Z a-z 0-9 . _ -`, { field: '/callId' });
  }
  return {
    tool,
    arguments: args ?? {},
    ...(session !== undefined && { session }),
    ...(callId !== undefined && { callId }),
  };
}

/** How a line ended that led to no outcome. When the server went away nobody can say what the call has come to. */
function statusFor(error: unknown): 'invalid' | 'denied' | 'unknown' {
  const { kind, code } = reportOf(error);
  if (kind === 'ValidationError') return 'invalid';
  return kind === 'PermissionDenied' && code !== 'internal' ? 'denied' : 'unknown';
}

function sessionCache(
  countersign: AnyCountersign,
  fallback: string | undefined,
): (id: string | undefined) => Promise<SessionHandle<object>> {
  const known = new Map<string | undefined, Promise<SessionHandle<object>>>();
  return (asked) => {
    const id = asked ?? fallback;
    const before = known.get(id);
    if (before) return before;
    const session = id === undefined ? mainSession(countersign) : countersign.session(id);
    known.set(id, session);
    session.catch(() => known.delete(id));
    if (known.size > KNOWN_SESSIONS) known.delete(known.keys().next().value);
    return session;
  };
}
