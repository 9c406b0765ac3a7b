/** Asks a worker, whose configuration counts, what would become of a call. Nothing runs. */
import { ApplicationFailure, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { CallInput } from '../protocol/call.ts';
import { isCallInput } from '../protocol/forms.ts';
import { isSessionId } from '../protocol/ids.ts';
import type { Explanation } from '../protocol/outcome.ts';

const { explainInSession } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 3 },
});

export async function explain(input: CallInput & { session: string }): Promise<Explanation> {
  if (isCallInput(input) && isSessionId(input.session)) return explainInSession(input);
  throw ApplicationFailure.nonRetryable('A call to explain has session, tool and arguments.', 'invalid_usage');
}
