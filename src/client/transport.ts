/** The client's connection, and the one place where Temporal's errors become ours. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { CountersignError, type ErrorCode, ERRORS, isCountersignError } from '../protocol/errors.ts';
import { hasGrpcStatus } from '../protocol/grpc.ts';
import { sessionWorkflowId } from '../protocol/ids.ts';
import { SESSION_MOVES } from '../protocol/names.ts';
import { described } from './listed.ts';

export interface Transport {
  client: Client;
  taskQueue: string;
  /** True where client and worker share a process and a connection. */
  eager: boolean;
  uiUrl?: string;
}

/** Runs a request; a server that cannot be reached is `no_service`. */
export async function reach<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw unreachable(error) ?? error;
  }
}

export function unreachable(error: unknown): CountersignError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const nobody = hasGrpcStatus(at, 'deadlineExceeded', 'unavailable');
    if (nobody || at instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      const message =
        'The Temporal server does not answer. Start the service (countersign start) or check TEMPORAL_ADDRESS; ' +
        'calls that were started go on when it is back.';
      return new CountersignError('no_service', message, { cause: error });
    }
  }
  return undefined;
}

export const isGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;

/** The code that a workflow of ours failed with, as an error of ours. */
export function fromFailure(error: unknown): unknown {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : error;
  for (let at: unknown = cause; at instanceof Error; at = at.cause) {
    if (isCountersignError(at)) return at;
    if (at instanceof ApplicationFailure && at.type != null && Object.hasOwn(ERRORS, at.type)) {
      return new CountersignError(at.type as ErrorCode, at.message, { cause: error });
    }
  }
  return unreachable(error) ?? error;
}

/** Of an update that its run could not take. */
const RETRIED = ['notFound', 'resourceExhausted', 'failedPrecondition', 'aborted'] as const;
/** Long enough for a worker that was lost to be replaced: what it had under way counts as under way until then. */
const RETRIED_FOR_MS = 15_000;
const RETRY_MS = 100;

/** Types of failure that say that an update was not taken: by the server, that it never reached its workflow; by a session, that it continues as new. */
const UNTAKEN: ReadonlySet<string> = new Set(['UnprocessedUpdate', SESSION_MOVES]);

const NOT_TAKEN =
  'Temporal takes this message and no worker takes it from there. Look whether one runs (countersign doctor), and send it again: repeats are harmless.';

export interface UpdateOptions {
  /** Updates of one id are one update, within a run. */
  updateId?: string;
  /** Which errors mean that it may be sent again, apart from those that say that the workflow never saw it. */
  again?: (error: unknown) => Promise<boolean>;
}

/**
 * Sends an update until it is taken. One that the workflow never saw is sent again: a busy server gives out a workflow task twice now and
 * then, the second time with updates that came meanwhile; the worker, which has that task already, drops them, and the server refuses
 * them for good. Each sending has the same id, so that the server knows a repeat.
 * @throws CountersignError `no_service` when it was sent again and again and never taken
 */
export async function untilTaken<Answer>(
  send: (updateId: string) => Promise<Answer>,
  { updateId = randomUUID(), again = () => Promise.resolve(false) }: UpdateOptions = {},
): Promise<Answer> {
  for (const until = Date.now() + RETRIED_FOR_MS; ; await sleep(RETRY_MS)) {
    try {
      return await send(updateId);
    } catch (error) {
      if (!isUntaken(error) && !(await again(error))) throw error;
      if (Date.now() > until) throw new CountersignError('no_service', NOT_TAKEN, { cause: error });
    }
  }
}

/** An update of a workflow that is there, sent {@link untilTaken}; `argument` is left out where it is undefined. */
export const sendUpdate = <Answer>(
  workflow: WorkflowHandle,
  name: string,
  argument: unknown,
  options: UpdateOptions = {},
): Promise<Answer> =>
  untilTaken(
    (updateId) =>
      reach(() =>
        argument === undefined
          ? workflow.executeUpdate<Answer, []>(name, { updateId })
          : workflow.executeUpdate<Answer, [unknown]>(name, { args: [argument], updateId }),
      ),
    options,
  );

/**
 * An update of a session. A session continues as new now and then, and has so many updates under way at a time: what met such a moment
 * is sent again while the session is open, which is harmless, for sessions answer repeats as such.
 */
export async function updateSession<Answer>(
  client: Client,
  session: string,
  name: string,
  argument?: unknown,
): Promise<Answer> {
  const workflow = client.workflow.getHandle(sessionWorkflowId(session));
  const again = async (error: unknown): Promise<boolean> =>
    (isGone(error) || hasGrpcStatus(error, ...RETRIED)) && (await isOpen(client, workflow.workflowId));
  return sendUpdate<Answer>(workflow, name, argument, { again });
}

const isUntaken = (error: unknown): boolean =>
  error instanceof WorkflowUpdateFailedError &&
  error.cause instanceof ApplicationFailure &&
  UNTAKEN.has(error.cause.type ?? '');

async function isOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    return (await described(client, workflowId))?.status.name === 'RUNNING';
  } catch {
    return false;
  }
}
