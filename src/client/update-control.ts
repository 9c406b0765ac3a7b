/** An update of the namespace's one control workflow, which is started where there is none. */
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { CONTROL_WORKFLOW_ID } from '../protocol/control.ts';
import { WORKFLOW } from '../protocol/names.ts';

/** Throws what Temporal's client throws; who calls says what it means. */
export function updateControl<Answer>(
  client: Client,
  taskQueue: string,
  name: string,
  argument: unknown,
): Promise<Answer> {
  const startWorkflowOperation = new WithStartWorkflowOperation<() => Promise<never>>(WORKFLOW.control, {
    workflowId: CONTROL_WORKFLOW_ID,
    taskQueue,
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'emergency stop, changes of the configuration',
  });
  return client.workflow.executeUpdateWithStart<never, Answer, [unknown]>(name, {
    startWorkflowOperation: startWorkflowOperation as never,
    args: [argument],
  });
}
