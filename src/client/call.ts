/** A call that was started, from this process or another. */
import {
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { CancelledFailure, TerminatedFailure } from '@temporalio/common';
import type { ApprovalDetails } from '../protocol/approval.ts';
import { readOutcome } from '../protocol/answers.ts';
import { type AmendAnswer, CALL_MEMO, type CallInput, type Settled, type Waiting } from '../protocol/call.ts';
import type { Halt } from '../protocol/control.ts';
import { CountersignError, callError, isCountersignError } from '../protocol/errors.ts';
import { isApprovalDetails, isCallInput, readWaiting } from '../protocol/forms.ts';
import { hasGrpcStatus } from '../protocol/grpc.ts';
import { type CallName, callWorkflowId, parseCallWorkflowId } from '../protocol/ids.ts';
import type { JsonObject } from '../protocol/json.ts';
import { CALL_MESSAGE, CALL_STATE, SEARCH_ATTRIBUTE, WORKFLOW } from '../protocol/names.ts';
import type { Outcome } from '../protocol/outcome.ts';
import { Control } from './control.ts';
import { type Described, described } from './listed.ts';
import { oneValue } from './payload.ts';
import { lies } from './seen.ts';
import { type Transport, isGone, reach, sendUpdate } from './transport.ts';

/** A fast call is done by then, and never pays for being asked whether it waits. */
const SETTLE_AFTER_MS = 200;

export class CallHandle {
  readonly session: string;
  readonly callId: string;
  readonly #transport: Transport;
  #outcome: Promise<Outcome> | undefined;

  constructor(transport: Transport, { session, callId }: CallName) {
    this.#transport = transport;
    this.session = session;
    this.callId = callId;
  }

  /** `call/<session>/<call id>`: the workflow's id, and the call's full name everywhere. */
  get id(): string {
    return callWorkflowId(this);
  }

  get #workflow() {
    return this.#transport.client.workflow.getHandle(this.id);
  }

  /**
   * How the call ended; waits as long as that takes, also while it waits for a person.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  outcome(): Promise<Outcome> {
    this.#outcome ??= this.#result();
    this.#outcome.catch(() => (this.#outcome = undefined));
    return this.#outcome;
  }

  /**
   * Answers as soon as the call is done or needs someone: `{ state: 'done', outcome }`, or
   * `{ state: 'waiting', seq, waiting }` for a correction or an approval. Pass the last `seq` to learn of the next.
   */
  async settled(seen = 0): Promise<Settled> {
    const done = this.outcome().then((outcome): Settled => ({ state: 'done', outcome }));
    done.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const slow = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), SETTLE_AFTER_MS);
    });
    const quick = await Promise.race([done, slow]).finally(() => clearTimeout(timer));
    return quick ?? Promise.race([done, this.#ask(seen, done)]);
  }

  /**
   * How the call stands at this moment, without waiting for anything: as {@link settled} says it, or `{ state: 'running' }`.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  async now(): Promise<Settled | { state: 'running' }> {
    const description = await this.#describe();
    if (description.status.name !== 'RUNNING') return { state: 'done', outcome: await this.outcome() };
    return waitingIn(description) ? this.settled() : { state: 'running' };
  }

  /** Other arguments for a call that waits for a correction; `attempt` is the one that was found invalid. */
  async amend(args: JsonObject, attempt?: number): Promise<AmendAnswer> {
    let wrong = attempt;
    if (wrong === undefined) {
      const waiting = await this.waiting();
      wrong = waiting?.for === 'correction' ? waiting.attempt : 0;
    }
    try {
      return await sendUpdate<AmendAnswer>(this.#workflow, CALL_MESSAGE.amend, { arguments: args, attempt: wrong });
    } catch (error) {
      if (!isGone(error) && !(error instanceof WorkflowUpdateFailedError)) throw error;
      const message = 'This call has ended; it takes no other arguments. Start a new call.';
      return { answer: 'not_waiting_for_correction', message };
    }
  }

  /** Asks the call to end; its outcome says whether it did. Does nothing where it has ended. */
  async cancel(): Promise<void> {
    try {
      await reach(() => this.#workflow.cancel());
    } catch (error) {
      if (!isGone(error)) throw error;
      await this.#exists();
    }
  }

  /**
   * What the call waits for at this moment; undefined where it runs or has ended.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  async waiting(): Promise<Waiting | undefined> {
    return waitingIn(await this.#describe());
  }

  /**
   * Who halted the service and why, where that is what keeps the call from running; undefined for a call that runs, waits for somebody or
   * has ended. A held call goes on by itself within half a minute once the service is resumed.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  async held(): Promise<Halt | undefined> {
    const halt = await new Control(this.#transport).halted();
    if (!halt) return undefined;
    const { status, searchAttributes, activities } = await this.#describe();
    const waits = searchAttributes[SEARCH_ATTRIBUTE.state]?.[0] === CALL_STATE.waiting;
    return status.name === 'RUNNING' && !waits && activities.length === 0 ? halt : undefined;
  }

  /**
   * When the call was started, and when it ended.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  async times(): Promise<{ startTime: Date; closeTime?: Date }> {
    const { startTime, closeTime } = await this.#describe();
    return { startTime, ...(closeTime && { closeTime }) };
  }

  /** The latest word of the running tool, where it has said one. */
  async progress(): Promise<string | undefined> {
    const { activities } = await this.#describe();
    const said = oneValue(activities[0]?.heartbeatDetails?.payloads?.[0]);
    return typeof said === 'string' ? said : undefined;
  }

  /**
   * What waits for approval, with the arguments that would run; undefined where nothing does.
   * @throws CountersignError `digest_mismatch` for an answer that no call of ours gives, `no_service`, also where no worker answers for the call
   */
  async approval(): Promise<ApprovalDetails | undefined> {
    const details = await this.#asked();
    if (details == null || isApprovalDetails(details)) return details ?? undefined;
    throw lies(this.id);
  }

  async #asked(): Promise<unknown> {
    try {
      return await reach(() => this.#workflow.query(CALL_MESSAGE.approval));
    } catch (error) {
      const refused = hasGrpcStatus(error, 'permissionDenied', 'unauthenticated');
      if (isGone(error) || isCountersignError(error) || refused) throw error;
      if (error instanceof ServiceError)
        throw new CountersignError('no_service', `No worker answers for call ${this.id}.`, { cause: error });
      // A workflow that knows no such question, or an answer that cannot be decoded.
      throw lies(this.id);
    }
  }

  /**
   * What the call was started with, from its history.
   * @throws CountersignError `call_not_found`, `no_service`
   */
  async input(): Promise<CallInput> {
    const { client } = this.#transport;
    const { history } = await reach(() =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId: this.id },
        maximumPageSize: 1,
      }),
    ).catch((error: unknown) => {
      throw hasGrpcStatus(error, 'notFound') ? notFound(this.id) : error;
    });
    const input = oneValue(history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]);
    if (!isCallInput(input)) throw notFound(this.id);
    return input;
  }

  async #ask(seen: number, done: Promise<Settled>): Promise<Settled> {
    try {
      for (let known = seen; ;) {
        // One id for all who ask at this point, so that a thousand pollers are one update.
        const updateId = `settle-${known}`;
        const answer = await sendUpdate<Settled>(this.#workflow, CALL_MESSAGE.settle, known, { updateId });
        if (answer?.state !== 'waiting') return await done;
        // They all get the first one's answer, and by now the call may have gone on from there.
        const waiting = await this.waiting();
        if (waiting?.since === answer.waiting?.since && waiting) return { state: 'waiting', seq: answer.seq, waiting };
        known = answer.seq;
      }
    } catch (error) {
      // The call ended before it could answer: its outcome says all.
      if (isGone(error) || error instanceof WorkflowUpdateFailedError) return done;
      throw error;
    }
  }

  async #result(): Promise<Outcome> {
    try {
      return readOutcome(await reach(() => this.#workflow.result())) ?? noOutcome();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw notFound(this.id);
      if (error instanceof WorkflowFailedError) return endedFromOutside(error);
      if (error instanceof ServiceError || isCountersignError(error)) throw error;
      // A result that cannot be decoded.
      return noOutcome();
    }
  }

  async #describe() {
    const description = await reach(() => described(this.#transport.client, this.id));
    if (description?.type === WORKFLOW.call) return description;
    throw notFound(this.id);
  }

  async #exists(): Promise<void> {
    await this.#describe();
  }
}

function waitingIn({ workflowId, status, memo, searchAttributes }: Described): Waiting | undefined {
  const waits = status.name === 'RUNNING' && searchAttributes[SEARCH_ATTRIBUTE.state]?.[0] === CALL_STATE.waiting;
  const name = parseCallWorkflowId(workflowId);
  return waits && name ? readWaiting(memo[CALL_MEMO], name) : undefined;
}

/** Calls return their outcome; one that did not was ended by an operator's hand. */
function endedFromOutside(error: WorkflowFailedError): Outcome {
  const { cause } = error;
  const cancelled = cause instanceof CancelledFailure || cause instanceof TerminatedFailure;
  const message = `The call's workflow was ended from outside: ${cause?.message ?? error.message}`;
  return cancelled
    ? { status: 'cancelled', error: callError('cancelled', message), attempts: 1, tries: 0 }
    : { status: 'unknown', error: callError('outcome_unknown', message), attempts: 1, tries: 0 };
}

/** Ours return one, always. */
const noOutcome = (): Outcome => ({
  status: 'unknown',
  error: callError('outcome_unknown', "The call's workflow is none of ours: what it returned is no outcome."),
  attempts: 1,
  tries: 0,
});

const notFound = (id: string): CountersignError =>
  new CountersignError('call_not_found', `There is no call ${id}. List what waits: countersign pending --all`);
