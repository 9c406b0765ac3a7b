/** `audit --verify`: of one call, or of every call under a session. */
import type { Client } from '@temporalio/client';
import { callsUnder } from '../../client/audit-session.ts';
import { readHistory } from '../../client/history.ts';
import { knownSession } from '../../client/known-session.ts';
import { mapAtMost } from '../../common/at-most.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { parseCallWorkflowId, parseSessionWorkflowId } from '../../protocol/ids.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import { builtInTools } from '../../tools/index.ts';
import { findSession } from '../sessions/find-session.ts';
import { type AnyCountersign, callNamed, isCallReference } from '../service/with-service.ts';
import { type Check, verifyCall } from './verify-call.ts';
import type { VerifySettings, VerifyTool } from './verify-content.ts';

export interface CheckedCall {
  /** Its full name. */
  call: string;
  holds: boolean;
  checks: Check[];
}

/** The calls that a name stands for: one, or all under a session. Throws `call_not_found`, `session_not_found`. */
export async function callsOfReference(
  countersign: AnyCountersign,
  reference: string,
): Promise<{ session?: string; calls: string[] }> {
  if (isCallReference(reference)) {
    const call = await callNamed(countersign, reference);
    if ((await readHistory(countersign.temporal, call)).length === 0)
      throw new CountersignError('call_not_found', `There is no call ${call}.`);
    return { calls: [call] };
  }
  const { facts } = await findSession(countersign, parseSessionWorkflowId(reference) ?? reference);
  return { session: facts.id, calls: await callsUnder(countersign.temporal, facts.id) };
}

const AT_ONCE = 20;

export const verifyCalls = (
  client: Client,
  calls: readonly string[],
  settings: VerifySettings,
): Promise<CheckedCall[]> => mapAtMost(calls, AT_ONCE, (call) => verifyOne(client, call, settings));

async function verifyOne(client: Client, call: string, settings: VerifySettings): Promise<CheckedCall> {
  const name = parseCallWorkflowId(call);
  const events = name ? await readHistory(client, call) : [];
  if (!name || events.length === 0) {
    const text = 'it is listed, and has no history of a call';
    return { call, holds: false, checks: [{ at: new Date().toISOString(), what: 'request', ok: false, text }] };
  }
  const sessions = await sessionsOf(client, name.session);
  const where = { sessions, namespace: client.options.namespace };
  const checks = await verifyCall(events, name, toolNamed, settings, where);
  return { call, holds: checks.every(({ ok }) => ok), checks };
}

/** The session and those above it, nearest first, as far as Temporal keeps them. A parent that stands no higher leads nowhere. */
async function sessionsOf(client: Client, id: string): Promise<SessionFacts[]> {
  const sessions: SessionFacts[] = [];
  for (let facts = (await knownSession(client, id))?.facts; facts;) {
    sessions.push(facts);
    const above = facts.parent === undefined ? undefined : (await knownSession(client, facts.parent))?.facts;
    facts = above && above.depth < facts.depth ? above : undefined;
  }
  return sessions;
}

/** A tool that this program does not have is reckoned among the dangerous ones. */
const toolNamed = (name: string): VerifyTool =>
  builtInTools.find((tool) => tool.name === name) ?? { name, tier: 'elevated', effect: 'once', groups: [], needs: [] };
