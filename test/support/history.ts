/** What a workflow's history holds, by name. */
import type { Client } from '@temporalio/client';

/** `workflowExecutionStarted`, `workflowTaskScheduled`, … in order. */
export async function eventNames(client: Client, workflowId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map((event) => {
    const attributes = Object.entries(event).find(([key, value]) => key.endsWith('EventAttributes') && value != null);
    return attributes?.[0].replace('EventAttributes', '') ?? 'unknown';
  });
}
