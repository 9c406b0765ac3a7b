/** Temporal's own history of a call or session, decoded as far as stories need it. */
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { hasGrpcStatus } from '../protocol/grpc.ts';
import { oneValue } from './payload.ts';
import { isGone, reach } from './transport.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
/** One event, in protobuf's form: exactly one of its `…Attributes` is set. */
export type HistoryEvent = NonNullable<NonNullable<History['events']>[number]>;

interface Payloads {
  payloads?: Payload[] | null;
}

/** Events of one run, the latest unless `runId` says which; empty where there is no such workflow. */
export async function readHistory(client: Client, workflowId: string, runId?: string): Promise<HistoryEvent[]> {
  try {
    return (await reach(() => client.workflow.getHandle(workflowId, runId).fetchHistory())).events ?? [];
  } catch (error) {
    // Histories are read past the client's own mapping of errors.
    if (isGone(error) || hasGrpcStatus(error, 'notFound')) return [];
    throw error;
  }
}

/** Events of all runs of a workflow that continues as new, oldest run first. */
export async function readRuns(client: Client, workflowId: string): Promise<HistoryEvent[]> {
  const runs: HistoryEvent[][] = [];
  let runId: string | undefined;
  do {
    const events = await readHistory(client, workflowId, runId);
    runs.unshift(events);
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return runs.flat();
}

/**
 * The value at a place of a payload list; undefined where there is none, or none that can be read. Who sends a message, or has a worker
 * of their own, writes what they like: what others may have written is read by src/protocol/forms.ts before anything relies on its type.
 */
export const valueOf = <T>(payloads: Payloads | null | undefined, index = 0): T | undefined =>
  oneValue(payloads?.payloads?.[index]);

/** What kind of event it is, as `activityTaskScheduled`. */
export const eventName = (event: HistoryEvent): string =>
  Object.keys(event)
    .find((name) => name.endsWith(ATTRIBUTES))
    ?.slice(0, -ATTRIBUTES.length) ?? 'event';

const ATTRIBUTES = 'EventAttributes';

/** Milliseconds since the epoch. */
export const timeOf = (event: HistoryEvent): number => optionalTsToMs(event.eventTime) ?? 0;

export const summaryOf = (event: HistoryEvent): string | undefined => oneValue<string>(event.userMetadata?.summary);

/** What a local activity's marker records: which one it was, when it ran, and what it returned. */
export interface LocalActivity {
  activity: string;
  startedAt: number;
  endedAt: number;
  result: unknown;
  /** Why it failed, where it did. */
  failure?: string;
}

/** Set by the SDK's core; the marker of another kind gives undefined. */
const LOCAL_ACTIVITY = 'core_local_activity';

/** In the marker's own JSON times are plain numbers, not protobuf's. */
interface MarkerTime {
  seconds: number;
  nanos: number;
}

interface MarkerData {
  activity_type?: string;
  complete_time?: MarkerTime | null;
  original_schedule_time?: MarkerTime | null;
}

export function localActivityOf(event: HistoryEvent): LocalActivity | undefined {
  const marker = event.markerRecordedEventAttributes;
  if (marker?.markerName !== LOCAL_ACTIVITY) return undefined;
  const data = valueOf<MarkerData>(marker.details?.['data']) ?? {};
  const endedAt = milliseconds(data.complete_time) ?? timeOf(event);
  const failure = marker.failure?.cause?.message ?? marker.failure?.message;
  return {
    activity: data.activity_type ?? '',
    startedAt: milliseconds(data.original_schedule_time) ?? endedAt,
    endedAt,
    result: valueOf(marker.details?.['result']),
    ...(failure != null && { failure }),
  };
}

const milliseconds = (time: MarkerTime | null | undefined): number | undefined =>
  time ? time.seconds * 1_000 + Math.floor(time.nanos / 1_000_000) : undefined;
