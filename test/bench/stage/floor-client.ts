/** How the floor's workflows are run, from any process. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

export const FLOOR_QUEUE = 'bench-floor';

export type FloorWorkflow = 'bare' | 'oneActivity' | 'oneLocalActivity';

/** Returns the workflow's id. */
export async function runFloor(
  client: Client,
  workflow: FloorWorkflow,
  { eager }: { eager: boolean },
): Promise<string> {
  const workflowId = `floor/${workflow}/${randomUUID()}`;
  const handle = await client.workflow.start(workflow, {
    workflowId,
    taskQueue: FLOOR_QUEUE,
    args: [],
    requestEagerStart: eager,
  });
  await handle.result();
  return workflowId;
}
