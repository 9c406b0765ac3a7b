/**
 * Checks a call's history offline: that each request's digest is that of its content, that each decision and grant is its approver's by
 * the keys of the configuration, and that what ran is what they were on. Needs no service; whoever has the history can do it.
 */
import { approvalDigest } from '../../approval/digest.ts';
import { verifyGrant } from '../../approval/grants.ts';
import { admitDecision } from '../../approval/verify.ts';
import { type HistoryEvent, localActivityOf, timeOf, valueOf } from '../../client/history.ts';
import type { Config } from '../../config/index.ts';
import type { ToolFacts } from '../../policy/index.ts';
import { type SealedDecision, isSealedAs, sealedDecisions, shortCode } from '../../protocol/approval.ts';
import type { CallInput, ExecuteInput } from '../../protocol/call.ts';
import type { GrantPlace } from '../../protocol/grant.ts';
import type { CallName } from '../../protocol/ids.ts';
import { CALL_MESSAGE } from '../../protocol/names.ts';
import type { Ask, Execution, Judgement, Prepared } from '../../protocol/outcome.ts';

export interface Check {
  /** ISO 8601, of the event that was checked. */
  at: string;
  what: 'request' | 'decision' | 'grant' | 'execution';
  ok: boolean;
  text: string;
}

/** Approvers, their keys and what they may decide on. */
export type VerifySettings = Pick<Config, 'approvals' | 'groups'>;

interface Asked {
  ask: Ask;
  judgement: Judgement;
}

interface Reading {
  name: CallName;
  input: CallInput;
  agent: string;
  /** Where grants must be made for; empty as far as it is not known. */
  place: Partial<GrantPlace>;
  tool: ToolFacts;
  settings: VerifySettings;
  /** Requests whose digest holds, by digest. */
  asked: Map<string, Asked>;
  /** Executions that were started, by the number of their event. */
  executions: Map<string, ExecuteInput>;
  /** Digests that a good decision approved. */
  approved: Set<string>;
  checks: Check[];
}

/**
 * `toolOf`: its facts as the configuration's groups and the approvers' `may` see them. `agent`: that of the call's session, for what a grant let
 * run unasked; empty where it is not known, which no approver fits who is limited to agents. `place`: where its grants
 * must be made for, as far as that is known. Times are those of the events.
 */
export function verifyCall(
  events: readonly HistoryEvent[],
  name: CallName,
  toolOf: (name: string) => ToolFacts,
  settings: VerifySettings,
  agent = '',
  place: Partial<GrantPlace> = {},
): Check[] {
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const input = valueOf<CallInput>(started?.input) ?? { tool: '', arguments: {} };
  const reading: Reading = {
    name,
    input,
    agent,
    place,
    tool: toolOf(input.tool),
    settings,
    asked: new Map(),
    executions: new Map(),
    approved: new Set(),
    checks: [],
  };
  for (const event of events) {
    checkRequest(reading, event);
    checkDecision(reading, event);
    checkExecution(reading, event);
  }
  return reading.checks;
}

function say({ checks }: Reading, event: HistoryEvent, what: Check['what'], ok: boolean, text: string): void {
  checks.push({ at: new Date(timeOf(event)).toISOString(), what, ok, text });
}

function checkRequest(reading: Reading, event: HistoryEvent): void {
  const local = localActivityOf(event);
  const prepared = local?.activity === 'prepareCall' ? (local.result as Prepared | undefined) : undefined;
  if (prepared?.verdict === 'run' && prepared.grant)
    checkGrant(reading, event, { judgement: prepared.judgement, agent: reading.agent }, prepared.grant.grant);
  if (prepared?.verdict !== 'ask') return;
  const { ask, judgement } = prepared;
  const { runId, agent, fingerprint, workspace, requestedAt, expiresAt, bound } = ask;
  const content = { runId, agent, fingerprint, workspace, requestedAt, expiresAt, bound, arguments: ask.arguments };
  const ok = approvalDigest({ ...reading.name, tool: reading.input.tool, ...content }) === ask.digest;
  if (ok) reading.asked.set(ask.digest, { ask, judgement });
  say(
    reading,
    event,
    'request',
    ok,
    `${shortCode(ask.digest)}: its digest is ${ok ? 'that' : 'NOT that'} of its content`,
  );
}

function checkDecision(reading: Reading, event: HistoryEvent): void {
  const signal = event.workflowExecutionSignaledEventAttributes;
  const sealed = signal?.signalName === CALL_MESSAGE.decision ? valueOf<SealedDecision>(signal.input) : undefined;
  if (!sealed || sealed.code) return;
  const asked = reading.asked.get(sealed.digest);
  if (!asked) return say(reading, event, 'decision', false, `by ${sealed.approver}: on nothing that this call asked`);
  if (sealed.grant) {
    const { judgement, ask } = asked;
    return checkGrant(reading, event, { judgement, agent: ask.agent }, sealed.grant, sealed.digest);
  }
  const all = sealedDecisions(sealed).map((decision) => checkOne(reading, event, asked, decision));
  // What the outcome says of the approver is the copy; the signature is on the other.
  const same = isSealedAs(sealed);
  if (!same)
    say(reading, event, 'decision', false, `the record names ${sealed.approver} otherwise than the decision does`);
  if (same && sealed.decision === 'approve' && all.every(Boolean)) reading.approved.add(sealed.digest);
}

function checkOne(
  reading: Reading,
  event: HistoryEvent,
  { ask, judgement }: Asked,
  decision: ReturnType<typeof sealedDecisions>[number],
): boolean {
  const { requestedAt, expiresAt, agent } = ask;
  const { tool, settings, name } = reading;
  const { groups, approvals } = settings;
  const request = { ...name, requestedAt, expiresAt, agent, tool, tier: judgement.tier, ...(groups && { groups }) };
  const admitted = admitDecision(decision, { digest: ask.digest, request }, approvals, timeOf(event));
  const how = admitted.ok
    ? admitted.counted.verified
      ? 'signed, and the signature holds'
      : 'unsigned'
    : admitted.reason;
  say(reading, event, 'decision', admitted.ok, `${decision.decision} by ${decision.approver}: ${how}`);
  return admitted.ok;
}

function checkGrant(
  reading: Reading,
  event: HistoryEvent,
  { judgement, agent }: { judgement: Judgement; agent: string },
  grant: Parameters<typeof verifyGrant>[0],
  digest?: string,
): void {
  const { tool, settings, place } = reading;
  const { groups, approvals } = settings;
  const asked = { tool, tier: judgement.tier, agent, place, ...(groups && { groups }) };
  const checked = verifyGrant(grant, asked, approvals, timeOf(event));
  const how = checked.ok ? (checked.verified ? 'signed, and the signature holds' : 'unsigned') : checked.reason;
  if (checked.ok && digest !== undefined) reading.approved.add(digest);
  say(reading, event, 'grant', checked.ok, `${grant.id} by ${grant.by}: ${how}`);
}

/** What ran must have been allowed by something that holds. A call that policy lets run by itself needs nothing. */
function checkExecution(reading: Reading, event: HistoryEvent): void {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled?.activityType?.name === 'executeTool') {
    const input = valueOf<ExecuteInput>(scheduled.input);
    if (input) reading.executions.set(String(event.eventId), input);
  }
  const completed = event.activityTaskCompletedEventAttributes;
  const { activityTaskFailedEventAttributes: failed, activityTaskTimedOutEventAttributes: lost } = event;
  const ended = completed ?? failed ?? lost ?? event.activityTaskCanceledEventAttributes;
  const input = reading.executions.get(String(ended?.scheduledEventId));
  if (!input) return;
  const status = valueOf<Execution>(completed?.result)?.status;
  if (status === 'held' || status === 'refused')
    return say(reading, event, 'execution', true, `${status}: nothing ran`);
  if (!input.approval) {
    if (reading.asked.size === 0 || input.grant) return;
    return say(reading, event, 'execution', status === 'denied', 'of what was asked about, without any approval');
  }
  const { digest } = input.approval;
  const ok = reading.approved.has(digest) && input.approval.decision.digest === digest;
  const text = ok
    ? `of ${shortCode(digest)}, as approved`
    : `of ${shortCode(digest)}, which nothing that holds approved`;
  say(reading, event, 'execution', ok, text);
}
