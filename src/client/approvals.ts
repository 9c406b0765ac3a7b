/** Requests for approval and decisions on them, as approvers see them. */
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { shownDigest } from '../approval/digest.ts';
import { approvalsOn } from '../approval/collected.ts';
import { type Signer, signDecision } from '../approval/sign.ts';
import {
  type ApprovalDetails,
  type ApprovalRequest,
  type CollectedDecision,
  type Decision,
  type DecisionAnswer,
  type RequestStanding,
  isCode,
  isCodeOf,
  isLongCode,
  longCode,
  shortCode,
} from '../protocol/approval.ts';
import { type Listed, described, listed } from './listed.ts';
import { CALL_MEMO, type Waiting } from '../protocol/call.ts';
import { CountersignError, isCountersignError } from '../protocol/errors.ts';
import { readDecisionAnswer, readStanding, readWaiting } from '../protocol/forms.ts';
import { type CallName, callWorkflowId, parseCallWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import type { JsonObject } from '../protocol/json.ts';
import { SEARCH_ATTRIBUTE, SESSION_MESSAGE, WORKFLOW } from '../protocol/names.ts';
import { CallHandle } from './call.ts';
import { knownSession } from './known-session.ts';
import { isAnother, lies, notSeen } from './seen.ts';
import { type Transport, fromFailure, isGone, reach, updateSession } from './transport.ts';

/** One call that waits, as listings show it. */
export interface WaitingCall extends CallName {
  /** Its full name. */
  id: string;
  /** As the call's starter named it; the request itself has the one that is bound. */
  agent?: string;
  /** What it asks for in one line, with `for: 'approval'`. */
  summary?: string;
  waiting: Waiting;
  /** `#` and six characters, with `for: 'approval'`. */
  code?: string;
}

/** A request as its approver reads it: the digest was computed here, from the arguments that are shown. */
export interface OpenRequest extends ApprovalDetails {
  id: string;
  code: string;
  /**
   * Where several have to agree: the approvals that count so far, by the word of the session that holds the request. All of them
   * approve the same. Absent where no session says it.
   */
  collected?: CollectedDecision[];
}

export interface PendingOptions {
  /** Calls that wait for corrected arguments, too. */
  all?: boolean;
  /** Only those of this session itself. */
  session?: string;
  /** At least 1. */
  limit?: number;
}

export interface DecisionOptions {
  /** Who decides; the user's name on this machine unless said otherwise. Unverified. */
  approver?: string;
  reason?: string;
  /** Signs the decision, in its own name. The digest that is signed is computed here, from what the call shows. */
  signer?: Signer;
}

export interface ApproveOptions extends DecisionOptions {
  /** Arguments to run instead of those asked for. */
  arguments?: JsonObject;
  /** Stands in for a quorum; for a signer with the role `emergency`. */
  override?: true;
}

/** The request, if its digest is that of its content. Whoever decides signs what they see, never a digest that they were sent. */
function checked(open: OpenRequest): OpenRequest {
  if (shownDigest(open) !== open.request.digest) throw lies(open.id);
  return open;
}

/**
 * What the call last asked for by its memo; undefined where that is none of this call's. Anybody in the namespace can start a call's
 * workflow with a memo of their own, which might name another call that waits: a decision on the one would be sent to the other.
 */
function askedBy(name: CallName, memo: Record<string, unknown> | undefined): ApprovalRequest | undefined {
  const waiting = readWaiting(memo?.[CALL_MEMO], name);
  return waiting?.for === 'approval' ? waiting.request : undefined;
}

/** Why there is nothing to decide on, and what to type instead. Throws `call_not_found`. */
async function whyNothing(call: CallHandle): Promise<string> {
  const { id } = call;
  const none = `Call ${id} waits for no approval`;
  const waiting = await call.waiting();
  if (waiting?.for === 'correction')
    return `${none}, but for corrected arguments: countersign amend ${id} '{…}', or countersign cancel ${id}`;
  if (waiting) return `${none} at this moment: it looks at a decision. Look again: countersign pending`;
  const now = await call.now();
  if (now.state !== 'done')
    return `${none}: it runs, or is still being judged. See how it goes on: countersign result ${id} --wait 1m`;
  const { status, approval } = now.outcome;
  const decided = approval
    ? `, ${approval.decision === 'approve' ? 'approved' : 'denied'} by ${approval.approver}`
    : '';
  return `${none}: it has ended (${status}${decided}). Its story: countersign audit ${id}`;
}

/** A call shows nothing while it looks at a decision, which a stranger may have sent: it is asked again for so long. */
const EXAMINED_MS = 2_000;
const ASK_AGAIN_MS = 100;

const NO_ANSWER =
  'The session that holds the request answers otherwise than ours do. Look who started it: countersign audit SESSION';

const WAITING = `WorkflowType="${WORKFLOW.call}" AND ${SEARCH_ATTRIBUTE.state}="waiting" AND ExecutionStatus="Running"`;

const waitingQuery = (session: string | undefined): string =>
  session === undefined ? WAITING : `${WAITING} AND ${SEARCH_ATTRIBUTE.session}="${session}"`;

/** Calls that waited once, or ended otherwise than completed. */
const PAST = `WorkflowType="${WORKFLOW.call}" AND ${SEARCH_ATTRIBUTE.state} IS NOT NULL AND ${SEARCH_ATTRIBUTE.state}!="waiting"`;

/** @param code letters and digits only */
const withCode = (query: string, code: string): string =>
  `${query} AND ${SEARCH_ATTRIBUTE.code} STARTS_WITH "${code.toUpperCase()}"`;
/** Of several calls with one code, so many are named. */
const NAMED = 5;
/** Listings follow a moment later. */
const LISTED_MS = 200;

/** Undefined where it is none: anybody in the namespace can start a call's workflow with a memo of their own. */
function waitingCall({ workflowId, memo, searchAttributes }: Listed): WaitingCall | undefined {
  const name = parseCallWorkflowId(workflowId);
  const waiting = name && readWaiting(memo[CALL_MEMO], name);
  if (!waiting) return undefined;
  const agent = searchAttributes[SEARCH_ATTRIBUTE.agent]?.[0];
  const asked = waiting.for === 'approval' && { code: shortCode(waiting.request.digest), summary: waiting.summary };
  return { ...name, id: workflowId, ...(typeof agent === 'string' && { agent }), waiting, ...asked };
}

export class Approvals {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Calls that wait for somebody, newest first: for approval, unless `all` asks for corrections too; no more than `limit`, where that is
   * given. The server's listing follows what happens a moment later.
   */
  async pending({ all = false, session, limit = Infinity }: PendingOptions = {}): Promise<WaitingCall[]> {
    return this.#waiting(waitingQuery(session), limit, ({ waiting }) => all || waiting.for === 'approval');
  }

  /** The newest so many that are meant. */
  async #waiting(query: string, limit: number, isMeant: (call: WaitingCall) => boolean): Promise<WaitingCall[]> {
    const found: WaitingCall[] = [];
    await reach(async () => {
      for await (const execution of listed(this.#transport.client, query, { wanted: limit })) {
        const call = waitingCall(execution);
        if (call && isMeant(call)) found.push(call);
        if (found.length >= limit) return;
      }
    });
    return found;
  }

  /**
   * How many calls wait, by the server's own count: for approval or for corrected arguments, which it does not tell apart. It is quick
   * also where listing them all is not.
   */
  async count({ session }: Pick<PendingOptions, 'session'> = {}): Promise<number> {
    return (await reach(() => this.#transport.client.workflow.count(waitingQuery(session)))).count;
  }

  /**
   * The full name of the call that is meant: a code is that of a request which waits, or else of the latest that did.
   * @throws CountersignError `call_not_found`, `ambiguous_name`
   */
  async find(call: string): Promise<string> {
    return callWorkflowId(await this.#meant(call));
  }

  async #meant(call: string): Promise<CallName> {
    if (isCode(call)) return this.#byCode(call);
    const name = parseCallWorkflowId(call);
    if (name) return name;
    const message = `${JSON.stringify(call)} names no call: call/<session>/<call id>, or a code of 6 letters or more.`;
    throw new CountersignError('call_not_found', message);
  }

  /**
   * The request of a call, by its full name (`call/<session>/<call id>`) or its code (`#ABC234`, or with more letters).
   * @throws CountersignError `call_not_found`, also where the call waits for no approval: its message says how the call stands;
   * `ambiguous_name`, `digest_mismatch`
   */
  async show(call: string): Promise<OpenRequest> {
    const name = await this.#meant(call);
    const handle = new CallHandle(this.#transport, name);
    const details = await this.#details(handle);
    if (!details) throw new CountersignError('call_not_found', await whyNothing(handle));
    const { session, callId } = details.request;
    if (session !== name.session || callId !== name.callId) throw lies(handle.id);
    const open = checked({ ...details, id: handle.id, code: shortCode(details.request.digest) });
    // The code was read somewhere, and looked up in a listing that is behind: what waits now may be another request.
    if (isCode(call) && !isCodeOf(call, open.request.digest)) throw isAnother(call, open);
    const standing = details.required > 1 ? await this.#standing(name) : undefined;
    return standing ? { ...open, collected: approvalsOn(details.request, standing.collected) } : open;
  }

  async #details(handle: CallHandle): Promise<ApprovalDetails | undefined> {
    for (const until = Date.now() + EXAMINED_MS; ; await sleep(ASK_AGAIN_MS)) {
      try {
        const details = await handle.approval();
        if (details || Date.now() > until || !(await this.#standing(handle))) return details;
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    }
  }

  /** How a call's request stands in the session that holds it; undefined where none does. */
  async #standing({ session, callId }: CallName): Promise<RequestStanding | undefined> {
    try {
      const holder = this.#transport.client.workflow.getHandle(sessionWorkflowId(await this.#holder(session)));
      const query = () => holder.query<unknown, [CallName]>(SESSION_MESSAGE.standing, { session, callId });
      return readStanding(await reach(query));
    } catch (error) {
      if (isCountersignError(error) && error.code !== 'session_not_found') throw error;
      // Whoever stands in for the session may know no such question.
      return undefined;
    }
  }

  /**
   * Lets the call run as shown, or with other arguments in place of those asked for. What is signed is what was shown: with a signer, `call`
   * is what `show` gave, or a code of 24 letters or more, which says what was seen.
   * @throws CountersignError `invalid_usage` for a signature on whatever stands under a name or a shorter code, `call_not_found`,
   * `ambiguous_name`, `digest_mismatch`
   */
  approve(call: string | OpenRequest, options: ApproveOptions = {}): Promise<DecisionAnswer> {
    const { arguments: edited, override, ...rest } = options;
    return this.#decide(
      call,
      { decision: 'approve', ...(edited && { arguments: edited }), ...(override && { override }) },
      rest,
    );
  }

  /** Ends the call as denied; the model sees the reason. For the rest it is as {@link approve}. */
  deny(call: string | OpenRequest, options: DecisionOptions & { reason: string }): Promise<DecisionAnswer> {
    return this.#decide(call, { decision: 'deny' }, options);
  }

  async #decide(
    call: string | OpenRequest,
    given: Pick<Decision, 'decision' | 'arguments' | 'override'>,
    { approver = userInfo().username, reason, signer }: DecisionOptions,
  ): Promise<DecisionAnswer> {
    let open: { request: Pick<ApprovalRequest, 'session' | 'callId' | 'digest'> };
    let seen = true;
    try {
      open = typeof call === 'string' ? await this.#named(call, given.decision, signer) : checked(call);
    } catch (error) {
      const past = error instanceof CountersignError && error.code === 'call_not_found' && typeof call === 'string';
      const record = past ? await this.#past(call) : undefined;
      if (!record) throw error;
      open = record;
      seen = false;
    }
    const { session, callId, digest } = open.request;
    const unsigned: Decision = { ...given, session, callId, digest, approver, ...(reason !== undefined && { reason }) };
    // Of a call that waits no more only the digest is left, and what nobody has seen is neither signed nor decided.
    const decision: Decision = seen
      ? await (signer ? signDecision(unsigned, signer) : unsigned)
      : { ...unsigned, repeat: true };
    const main = await this.#holder(session);
    try {
      const answer = await updateSession<unknown>(this.#transport.client, main, SESSION_MESSAGE.decide, decision);
      return readDecisionAnswer(answer) ?? { answer: 'not_pending', message: NO_ANSWER };
    } catch (error) {
      if (isGone(error)) return { answer: 'not_pending', message: 'The session that held the request is closed.' };
      if (error instanceof WorkflowUpdateFailedError) throw fromFailure(error);
      throw error;
    }
  }

  /** What stands under that name, where it says enough of what its approver has seen. */
  async #named(call: string, decision: Decision['decision'], signer: Signer | undefined): Promise<OpenRequest> {
    const open = await this.show(call);
    if (signer && !isLongCode(call)) throw notSeen(call, decision);
    return open;
  }

  /** What a call that no longer waits had asked for, so that a repeated decision gets an honest answer. */
  async #past(call: string): Promise<{ request: ApprovalRequest } | undefined> {
    if (isCode(call)) return this.#pastByCode(call);
    const name = parseCallWorkflowId(call);
    if (!name) return undefined;
    const description = await reach(() => described(this.#transport.client, call));
    const request = askedBy(name, description?.memo);
    return request && { request };
  }

  /** Of the calls that asked and no longer wait, the latest that had this code. */
  async #pastByCode(code: string): Promise<{ request: ApprovalRequest } | undefined> {
    return reach(async () => {
      for await (const { workflowId, memo } of listed(this.#transport.client, withCode(PAST, code), {
        wanted: NAMED,
      })) {
        const name = parseCallWorkflowId(workflowId);
        const request = name && askedBy(name, memo);
        if (request && isCodeOf(code, request.digest)) return { request };
      }
      return undefined;
    });
  }

  /** The main session above a call's: it holds the requests of all below it. */
  async #holder(session: string): Promise<string> {
    const known = await knownSession(this.#transport.client, session);
    if (!known) throw new CountersignError('session_not_found', `There is no session ${session}.`);
    return known.facts.main;
  }

  /** Of a request that waits; where none does, of the latest that did. */
  async #byCode(code: string): Promise<CallName> {
    // Anybody can list what they like under a code; what counts is the digest of the request.
    const digest = ({ waiting }: WaitingCall): string => (waiting.for === 'approval' ? waiting.request.digest : '');
    const look = () => this.#waiting(withCode(WAITING, code), NAMED, (call) => isCodeOf(code, digest(call)));
    let matches = await look();
    if (matches.length === 0) {
      await sleep(LISTED_MS);
      matches = await look();
    }
    if (matches.length > 1) {
      const names = matches.map((call) => `'${longCode(digest(call))}' (${call.id})`).join(', ');
      throw new CountersignError('ambiguous_name', `${code} is the code of several calls; say which: ${names}`);
    }
    const found = matches[0] ?? (await this.#pastByCode(code))?.request;
    if (found) return found;
    throw new CountersignError(
      'call_not_found',
      `No call has the code ${code}. List those that wait: countersign pending`,
    );
  }
}
