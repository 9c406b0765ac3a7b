/** A session: where calls are started and child sessions opened. */
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { callContent } from '../approval/digest.ts';
import { readSessionClosed, readSessionView } from '../protocol/answers.ts';
import type { CallInput } from '../protocol/call.ts';
import { CountersignError } from '../protocol/errors.ts';
import { callWorkflowId, isCallId, sessionWorkflowId } from '../protocol/ids.ts';
import { type JsonObject, isJsonObject } from '../protocol/json.ts';
import { LIMITS } from '../protocol/limits.ts';
import { SEARCH_ATTRIBUTE, SESSION_MESSAGE, WORKFLOW } from '../protocol/names.ts';
import type { Explanation, Outcome } from '../protocol/outcome.ts';
import {
  type ChildAnswer,
  type ChildRequest,
  type OpenedAnswer,
  type SessionClosed,
  type SessionFacts,
  type SessionState,
  type SessionView,
} from '../protocol/session.ts';
import { CallHandle } from './call.ts';
import { callSummary } from './summary.ts';
import type { ArgumentsOf, BuiltInTools } from './tool-types.ts';
import { type Transport, fromFailure, isGone, reach, updateSession } from './transport.ts';

export interface CallOptions {
  /** 1 to 128 of `A-Z a-z 0-9 . _ -`; made up when missing. A second start with the same id is the same call. */
  callId?: string;
}

export class SessionHandle<Tools = BuiltInTools> {
  readonly facts: SessionFacts;
  readonly #transport: Transport;

  constructor(transport: Transport, facts: SessionFacts) {
    this.#transport = transport;
    this.facts = facts;
  }

  get id(): string {
    return this.facts.id;
  }

  get #workflow() {
    return this.#transport.client.workflow.getHandle(sessionWorkflowId(this.id));
  }

  /**
   * Runs one call and gives its outcome. Resolves also for outcomes other than `completed`; a call that needs someone
   * is waited for: use {@link start} to hear of that.
   */
  async call<Name extends keyof Tools & string>(
    tool: Name,
    args: ArgumentsOf<Tools, Name>,
    options?: CallOptions,
  ): Promise<Outcome> {
    const call = await this.start(tool, args, options);
    return call.outcome();
  }

  /**
   * Starts a call, or attaches to the call of that id when its content is the same.
   * @throws CountersignError `invalid_id`, `arguments_too_large`, `call_id_reused`, `no_service`
   */
  start<Name extends keyof Tools & string>(
    tool: Name,
    args: ArgumentsOf<Tools, Name>,
    options?: CallOptions,
  ): Promise<CallHandle> {
    return this.startUntyped(tool, args as JsonObject, options);
  }

  /** {@link start} for a tool whose name or arguments are only known at run time, as a model wrote them. */
  async startUntyped(tool: string, args: unknown, { callId = randomUUID() }: CallOptions = {}): Promise<CallHandle> {
    const input = checkInput(tool, args, callId);
    const name = { session: this.id, callId };
    const call = new CallHandle(this.#transport, name);
    const { client, taskQueue, eager } = this.#transport;
    try {
      await reach(() =>
        client.workflow.start(WORKFLOW.call, {
          workflowId: callWorkflowId(name),
          taskQueue,
          args: [input],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
          requestEagerStart: eager,
          // Between agents the engine's own fairness does the sharing.
          priority: { fairnessKey: this.facts.agent.slice(0, 64) },
          staticSummary: callSummary(tool, input.arguments),
          searchAttributes: {
            [SEARCH_ATTRIBUTE.session]: [this.id],
            [SEARCH_ATTRIBUTE.agent]: [this.facts.agent],
            [SEARCH_ATTRIBUTE.tool]: [tool],
          },
        }),
      );
      return call;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return this.#attach(call, input);
    }
  }

  /** What would become of a call, by the worker's rules of now, without running it. */
  async explain(tool: string, args: unknown): Promise<Explanation> {
    const input = checkInput(tool, args, 'explain');
    const { client, taskQueue, eager } = this.#transport;
    return reach(() =>
      client.workflow.execute<(call: CallInput & { session: string }) => Promise<Explanation>>(WORKFLOW.explain, {
        workflowId: `explain/${this.id}/${randomUUID()}`,
        taskQueue,
        args: [{ session: this.id, ...input }],
        requestEagerStart: eager,
        workflowExecutionTimeout: '30s',
        staticSummary: `explain ${callSummary(tool, input.arguments)}`,
      }),
    );
  }

  /** A call of this session that was started before. */
  callHandle(callId: string): CallHandle {
    return new CallHandle(this.#transport, { session: this.id, callId });
  }

  /**
   * Opens a child session: a `branch` (has this session's tools, asks through it) or a `worker` (reads only).
   * @throws CountersignError `session_limit`, `session_exists`, `untrusted_workspace`, `undeclared`
   */
  async branch(child: Partial<ChildRequest> = {}): Promise<SessionHandle<Tools>> {
    const request: ChildRequest = { ...child, id: child.id ?? randomUUID(), kind: child.kind ?? 'branch' };
    const answer = await this.#update<ChildAnswer>(SESSION_MESSAGE.openChild, request);
    if (!answer.opened) throw new CountersignError(answer.code, answer.message);
    const opened = new SessionHandle<Tools>(this.#transport, answer.facts);
    await opened.admitted();
    return opened;
  }

  /** Waits until a worker has admitted the session. */
  async admitted(): Promise<void> {
    const answer = await this.#update<OpenedAnswer>(SESSION_MESSAGE.opened);
    if (!answer.opened) throw new CountersignError(answer.code, answer.message);
  }

  /** State, children, how many requests wait, and what the session was told. */
  async view(): Promise<SessionView> {
    const view = await reach(() => this.#workflow.query(SESSION_MESSAGE.view));
    return readSessionView(view, { facts: this.facts, state: 'open' });
  }

  /** Ends the session: waiting calls are denied, running ones cancelled, children closed. Resolves when all that is done. */
  async close(reason = 'closed by its owner'): Promise<SessionClosed> {
    try {
      await this.#update<{ state: SessionState }>(SESSION_MESSAGE.close, reason);
    } catch (error) {
      if (!(error instanceof CountersignError && error.code === 'session_closed')) throw error;
    }
    try {
      return readSessionClosed(await reach(() => this.#workflow.result()));
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { reason: error.cause?.message ?? error.message, callsEnded: 0, callsLeft: 0, childrenLeft: [] };
    }
  }

  async #update<Answer>(name: string, argument?: unknown): Promise<Answer> {
    try {
      return await updateSession<Answer>(this.#transport.client, this.id, name, argument);
    } catch (error) {
      if (isGone(error)) throw new CountersignError('session_closed', `Session ${this.id} is closed; open another.`);
      throw fromFailure(error);
    }
  }

  async #attach(call: CallHandle, input: CallInput): Promise<CallHandle> {
    const before = await call.input();
    if (callContent(before.tool, before.arguments) === callContent(input.tool, input.arguments)) return call;
    throw new CountersignError(
      'call_id_reused',
      `Call id ${call.callId} was used in session ${this.id} for another call (${before.tool}). Take a new id.`,
    );
  }
}

/** Form only; tools and policy judge the rest, where they run. */
function checkInput(tool: unknown, args: unknown, callId: unknown): CallInput {
  if (!isCallId(callId)) {
    throw new CountersignError(
      'invalid_id',
      `A call id is 1 to 128 of A-Z a-z 0-9 . _ -, not ${JSON.stringify(String(callId).slice(0, 140))}.`,
    );
  }
  if (typeof tool !== 'string' || tool.length === 0 || tool.length > 200) {
    throw new CountersignError('unknown_tool', 'A tool name has 1 to 200 characters. List them: countersign tools');
  }
  if (!isJsonObject(args))
    throw new CountersignError('invalid_arguments', 'Arguments are a JSON object.', { field: '' });
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > LIMITS.argumentBytes) {
    const message = `The arguments take ${bytes} bytes; ${LIMITS.argumentBytes} is the limit. Write large content in parts.`;
    throw new CountersignError('arguments_too_large', message);
  }
  return { tool, arguments: args };
}
