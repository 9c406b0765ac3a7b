/** Who calls: read from what Temporal tells the activity, never from what the workflow says. */
import { activityInfo } from '@temporalio/activity';
import { CountersignError } from '../protocol/errors.ts';
import { type CallName, parseCallWorkflowId } from '../protocol/ids.ts';
import { WORKFLOW } from '../protocol/names.ts';

export interface Caller extends CallName {
  runId: string;
}

/** Throws `not_a_call` for any workflow but a call's. */
export function caller(): Caller {
  const { workflowExecution, workflowType } = activityInfo();
  const name = workflowExecution && parseCallWorkflowId(workflowExecution.workflowId);
  if (!name || workflowType !== WORKFLOW.call) {
    throw new CountersignError('not_a_call', 'Only a call named call/<session>/<call id> runs tools.');
  }
  return { ...name, runId: workflowExecution.runId };
}
