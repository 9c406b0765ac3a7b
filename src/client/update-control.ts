/** An update of the namespace's one control workflow, which is started where there is none. */
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { CONTROL_WORKFLOW_ID } from '../protocol/control.ts';
import { WORKFLOW } from '../protocol/names.ts';
import { untilTaken } from './transport.ts';

/**
 * Sent again where the server lost it, which is harmless: the workflow records a repeat as what it is.
 * Throws what Temporal's client throws; who calls says what it means.
 * @throws CountersignError `no_service` when it was never taken
 */
export function updateControl<Answer>(
  client: Client,
  taskQueue: string,
  name: string,
  argument: unknown,
): Promise<Answer> {
  // An operation starts one workflow at most: each sending has its own.
  return untilTaken((updateId) =>
    client.workflow.executeUpdateWithStart<never, Answer, [unknown]>(name, {
      startWorkflowOperation: startControl(taskQueue) as never,
      args: [argument],
      updateId,
    }),
  );
}

/** How it is started, by whomever. */
export const controlOptions = (taskQueue: string) => ({
  workflowId: CONTROL_WORKFLOW_ID,
  taskQueue,
  staticSummary: 'emergency stop, changes of the configuration',
});

const startControl = (taskQueue: string) =>
  new WithStartWorkflowOperation<() => Promise<never>>(WORKFLOW.control, {
    ...controlOptions(taskQueue),
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
