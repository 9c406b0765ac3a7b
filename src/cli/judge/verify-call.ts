/**
 * Checks a call's history offline: that each request's digest is that of its content, that each decision and grant is its approver's by
 * the keys of the configuration and enough, that what ran is what they were on, and once, and that the outcome names those who decided.
 * Needs no worker: the history is enough. How many had to agree is what the history says: no digest covers it.
 */
import { approvalDigest } from '../../approval/digest.ts';
import { EMERGENCY } from '../../approval/approvers.ts';
import { quorum } from '../../approval/quorum.ts';
import { type CountedDecision, admitDecision } from '../../approval/verify.ts';
import { type HistoryEvent, eventName, localActivityOf, timeOf, valueOf } from '../../client/history.ts';
import { isAmendment, isCallInput, readSealedDecision } from '../../protocol/forms.ts';
import { type SealedDecision, sealDecisions, sealedDecisions, shortCode } from '../../protocol/approval.ts';
import { approvalRecord, grantRecord } from '../../protocol/approval-record.ts';
import type { CallInput, ExecuteInput } from '../../protocol/call.ts';
import type { Grant, GrantPlace } from '../../protocol/grant.ts';
import type { CallName } from '../../protocol/ids.ts';
import { type JsonObject, isSameJson } from '../../protocol/json.ts';
import { CALL_MESSAGE } from '../../protocol/names.ts';
import type { ApprovalRecord, Ask, Execution, Judgement, Outcome, Prepared } from '../../protocol/outcome.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import { type VerifySettings, type VerifyTool, checkGrantUse, comesTo } from './verify-content.ts';

export interface Check {
  /** ISO 8601, of the event that was checked. */
  at: string;
  what: 'request' | 'decision' | 'grant' | 'execution' | 'outcome' | 'history';
  ok: boolean;
  /** Not `ok` for want of the approvers' keys alone: whether it holds cannot be said here. */
  unchecked?: true;
  text: string;
}

interface Asked {
  ask: Ask;
  judgement: Judgement;
}

interface Started {
  event: HistoryEvent;
  input: ExecuteInput;
  runId: string;
}

interface Reading {
  name: CallName;
  /** The run whose events are read: what was before a reset stands in the new run's history, too. */
  runId: string;
  input: CallInput;
  tool: VerifyTool;
  settings: VerifySettings;
  sessions: readonly SessionFacts[];
  /** Where grants must be made for, as far as that is known. */
  place: Partial<GrantPlace>;
  /** What the call was given: at its start, and in corrections. */
  given: JsonObject[];
  prepared: Prepared | undefined;
  /** Requests whose digest holds, by digest. */
  asked: Map<string, Asked>;
  /** Executions that have not ended, by the number of their event. */
  running: Map<string, Started>;
  /** How the last one ended that may have run something, and how many did. */
  ran: { count: number; last: Execution['status'] | undefined };
  /** Whether a preparation or an execution says that the tool has completed. */
  completed: boolean;
  /** Good decisions and grants by which the call might run or was denied. */
  decided: SealedDecision[];
  /** What an outcome may say of them. */
  records: ApprovalRecord[];
  checks: Check[];
}

/**
 * `toolOf`: its facts as the configuration's groups and the approvers' `may` see them. `sessions`: the call's own and those above it, nearest
 * first; empty where Temporal no longer keeps them, and then a grant that was never asked for does not hold. Times are those of the events.
 */
export async function verifyCall(
  events: readonly HistoryEvent[],
  name: CallName,
  toolOf: (name: string) => VerifyTool,
  settings: VerifySettings,
  { sessions = [], namespace }: { sessions?: readonly SessionFacts[]; namespace?: string } = {},
): Promise<Check[]> {
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const given = valueOf(started?.input);
  const input = isCallInput(given) ? given : { tool: '', arguments: {} };
  const main = sessions.find(({ id }) => id === sessions[0]?.main);
  const reading: Reading = {
    name,
    runId: started?.originalExecutionRunId ?? '',
    input,
    tool: toolOf(input.tool),
    settings,
    sessions,
    place: { ...(namespace !== undefined && { namespace }), ...(main && { workspace: main.workspace }) },
    given: [input.arguments],
    prepared: undefined,
    asked: new Map(),
    running: new Map(),
    ran: { count: 0, last: undefined },
    completed: false,
    decided: [],
    records: [],
    checks: [],
  };
  for (const event of events) await checkEvent(reading, event);
  for (const open of reading.running.values()) await checkOne(reading, open.event, open, undefined);
  return reading.checks;
}

/** Whoever starts a workflow under a call's name, with a worker of their own, records what they like: what is of no form of ours does not hold. */
async function checkEvent(reading: Reading, event: HistoryEvent): Promise<void> {
  // Only the server writes it, with a reset.
  reading.runId = event.workflowTaskFailedEventAttributes?.newRunId || reading.runId;
  try {
    await checkRequest(reading, event);
    await checkDecision(reading, event);
    await checkExecution(reading, event);
    checkOutcome(reading, event);
  } catch {
    say(reading, event, 'history', false, `${eventName(event)}: recorded in another form than Countersign’s`);
  }
}

function say({ checks }: Reading, event: HistoryEvent, what: Check['what'], ok: Holds, text: string): void {
  const at = new Date(timeOf(event)).toISOString();
  checks.push({ at, what, ok: ok === true, ...(ok === 'unchecked' && { unchecked: true }), text });
}

type Holds = boolean | 'unchecked';

/** Signed, and no approver is known to check it by: what follows is checked as if it held, and the whole does not hold. */
const isUnchecked = ({ settings }: Reading, { signature }: { signature?: string }): boolean =>
  signature !== undefined && settings.approvals.approvers.length === 0;
const UNCHECKED = 'signed; no approvers are known here to check it by';

async function checkRequest(reading: Reading, event: HistoryEvent): Promise<void> {
  const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  if (request?.input?.name === CALL_MESSAGE.amend) {
    const amendment = valueOf(request.input.args);
    if (isAmendment(amendment)) reading.given.push(amendment.arguments);
  }
  const local = localActivityOf(event);
  const prepared = local?.activity === 'prepareCall' ? (local.result as Prepared | undefined) : undefined;
  if (!prepared) return;
  reading.prepared = prepared;
  if (prepared.verdict === 'run' && prepared.result?.status === 'completed') reading.completed = true;
  if (prepared.verdict === 'run' && prepared.grant) {
    const { grant, verified } = prepared.grant;
    const args = reading.given.at(-1) ?? {};
    const held = await checkGrant(reading, event, grant, { judgement: prepared.judgement }, args);
    if (held && held.verified === verified) reading.records.push(grantRecord(prepared.grant));
  }
  if (prepared.verdict !== 'ask') return;
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

async function checkDecision(reading: Reading, event: HistoryEvent): Promise<void> {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName !== CALL_MESSAGE.decision) return;
  const sealed = readSealedDecision(valueOf(signal.input));
  // Anybody can send one; calls do not hear it.
  if (!sealed) return say(reading, event, 'decision', true, 'a message of another form: not heard');
  if (sealed.code) return;
  const asked = reading.asked.get(sealed.digest);
  if (!asked) return say(reading, event, 'decision', false, `by ${sealed.approver}: on nothing that this call asked`);
  if (!(sealed.grant ? await grantHolds(reading, event, asked, sealed) : decisionsHold(reading, event, asked, sealed)))
    return;
  reading.decided.push(sealed);
  const record = approvalRecord(sealed);
  if (record) reading.records.push(record);
}

async function grantHolds(reading: Reading, event: HistoryEvent, asked: Asked, sealed: SealedDecision) {
  const { grant, approver, decision, verified } = sealed;
  const held = grant && (await checkGrant(reading, event, grant, asked, asked.ask.arguments));
  if (!held) return false;
  const ok = asked.ask.required === 1 && approver === grant.by && decision === 'approve' && verified === held.verified;
  if (!ok) say(reading, event, 'decision', false, `the record of grant ${grant.id} says more than the grant`);
  return ok;
}

/** Each is its approver's, together they are enough, and the copy of them that the outcome repeats says the same. */
function decisionsHold(reading: Reading, event: HistoryEvent, asked: Asked, sealed: SealedDecision): boolean {
  const counted = sealedDecisions(sealed).map((decision) => admitted(reading, event, asked, decision));
  const good = counted.filter((one) => one !== undefined);
  if (good.length === 0 || good.length < counted.length) return false;
  const { required } = asked.ask;
  const result = quorum(good, { required, owner: reading.sessions[0]?.owner });
  if (result.state === 'more') {
    say(reading, event, 'decision', false, `${result.have} of ${required} approvers agreed`);
    return false;
  }
  const again = sealDecisions(sealedDecisions(sealed), sealed.verified);
  const state = sealed.decision === 'approve' ? 'approved' : 'denied';
  const ok = result.state === state && (result.verified || !sealed.verified) && isSameJson(again, sealed);
  if (!ok)
    say(reading, event, 'decision', false, `the record names ${sealed.approver} otherwise than the decision does`);
  return ok;
}

/** Its approver was asked for no signature, or it is forged: the history does not say. */
const UNSIGNED =
  'not signed; signatures are required now, they may not have been then (countersign policy log says since when)';

function admitted(
  reading: Reading,
  event: HistoryEvent,
  { ask, judgement }: Asked,
  decision: SealedDecision['decisions'][number],
): CountedDecision | undefined {
  const { name, tool, settings } = reading;
  const { requestedAt, expiresAt, agent } = ask;
  const { groups, approvals } = settings;
  const request = { ...name, requestedAt, expiresAt, agent, tool, tier: judgement.tier, ...(groups && { groups }) };
  if (isUnchecked(reading, decision)) {
    say(reading, event, 'decision', 'unchecked', `${decision.decision} by ${decision.approver}: ${UNCHECKED}`);
    const roles = decision.override ? [EMERGENCY] : [];
    return { decision, verified: true, identity: `name:${decision.approver}`, roles };
  }
  const result = admitDecision(decision, { digest: ask.digest, request }, approvals, timeOf(event));
  const good = result.ok && (result.counted.verified ? 'signed, and the signature holds' : 'unsigned');
  const unsigned = decision.signature === undefined && approvals.signatures === 'required';
  const how = result.ok ? good : unsigned ? UNSIGNED : result.reason;
  say(reading, event, 'decision', result.ok, `${decision.decision} by ${decision.approver}: ${how}`);
  return result.ok ? result.counted : undefined;
}

async function checkGrant(
  reading: Reading,
  event: HistoryEvent,
  grant: Grant,
  about: { judgement: Judgement; ask?: Ask },
  args: JsonObject,
): Promise<{ verified: boolean } | undefined> {
  if (isUnchecked(reading, grant)) {
    say(reading, event, 'grant', 'unchecked', `${grant.id} by ${grant.by}: ${UNCHECKED}`);
    return { verified: true };
  }
  const checked = await useOf(reading, event, grant, about, args);
  const how = checked.ok ? (checked.verified ? 'signed, and the signature holds' : 'unsigned') : checked.reason;
  say(reading, event, 'grant', checked.ok, `${grant.id} by ${grant.by}: ${how}`);
  return checked.ok ? checked : undefined;
}

function useOf(
  { tool, sessions, place, settings }: Reading,
  event: HistoryEvent,
  grant: Grant,
  { judgement, ask }: { judgement: Judgement; ask?: Ask },
  args: JsonObject,
) {
  const agent = ask?.agent ?? sessions[0]?.agent ?? '';
  const route = ask?.route.map((id) => ({ id, workspace: ask.workspace })) ?? sessions;
  const use = { grant, tool, arguments: args, tier: judgement.tier, agent, sessions: route, place, bound: ask?.bound };
  return checkGrantUse({ ...use, at: timeOf(event) }, settings);
}

async function checkExecution(reading: Reading, event: HistoryEvent): Promise<void> {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled?.activityType?.name === 'executeTool') {
    const input = valueOf<ExecuteInput>(scheduled.input) ?? { tool: '', arguments: {} };
    reading.running.set(String(event.eventId), { event, input, runId: reading.runId });
  }
  const completed = event.activityTaskCompletedEventAttributes;
  const { activityTaskFailedEventAttributes: failed, activityTaskTimedOutEventAttributes: lost } = event;
  const ended = completed ?? failed ?? lost ?? event.activityTaskCanceledEventAttributes;
  const id = String(ended?.scheduledEventId);
  const started = reading.running.get(id);
  if (!started) return;
  reading.running.delete(id);
  const status = valueOf<Execution>(completed?.result)?.status ?? (lost ? 'timed_out' : 'failed');
  if (status === 'completed') reading.completed = true;
  await checkOne(reading, event, started, status);
}

/** What ran must be the call's, once, and allowed by something that holds. `status`: undefined while it runs. */
async function checkOne(
  reading: Reading,
  event: HistoryEvent,
  { input, runId }: Omit<Started, 'event'>,
  status: Execution['status'] | undefined,
): Promise<void> {
  const tell = (ok: Holds, text: string): void => say(reading, event, 'execution', ok, text);
  if (status === 'held' || status === 'refused') return tell(true, `${status}: nothing ran`);
  if (input.recover) return tell(reading.ran.count > 0, 'what became of it was looked up; nothing ran');
  const again = isAgain(reading);
  reading.ran = { count: reading.ran.count + 1, last: status };
  if (again) return tell(false, 'once more of what has run');
  const ownCall = input.tool === reading.input.tool && reading.given.some((args) => isSameJson(args, input.arguments));
  if (!ownCall) return tell(false, 'of another tool or other arguments than the call’s');
  if (input.approval) {
    const [ok, text] = ofApproval(reading, input, input.approval);
    // An approval is for one run. One that somebody kept is denied where it would run.
    const kept = status !== 'denied' && reading.asked.get(input.approval.digest)?.ask.runId !== runId;
    return tell(ok && !kept, ok && kept ? `${text}, which was in another run` : text);
  }
  if (input.grant) return tell(...(await ofGrant(reading, event, input, input.grant)));
  if (reading.prepared?.verdict === 'run' && !reading.prepared.grant) return tell(true, 'as policy lets it run');
  return tell(status === 'denied', 'of what was asked about, without any approval');
}

/** A tool that may be repeated is, after a try that came to no end, as often as its limits say. */
function isAgain({ tool, ran, prepared }: Reading): boolean {
  if (ran.count === 0) return false;
  const plan = prepared && 'plan' in prepared ? prepared.plan : undefined;
  if (!plan || plan.effect === 'once') return true;
  // The history's own word counts only for tools that this program does not have.
  if ('parameters' in tool && tool.effect === 'once') return true;
  return ran.last !== 'timed_out' || ran.count >= plan.limits.maxTries;
}

function ofApproval(
  { tool, asked, decided }: Reading,
  input: ExecuteInput,
  { digest, requestedAt, expiresAt, decision }: NonNullable<ExecuteInput['approval']>,
): [boolean, string] {
  const what = asked.get(digest);
  const first = decided.find((one) => one.digest === digest);
  if (!what || first?.decision !== 'approve')
    return [false, `of ${shortCode(digest)}, which nothing that holds approved`];
  if (!decided.some((one) => isSameJson(one, decision)))
    return [false, `of ${shortCode(digest)}, by another decision than those that came`];
  const { ask } = what;
  const ok = ask.requestedAt === requestedAt && ask.expiresAt === expiresAt && comesTo(tool, ask, input.arguments);
  return [ok, `of ${shortCode(digest)}, ${ok ? 'as approved' : 'otherwise than asked'}`];
}

/** The one that preparation found, or that came instead of a decision; and it covers what ran. */
async function ofGrant(
  reading: Reading,
  event: HistoryEvent,
  input: ExecuteInput,
  grant: Grant,
): Promise<[Holds, string]> {
  const { prepared, decided } = reading;
  if (!prepared || !('judgement' in prepared) || !prepared.judgement)
    return [false, `by grant ${grant.id}, of what nobody judged`];
  const came = [
    prepared.verdict === 'run' ? prepared.grant?.grant : undefined,
    ...decided.map((sealed) => sealed.grant),
  ];
  if (!came.some((one) => one !== undefined && isSameJson(one, grant)))
    return [false, `by grant ${grant.id}, which did not come to this call or does not hold`];
  if (isUnchecked(reading, grant)) return ['unchecked', `by grant ${grant.id}: ${UNCHECKED}`];
  const ask = prepared.verdict === 'ask' ? { ask: prepared.ask } : {};
  const checked = await useOf(reading, event, grant, { judgement: prepared.judgement, ...ask }, input.arguments);
  return [checked.ok, `by grant ${grant.id}${checked.ok ? '' : `: ${checked.reason}`}`];
}

/** What the outcome says has happened must stand in the history, and whom it names must have decided so. */
function checkOutcome(reading: Reading, event: HistoryEvent): void {
  const outcome = valueOf<Outcome>(event.workflowExecutionCompletedEventAttributes?.result);
  if (outcome?.status === 'completed' && !reading.completed)
    say(reading, event, 'outcome', false, 'completed, and nothing on record says that the tool has run');
  const needed = reading.asked.size > 0 && outcome?.status === 'completed';
  const record = outcome?.approval;
  if (!record && !needed) return;
  const ok = record !== undefined && reading.records.some((one) => isSameJson(one, record));
  const who = record ? `${record.decision} by ${record.approver}` : 'nobody';
  say(reading, event, 'outcome', ok, `names ${who}${ok ? '' : ', which nothing that holds says'}`);
}
