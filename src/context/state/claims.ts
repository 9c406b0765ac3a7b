/**
 * Claims: a `once` tool runs only for who made the claim of its call, and a claim can be made once. It lies outside of Temporal, so that
 * a workflow that is reset, deleted and restarted, or started by hand gains nothing.
 */
import { join } from 'node:path';
import { CountersignError } from '../../protocol/errors.ts';
import type { Execution } from '../../protocol/outcome.ts';
import { createRecord, parsed, readJsonRecord, readRecord, recordPath } from './state-files.ts';

export interface Claim {
  session: string;
  callId: string;
  /** Digest of what would run: tool and canonical arguments. */
  content: string;
  /** Workflow run that claims. */
  runId: string;
}

export type Claimed =
  | { claimed: true }
  /** `execution` is missing when its worker was lost before the end: the outcome is unknown. */
  | { claimed: false; sameContent: boolean; execution?: Execution };

/** Durable when it returns: after a crash the claim is there. A damaged claim counts as one for the same content without an outcome. */
export async function claimTry(stateDir: string, claim: Claim): Promise<Claimed> {
  const path = pathOf(stateDir, claim, 'claim');
  if (await createRecord(path, JSON.stringify({ ...claim, at: Date.now() }))) return { claimed: true };
  const earlier = await readClaim(stateDir, claim);
  const sameContent = earlier?.content === undefined || earlier.content === claim.content;
  return { claimed: false, sameContent, ...(earlier?.execution === undefined ? {} : { execution: earlier.execution }) };
}

/** What is known of the call's claim; undefined when nobody has made one. */
export async function readClaim(
  stateDir: string,
  call: Pick<Claim, 'session' | 'callId'>,
): Promise<{ content?: string; runId?: string; execution?: Execution } | undefined> {
  const text = await readRecord(pathOf(stateDir, call, 'claim'));
  if (text === undefined) return undefined;
  const claim = parsed(text);
  const ended = await readJsonRecord(pathOf(stateDir, call, 'outcome'));
  return {
    ...(isRecord(claim) && typeof claim['content'] === 'string' ? { content: claim['content'] } : {}),
    ...(isRecord(claim) && typeof claim['runId'] === 'string' ? { runId: claim['runId'] } : {}),
    ...(isRecord(ended) && isExecution(ended['execution']) ? { execution: ended['execution'] } : {}),
  };
}

/**
 * Writes how the claimed try ended. Only the first outcome counts: a second is refused, for it would rewrite what happened.
 * It outlives every process, but is not forced to the disk: after a power cut the claim alone says `unknown`, which is true, and Temporal has most outcomes anyway.
 */
export async function recordExecution(
  stateDir: string,
  claim: Omit<Claim, 'content'> & Partial<Claim>,
  execution: Execution,
): Promise<void> {
  const claimed = await readClaim(stateDir, claim);
  if (claimed?.runId !== undefined && claimed.runId !== claim.runId)
    throw new CountersignError('not_a_call', 'this run has not claimed the call, so it cannot say how it ended');
  const created = await createRecord(
    pathOf(stateDir, claim, 'outcome'),
    JSON.stringify({ runId: claim.runId, at: Date.now(), execution }),
    false,
  );
  if (!created) throw new CountersignError('not_a_call', 'the outcome of this call is already recorded');
}

const pathOf = (stateDir: string, { session, callId }: Pick<Claim, 'session' | 'callId'>, extension: string): string =>
  recordPath(join(stateDir, 'claims'), [session, callId], extension);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isExecution = (value: unknown): value is Execution =>
  isRecord(value) && ['completed', 'failed', 'denied', 'timed_out', 'unknown'].includes(String(value['status']));
