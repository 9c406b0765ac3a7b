/**
 * What a call knows and whom it tells: its attempts, what it waits for, what has been decided.
 * Everything that an auditor or a caller sees of a waiting call is written here.
 */
import {
  condition,
  getExternalWorkflowHandle,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApprovalDetails, ApprovalRequest, LadderStep, SealedDecision } from '../protocol/approval.ts';
import { approvalRecord, grantRecord } from '../protocol/approval-record.ts';
import { approvalDetails, wholeCode } from '../protocol/approval.ts';
import {
  type AmendAnswer,
  type Amendment,
  CALL_MEMO,
  type CallInput,
  type Settled,
  type Waiting,
} from '../protocol/call.ts';
import { type CallName, parseCallWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import type { StandingGrant } from '../protocol/grant.ts';
import type { JsonObject } from '../protocol/json.ts';
import { LIMITS } from '../protocol/limits.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE } from '../protocol/names.ts';
import type { ApprovalRecord, CallError, Outcome, OutcomeStatus, Prepared } from '../protocol/outcome.ts';
import type { SessionNotice } from '../protocol/session.ts';
import { escalateSignal, notifySignal, requestApprovalSignal, withdrawApprovalSignal } from './messages.ts';
import { signalIfThere } from './external.ts';

type Asked = Extract<Prepared, { verdict: 'ask' }>;

export class CallState {
  readonly tool: string;
  arguments: JsonObject;
  attempt = 1;
  tries = 0;
  /** The one that is acted on. */
  decision: SealedDecision | undefined;
  /** The grant by which policy's question was answered before anyone was asked. */
  granted: StandingGrant | undefined;
  sessionClosed = false;

  /** A call started by hand under another id has no name; preparation denies it. */
  readonly #name: CallName | undefined = parseCallWorkflowId(workflowInfo().workflowId);
  #waiting: Waiting | undefined;
  #seq = 0;
  #amended: JsonObject | undefined;
  #asked: ApprovalDetails | undefined;
  /** Decisions that have come and were not looked at yet. */
  #came: SealedDecision[] = [];
  #askedAgain = false;
  #outcome: Outcome | undefined;
  #waited = false;

  constructor(input: CallInput) {
    this.tool = input.tool;
    this.arguments = input.arguments;
  }

  get corrected(): boolean {
    return this.#amended !== undefined;
  }

  // ── messages ──────────────────────────────────────────────────────────────

  /** Answers once the call is done, or waits for something newer than the caller has seen. */
  async settle(seen: number): Promise<Settled> {
    await condition(() => this.#outcome !== undefined || (this.#waiting !== undefined && this.#seq > seen));
    if (this.#outcome) return { state: 'done', outcome: this.#outcome };
    if (this.#waiting) return { state: 'waiting', seq: this.#seq, waiting: this.#waiting };
    return this.settle(seen);
  }

  amend({ arguments: corrected, attempt }: Amendment): AmendAnswer {
    if (this.#waiting?.for !== 'correction' || attempt !== this.attempt || this.corrected) {
      const message = 'This call waits for no correction of that attempt. Read its outcome, or start a new call.';
      return { answer: 'not_waiting_for_correction', message };
    }
    this.#amended = corrected;
    return { answer: 'accepted', message: `Attempt ${attempt + 1} of ${LIMITS.attempts} starts.` };
  }

  /**
   * Anybody in the namespace can send one, and whether it holds is found out by activities: so a good one that comes while another
   * is looked at is kept.
   */
  decide(decision: SealedDecision): void {
    if (decision.digest !== this.#asked?.request.digest || this.#came.length >= LIMITS.refusals) return;
    this.#came.push(decision);
  }

  get hasDecision(): boolean {
    return this.#came.length > 0;
  }

  takeDecision(): SealedDecision | undefined {
    this.decision = this.#came.shift();
    return this.decision;
  }

  /** What was to let the call run does not hold, so the outcome names nobody for it. */
  disclaim(): void {
    this.decision = undefined;
    this.granted = undefined;
  }

  /** Says whether something runs that has to be stopped. */
  closeSession(): 'waiting' | 'running' {
    this.sessionClosed = true;
    return this.#waiting ? 'waiting' : 'running';
  }

  approvalDetails(): ApprovalDetails | null {
    if (this.#waiting?.for !== 'approval' || !this.#asked) return null;
    return this.#asked;
  }

  /** What was asked of people, decided or not. */
  approvalRequest(): ApprovalRequest | undefined {
    return this.#asked?.request;
  }

  // ── waiting ───────────────────────────────────────────────────────────────

  awaitCorrection(error: CallError, correctionMs: number): void {
    const since = Date.now();
    this.#wait({
      for: 'correction',
      since,
      until: since + correctionMs,
      tool: this.tool,
      attempt: this.attempt,
      error,
    });
    this.note(`Waits for corrected arguments (attempt ${this.attempt} was invalid): ${plainMarkdown(error.message)}`);
  }

  /** The corrected arguments become the next attempt. */
  takeCorrection(): boolean {
    if (!this.#amended) return false;
    this.arguments = this.#amended;
    this.#amended = undefined;
    this.attempt += 1;
    return true;
  }

  /** Puts the request before the call's own session; false when that session is gone. */
  async requestApproval(prepared: Asked): Promise<boolean> {
    const name = this.#name;
    if (!name) return false;
    const details = approvalDetails(name, this.tool, prepared);
    const { request, route, requestedAt: since } = details;
    this.#asked = details;
    const { summary, markdown } = prepared.ask;
    this.#wait({ for: 'approval', since, tool: this.tool, request, route, summary });
    this.note(markdown);
    return signalIfThere(this.#session(name), requestApprovalSignal, request);
  }

  /** A decision that does not hold leaves the request waiting. Its session is told, and holds the request again where it has settled it. */
  async askAgain(prepared: Asked, why: CallError): Promise<void> {
    this.decision = undefined;
    this.#askedAgain = true;
    await this.tellSession('bad_signature', `A decision was refused: ${why.message} The request still waits.`);
    // The next one has come: it is the session's own, or as little worth.
    if (this.hasDecision) return;
    await this.requestApproval(prepared);
    this.note(`**A decision was refused**: ${plainMarkdown(why.message)}\n\n${prepared.ask.markdown}`);
  }

  /** Brings the request up again with the people above. */
  async escalate(step: LadderStep): Promise<void> {
    if (!this.#name || !this.#asked) return;
    const { session, callId, runId } = this.#asked.request;
    await signalIfThere(this.#session(this.#name), escalateSignal, { session, callId, runId, step });
  }

  /** What was waited for has come or is void. */
  resume(): void {
    this.#waiting = undefined;
    upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: [CALL_STATE.running] });
    this.note('');
  }

  /** Takes an undecided request back, or one that was asked again and may wait above though it is decided; does nothing where none waits. */
  async withdraw(): Promise<void> {
    if (!this.#name || !this.#asked || (this.decision && !this.#askedAgain)) return;
    const { request } = this.#asked;
    const withdrawal = { session: request.session, callId: request.callId, runId: request.runId };
    await signalIfThere(this.#session(this.#name), withdrawApprovalSignal, withdrawal);
  }

  async tellSession(kind: SessionNotice['kind'], text: string): Promise<void> {
    if (!this.#name) return;
    const { session, callId } = this.#name;
    await signalIfThere(this.#session(this.#name), notifySignal, {
      at: Date.now(),
      kind,
      session,
      callId,
      text: text.slice(0, 500),
    });
  }

  /** Shown on the call's page in the Temporal UI. */
  note(markdown: string): void {
    setCurrentDetails(markdown);
  }

  // ── the end ───────────────────────────────────────────────────────────────

  outcome(status: OutcomeStatus, rest: Pick<Outcome, 'output' | 'display' | 'artifacts' | 'error'>): Outcome {
    const approval = this.#approvalRecord();
    return { status, ...rest, attempts: this.attempt, tries: this.tries, ...(approval && { approval }) };
  }

  /** Answers those who wait and, off the fast path, leaves the outcome where listings find it. */
  end(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#waiting = undefined;
    if (this.#waited || outcome.status !== 'completed') {
      upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: [outcome.status] });
      this.note(`**${outcome.status}**${outcome.error ? `: ${plainMarkdown(outcome.error.message)}` : ''}`);
    }
  }

  #wait(waiting: Waiting): void {
    this.#waiting = waiting;
    this.#seq += 1;
    this.#waited = true;
    const code =
      waiting.for === 'approval' ? { [SEARCH_ATTRIBUTE.code]: [wholeCode(waiting.request.digest)] } : undefined;
    upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: [CALL_STATE.waiting], ...code });
    upsertMemo({ [CALL_MEMO]: waiting });
  }

  #session(name: CallName) {
    return getExternalWorkflowHandle(sessionWorkflowId(name.session));
  }

  #approvalRecord(): ApprovalRecord | undefined {
    if (this.granted) return grantRecord(this.granted);
    return this.decision && approvalRecord(this.decision);
  }
}
