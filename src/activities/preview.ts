/** What an approver is shown beside the arguments: found when a call asks, from the files as they are then. */
import { previewOf } from '../approval/preview.ts';
import { describeRequest, toMarkdown } from '../approval/render/index.ts';
import { openToolContext } from '../context/index.ts';
import { type ApprovalDetails, approvalDetails } from '../protocol/approval.ts';
import { CountersignError, isCountersignError } from '../protocol/errors.ts';
import type { Ask, Judgement } from '../protocol/outcome.ts';
import type { Preview } from '../protocol/preview.ts';
import type { Caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import type { Judged } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';

/** Larger files are not compared: a person could not read the difference either. */
const FILE_BYTES = 2_000_000;
/** Lines of each text on the call's page in the Temporal UI. */
const LINES = 20;

/** Undefined where there is nothing to say beyond the arguments. */
export async function previewCall(
  { settings, stateDir, protectedPaths }: Dependencies,
  { facts }: KnownSession,
  callId: string,
  { tool, arguments: args }: Extract<Judged, { ok: true }>,
  signal: AbortSignal,
): Promise<Preview | undefined> {
  const { backend, sandbox } = settings().config.shell;
  const place = { facts, ancestors: [], callId, stateDir, protectedPaths, backend, sandbox };
  const { files } = await openToolContext({ ...place, allowElevated: false, signal });
  const readText = async (path: string): Promise<string | undefined> => {
    try {
      const { bytes: size } = (await files?.stat(path)) ?? { bytes: 0 };
      if (!files || size > FILE_BYTES) throw new CountersignError('file_too_large', 'too large to compare');
      return new TextDecoder('utf-8', { fatal: true }).decode((await files.read(path)).bytes);
    } catch (error) {
      if (isCountersignError(error) && error.code === 'file_not_found') return undefined;
      throw error;
    }
  };
  return previewOf(tool.name, args, { readText, backend });
}

/** The request for the call's page in the Temporal UI. */
export function requestMarkdown(
  { session, callId }: Caller,
  tool: string,
  ask: Omit<Ask, 'markdown'>,
  judgement: Judgement,
): string {
  const details: ApprovalDetails = approvalDetails({ session, callId }, tool, {
    ask: { ...ask, markdown: '' },
    judgement,
  });
  const { route, requestedAt: now, preview } = details;
  return toMarkdown(describeRequest(details, { route, now, ...(preview && { preview }) }), { lines: LINES });
}
