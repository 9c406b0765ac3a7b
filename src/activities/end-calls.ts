/** Ends the calls of a closing session: those that wait are denied, those that run are cancelled, each by its own workflow. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { forEachAtMost } from '../common/at-most.ts';
import { listed } from '../client/listed.ts';
import { CountersignError } from '../protocol/errors.ts';
import { isSessionId } from '../protocol/ids.ts';
import { CALL_MESSAGE, SEARCH_ATTRIBUTE, WORKFLOW } from '../protocol/names.ts';
import type { Dependencies } from './dependencies.ts';

const AT_ONCE = 20;

/** Returns how many calls were told. */
export async function endCalls({ client }: Pick<Dependencies, 'client'>, session: string): Promise<number> {
  if (!isSessionId(session)) throw new CountersignError('invalid_id', 'not a session id');
  const query = `${SEARCH_ATTRIBUTE.session}="${session}" AND WorkflowType="${WORKFLOW.call}" AND ExecutionStatus="Running"`;
  let told = 0;
  await forEachAtMost(listed(client, query), AT_ONCE, async ({ workflowId, runId }) => {
    await tell(client, workflowId, runId);
    told += 1;
  });
  return told;
}

async function tell(client: Dependencies['client'], workflowId: string, runId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId, runId).signal(CALL_MESSAGE.sessionClosing);
  } catch (error) {
    // Ended between the listing and now: all that was wanted.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
