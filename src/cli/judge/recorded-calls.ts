/** Calls that were made, with what was said of them then: from Temporal's listing and history, for a dry run of rules. */
import { type HistoryEvent, localActivityOf, readHistory, valueOf } from '../../client/history.ts';
import { reach } from '../../client/transport.ts';
import { listed } from '../../client/listed.ts';
import type { JudgedSession, RecordedCall } from '../../policy/index.ts';
import type { Amendment, CallInput } from '../../protocol/call.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';
import { type JsonObject, isJsonObject } from '../../protocol/json.ts';
import { CALL_MESSAGE, WORKFLOW } from '../../protocol/names.ts';
import type { Prepared } from '../../protocol/outcome.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import type { AnyCountersign } from '../service/with-service.ts';

/** What preparation was given last, and what it said of it; undefined where it came to no judgement. */
export interface Judged {
  tool: string;
  arguments: JsonObject;
  before: RecordedCall['before'];
}

/** Ids of the calls that were started since then, newest first. */
export async function* callsSince({ temporal }: Pick<AnyCountersign, 'temporal'>, since: Date): AsyncGenerator<string> {
  const query = `WorkflowType="${WORKFLOW.call}" AND StartTime>="${since.toISOString()}"`;
  const listing = listed(temporal, query);
  for (;;) {
    const next = await reach(() => listing.next());
    if (next.done) return;
    if (parseCallWorkflowId(next.value.workflowId)) yield next.value.workflowId;
  }
}

export const recordedCall = async ({ temporal }: AnyCountersign, id: string): Promise<Judged | undefined> =>
  lastJudgement(await readHistory(temporal, id));

export function lastJudgement(events: readonly HistoryEvent[]): Judged | undefined {
  const input = valueOf<Partial<CallInput>>(events[0]?.workflowExecutionStartedEventAttributes?.input);
  if (typeof input?.tool !== 'string' || !isJsonObject(input.arguments ?? null)) return undefined;
  let args = input.arguments as JsonObject;
  let found: Judged | undefined;
  for (const event of events) {
    args = amendedBy(event) ?? args;
    const local = localActivityOf(event);
    const prepared = local?.activity === 'prepareCall' ? (local.result as Prepared | undefined) : undefined;
    if (prepared === undefined) continue;
    const judgement = 'judgement' in prepared ? prepared.judgement : undefined;
    if (judgement === undefined) found = undefined;
    else {
      const { verdict, rule, tier } = judgement;
      found = { tool: input.tool, arguments: args, before: { verdict, rule, tier } };
    }
  }
  return found;
}

function amendedBy(event: HistoryEvent): JsonObject | undefined {
  const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  if (request?.input?.name !== CALL_MESSAGE.amend) return undefined;
  const args = valueOf<Partial<Amendment>>(request.input.args)?.arguments;
  return isJsonObject(args ?? null) ? args : undefined;
}

/** Sessions by id, each with those above it, whose rules hold for it too. */
export async function sessionsKnown(countersign: AnyCountersign): Promise<(id: string) => JudgedSession | undefined> {
  const facts = new Map(
    (await countersign.sessions({ all: true })).map((session) => [session.facts.id, session.facts]),
  );
  return (id) => {
    const own = facts.get(id);
    return own && { ...own, above: above(own, facts) };
  };
}

function above(own: SessionFacts, facts: ReadonlyMap<string, SessionFacts>): SessionFacts[] {
  const found: SessionFacts[] = [];
  for (let at = own.parent; at !== undefined; at = found.at(-1)?.parent) {
    const next = facts.get(at);
    if (next === undefined || found.includes(next)) break;
    found.push(next);
  }
  return found;
}
