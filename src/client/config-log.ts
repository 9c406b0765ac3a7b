/** Changes of the configuration, from the history of the control workflow. */
import type { Client } from '@temporalio/client';
import { CONFIG_CHANGED, type ConfigRecord, isConfigRecord } from '../protocol/config-change.ts';
import { CONTROL_WORKFLOW_ID } from '../protocol/control.ts';
import { type HistoryEvent, readHistory, valueOf } from './history.ts';

/**
 * Newest first, `limit` at most. The workflow continues as new, so its runs are read one after the other, no more of them than needed; what is
 * older than the namespace's retention is gone.
 * @throws CountersignError `no_service`
 */
export async function configLog(client: Client, limit: number): Promise<ConfigRecord[]> {
  const found: ConfigRecord[] = [];
  let runId: string | undefined;
  do {
    const events = await readHistory(client, CONTROL_WORKFLOW_ID, runId);
    found.push(...recordsIn(events).toReversed());
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined && found.length < limit);
  return found.slice(0, limit);
}

/** What the workflow answered to each report that it took, in the order of its history. */
export function recordsIn(events: readonly HistoryEvent[]): ConfigRecord[] {
  const reports = new Set<string>();
  return events.flatMap((event) => {
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (accepted?.acceptedRequest?.input?.name === CONFIG_CHANGED) reports.add(accepted.protocolInstanceId ?? '');
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    if (!reports.has(completed?.meta?.updateId ?? '')) return [];
    const record = valueOf(completed?.outcome?.success);
    return isConfigRecord(record) ? record : [];
  });
}
