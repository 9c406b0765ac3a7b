/** Workflows of a stranger who may start workflows in the namespace and runs a worker of his own. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../../src/activities/index.ts';
import type { ExecuteInput } from '../../../src/protocol/call.ts';
import type { Execution } from '../../../src/protocol/outcome.ts';

const run = (victimQueue: string, input: ExecuteInput): Promise<Execution> =>
  proxyActivities<Activities>({
    taskQueue: victimQueue,
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
  }).executeTool(input);

/** Passes itself off as a call. */
export const toolCall = run;
export const somethingElse = run;
