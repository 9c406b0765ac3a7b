/** Changes of the configuration, from the history of the control workflow. */
import type { Client } from '@temporalio/client';
import { CONFIG_CHANGED, type ConfigRecord, isConfigRecord } from '../protocol/config-change.ts';
import { CONTROL_WORKFLOW_ID } from '../protocol/control.ts';
import { type HistoryEvent, readHistory, valueOf } from './history.ts';
import { listed } from './listed.ts';
import { reach } from './transport.ts';

/**
 * Newest first, `limit` at most. The workflow's runs are read one after the other, no more of them than needed; what is older than the
 * namespace's retention is gone.
 * @throws CountersignError `no_service`
 */
export async function configLog(client: Client, limit: number): Promise<ConfigRecord[]> {
  const found: ConfigRecord[] = [];
  await reach(async () => {
    for await (const events of runs(client)) {
      found.push(...recordsIn(events).toReversed());
      if (found.length >= limit) return;
    }
  });
  return found.slice(0, limit);
}

/** Every run there was, newest first, whether the next one continued it or took its place: a halt that it did not take puts it aside. */
async function* runs(client: Client): AsyncGenerator<HistoryEvent[], void, undefined> {
  const latest = await readHistory(client, CONTROL_WORKFLOW_ID);
  yield latest;
  // Listings follow a moment later.
  const known = latest[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  for await (const { runId } of listed(client, `WorkflowId="${CONTROL_WORKFLOW_ID}"`))
    if (runId !== known) yield await readHistory(client, CONTROL_WORKFLOW_ID, runId);
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
