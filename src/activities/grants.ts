/** Grants as main sessions keep them: taken in, taken back, and looked for where a person would have to be asked. */
import { activityInfo } from '@temporalio/activity';
import { exampleCall, needsSeveral, neverCovered, neverUsed, notCovered, verifyGrant } from '../approval/grants.ts';
import { requiredFor } from '../approval/quorum.ts';
import { anybodyMay, wayOut } from '../approval/verify.ts';
import { described } from '../client/listed.ts';
import { mapAtMost } from '../common/at-most.ts';
import { isRevoked, revokeGrant as revoke } from '../context/index.ts';
import type { ApprovalRequest } from '../protocol/approval.ts';
import { type ErrorCode, isCountersignError } from '../protocol/errors.ts';
import { isApprovalDetails } from '../protocol/forms.ts';
import { GRANTS_MEMO, type Grant, type StandingGrant } from '../protocol/grant.ts';
import { callWorkflowId, parseSessionWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import { CALL_MESSAGE } from '../protocol/names.ts';
import type { Tool } from '../tools/index.ts';
import type { Dependencies } from './dependencies.ts';
import { type Judged, judgeCall } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';
import { grantableCall, placeOf, standingGrant } from './standing-grant.ts';

export type GrantCheck = { ok: true } | { ok: false; code: ErrorCode; message: string };

/** A waiting request that a grant covers. */
export interface Covered extends StandingGrant {
  request: ApprovalRequest;
}

/** The grant of the call's main session that covers it; undefined where there is none. */
export async function coveringGrant(
  dependencies: Dependencies,
  session: KnownSession,
  judged: Extract<Judged, { ok: true }>,
): Promise<StandingGrant | undefined> {
  return standingGrant(dependencies, session, judged, await grantsOf(dependencies, session.facts.main));
}

/** From the memo: a query would need a workflow task while this one holds one, and many at once would wait for each other. */
async function grantsOf({ client }: Dependencies, main: string): Promise<Grant[]> {
  try {
    const grants = (await described(client, sessionWorkflowId(main)))?.memo[GRANTS_MEMO];
    return Array.isArray(grants) ? (grants as Grant[]) : [];
  } catch {
    // A main session that can't be read has no grants to offer: a person is asked, as without any.
    return [];
  }
}

/**
 * Whether a session may take the grant in: its maker is an approver of now who may decide on such calls, and signed it as required; and it
 * can be of use, as far as that can be told.
 */
export async function checkGrant(dependencies: Dependencies, grant: Grant): Promise<GrantCheck> {
  try {
    return await check(dependencies, grant, await holder(dependencies));
  } catch (error) {
    // A session that is none here, or may not be: trying again would change nothing.
    if (isCountersignError(error)) return { ok: false, code: error.code, message: error.message };
    throw error;
  }
}

async function check(dependencies: Dependencies, grant: Grant, main: KnownSession): Promise<GrantCheck> {
  const { settings, catalogue, stateDir } = dependencies;
  if (await isRevoked(stateDir, grant.id))
    return { ok: false, code: 'invalid_id', message: `Grant ${grant.id} was revoked, which is for good.` };
  const tool = catalogue.get(grant.tool);
  if (!tool)
    return { ok: false, code: 'unknown_tool', message: `There is no tool ${JSON.stringify(grant.tool)} to grant.` };
  const { approvals, groups } = settings().config;
  const agent = await agentOf(dependencies, grant.scope);
  const checked = verifyGrant(
    grant,
    { tool, tier: tool.tier, agent, place: placeOf(dependencies, main), ...(groups && { groups }) },
    approvals,
    Date.now(),
  );
  if (!checked.ok)
    return {
      ok: false,
      code: checked.code,
      message: `${checked.reason}${wayOut(checked, anybodyMay(approvals))}`,
    };
  const example = await judgedExample(dependencies, main, grant);
  const unfit = unnamed(tool, grant) ?? refusal(example);
  if (unfit !== undefined)
    return { ok: false, code: 'invalid_usage', message: `Such a grant would never be used: ${unfit}` };
  const useless =
    needsSeveral(requiredFor(approvals, { tool, tier: tool.tier, ...(groups && { groups }) })) ??
    neverUsed(grant, commandArgument(tool, grant)) ??
    (await uselessOnExample(dependencies, main, grant, example));
  if (useless === undefined) return { ok: true };
  const message = `Such a grant would never be used: ${useless}. Approve such calls one by one (countersign pending lists them), let commands run in the sandbox, where policy asks less, or let one command run by an allow rule for exactly its words in the configuration.`;
  return { ok: false, code: 'invalid_usage', message };
}

/** Says which argument every call of the tool has and the grant does not name: it would cover none. */
function unnamed({ name: tool, parameters }: Tool, { arguments: patterns }: Grant): string | undefined {
  const missing = (parameters.required ?? []).filter((name) => !Object.hasOwn(patterns, name));
  if (missing.length === 0) return undefined;
  const names = missing.map((name) => JSON.stringify(name)).join(', ');
  return `every call of ${tool} has ${names}, and a grant covers only calls whose arguments it names. Give the exact value in the JSON, or a pattern, as in --glob '${missing[0]}=…'.`;
}

/** Why a call that the grant spells out in full is none. */
const refusal = (example: JudgedExample | undefined): string | undefined =>
  example?.exact && !example.judged.ok && example.judged.error.kind === 'ValidationError'
    ? example.judged.error.message
    : undefined;

/**
 * The agent that the grant is made for, as far as that can be told now: its maker may be an approver of some agents only. A session below
 * may be another agent's; there the grant is checked again, for that agent, whenever it is to be used.
 */
async function agentOf({ sessions }: Dependencies, scope: Grant['scope']): Promise<string> {
  if ('agent' in scope) return scope.agent;
  try {
    return (await sessions.read(scope.session, { fresh: false })).facts.agent;
  } catch (error) {
    // A session that is none has no agent, so that whoever is limited to agents may not grant it anything.
    if (isCountersignError(error)) return '';
    throw error;
  }
}

/** Which of the tool's arguments is a command, by what it says of arguments like the grant's. */
function commandArgument(tool: Tool, { arguments: patterns }: Grant): string {
  const values = Object.entries(patterns).map(([name, pattern]) => [
    name,
    'exact' in pattern ? pattern.exact : pattern.glob,
  ]);
  try {
    const command = tool.subjects(Object.fromEntries(values)).find(({ kind }) => kind === 'command');
    return command?.argument ?? '';
  } catch {
    // A pattern is no argument; what the tool cannot make out of it is found out when a call comes.
    return '';
  }
}

/** The main session that asks. */
function holder({ sessions }: Dependencies): Promise<KnownSession> {
  const id = parseSessionWorkflowId(activityInfo().workflowExecution?.workflowId ?? '') ?? '';
  return sessions.read(id, { fresh: false });
}

/** A call like those that the grant covers, and what would become of it in the grant's main session. */
interface JudgedExample {
  /** The grant spells it out in full. */
  exact: boolean;
  judged: Judged;
}

async function judgedExample(
  dependencies: Dependencies,
  main: KnownSession,
  grant: Grant,
): Promise<JudgedExample | undefined> {
  const example = exampleCall(grant);
  if (!example) return undefined;
  const { exact, arguments: args } = example;
  return { exact, judged: await judgeCall(dependencies, main, { tool: grant.tool, arguments: args }) };
}

/**
 * A grant must be of use in its main session: one that spells a call out must cover it, and calls like those that it covers must be such
 * that any grant may. What policy lets run, or denies, or cannot judge is left alone.
 */
async function uselessOnExample(
  dependencies: Dependencies,
  main: KnownSession,
  grant: Grant,
  example: JudgedExample | undefined,
): Promise<string | undefined> {
  if (!example) return undefined;
  const { judged } = example;
  if (!judged.ok || judged.judgement.verdict !== 'ask') return undefined;
  const call = await grantableCall(dependencies, main, judged);
  if (!example.exact) return neverCovered(call);
  return notCovered({ ...grant, scope: { session: main.facts.id } }, call, Date.now());
}

/** Recorded outside of Temporal, for a signed grant stays well signed, whoever brings it again. */
export const revokeGrant = ({ stateDir }: Dependencies, id: string): Promise<void> => revoke(stateDir, id);

const AT_ONCE = 20;
/** A call of a worker that is there answers within milliseconds. */
const ANSWER_MS = 5_000;
/** Less than the activity has. */
const LOOK_MS = 40_000;

/** Of the requests that wait, those that one of the grants covers. */
export async function coveredRequests(
  dependencies: Dependencies,
  { requests, grants }: { requests: ApprovalRequest[]; grants: Grant[] },
): Promise<Covered[]> {
  const until = Date.now() + LOOK_MS;
  const found = await mapAtMost(requests, AT_ONCE, async (request) =>
    Date.now() > until ? undefined : coveredRequest(dependencies, request, grants),
  );
  return found.filter((one) => one !== undefined);
}

/** What can't be read or judged is not covered: it waits for a person, as before. A stranger's, whom nobody runs, keeps no other waiting. */
async function coveredRequest(
  dependencies: Dependencies,
  request: ApprovalRequest,
  grants: Grant[],
): Promise<Covered | undefined> {
  const { client, log } = dependencies;
  try {
    const call = client.workflow.getHandle(callWorkflowId(request), request.runId);
    const details: unknown = await client.withDeadline(Date.now() + ANSWER_MS, () => call.query(CALL_MESSAGE.approval));
    if (!isApprovalDetails(details) || details.request.digest !== request.digest) return undefined;
    const session = await dependencies.sessions.read(request.session, { fresh: false });
    const judged = await judgeCall(dependencies, session, { tool: request.tool, arguments: details.arguments });
    const standing = judged.ok ? await standingGrant(dependencies, session, judged, grants) : undefined;
    return standing && { request, ...standing };
  } catch (error) {
    const { session, callId } = request;
    log.debug({ session, callId, err: error }, 'a waiting request could not be looked at for a new grant');
    return undefined;
  }
}
