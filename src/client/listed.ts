/** The server's listings, read page by page, and its descriptions. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { rethrowKnownErrorTypes } from '@temporalio/client/lib/helpers.js';
import type { Payload } from '@temporalio/common';
import { optionalTsToDate, requiredTsToDate } from '@temporalio/common/lib/time.js';
import { hasGrpcStatus } from '../protocol/grpc.ts';
import { oneValue } from './payload.ts';

/** One execution of a listing. What cannot be decoded is left out: anybody in the namespace writes what they like into one of their own. */
export interface Listed {
  workflowId: string;
  runId: string;
  /** Of the workflow. */
  type: string;
  /** The name is the SDK's, as `RUNNING`. */
  status: { name: string };
  startTime: Date;
  closeTime?: Date;
  memo: Record<string, unknown>;
  searchAttributes: Record<string, readonly unknown[]>;
}

/** As many as a server gives at once. */
const PAGE = 1_000;

/** By the numbers of the API's `WorkflowExecutionStatus`. */
const STATUS = [
  'UNSPECIFIED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'CONTINUED_AS_NEW',
  'TIMED_OUT',
  'PAUSED',
] as const;

type Page = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;
type Execution = Page['executions'][number];

/**
 * The executions that a query finds, newest first. The server takes longer for a page than its reader does, so the next is asked for while
 * one is read, unless the reader wants no more.
 * @param query in Temporal's language for listings
 * @param wanted how many the reader looks for; there may be more where some are not what it looks for
 * @throws ServiceError as the server's interface has it
 */
export async function* listed(
  { workflowService, options: { namespace } }: Client,
  query: string,
  { wanted = Infinity }: { wanted?: number } = {},
): AsyncGenerator<Listed, void, undefined> {
  const pageSize = Math.min(wanted, PAGE);
  const ask = (nextPageToken: Uint8Array): Promise<Page> =>
    workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken });
  let token: Uint8Array = new Uint8Array();
  let coming: Promise<Page> | undefined;
  let read = 0;
  do {
    const { executions, nextPageToken } = await (coming ?? ask(token));
    token = nextPageToken;
    read += executions.length;
    coming = token.length > 0 && read < wanted ? ask(token) : undefined;
    // Its failure is told to who asks for the page, and to nobody where the reader has stopped.
    coming?.catch(() => undefined);
    for (const execution of executions) yield fromRaw(execution);
  } while (token.length > 0);
}

type Description = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;

/** One execution in more detail. */
export interface Described extends Listed {
  /** Workflow id of what started it. */
  parentId?: string;
  /** As it was started with; of whoever started it. */
  summary?: string;
  /** What runs of it at this moment. */
  activities: Description['pendingActivities'];
}

/**
 * One workflow. Temporal's own client refuses a description as a whole where one field of a memo cannot be decoded. Undefined where there
 * is no such workflow.
 * @param runId the latest run unless given
 * @throws ServiceError as the server's interface has it; NamespaceNotFoundError
 */
export async function described(client: Client, workflowId: string, runId = ''): Promise<Described | undefined> {
  const raw = await asked(client, workflowId, runId);
  if (!raw?.workflowExecutionInfo) return undefined;
  const { workflowExecutionInfo: info, executionConfig, pendingActivities: activities } = raw;
  const parentId = info.parentExecution?.workflowId;
  const summary = oneValue(executionConfig?.userMetadata?.summary);
  return {
    ...fromRaw(info),
    ...(parentId && { parentId }),
    ...(typeof summary === 'string' && { summary }),
    activities,
  };
}

async function asked(
  { workflowService, options: { namespace } }: Client,
  workflowId: string,
  runId: string,
): Promise<Description | undefined> {
  try {
    return await workflowService.describeWorkflowExecution({ namespace, execution: { workflowId, runId } });
  } catch (error) {
    // A namespace that is missing has the same status.
    if (isGrpcServiceError(error)) rethrowKnownErrorTypes(error);
    if (hasGrpcStatus(error, 'notFound')) return undefined;
    throw error;
  }
}

function fromRaw(execution: Execution): Listed {
  const { execution: name, type, status, startTime, closeTime, memo, searchAttributes } = execution;
  const ended = optionalTsToDate(closeTime);
  return {
    workflowId: name?.workflowId ?? '',
    runId: name?.runId ?? '',
    type: type?.name ?? '',
    status: { name: STATUS[status ?? 0] ?? 'UNKNOWN' },
    startTime: requiredTsToDate(startTime, 'startTime'),
    ...(ended && { closeTime: ended }),
    memo: decoded(memo?.fields),
    searchAttributes: mapValues(decoded(searchAttributes?.indexedFields), (value) =>
      Array.isArray(value) ? value : [value],
    ),
  };
}

function decoded(payloads: Record<string, Payload> | null | undefined): Record<string, unknown> {
  const values = Object.entries(payloads ?? {}).map(([name, payload]) => [name, oneValue(payload)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

const mapValues = <From, To>(record: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
