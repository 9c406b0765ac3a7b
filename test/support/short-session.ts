/** Sessions that continue as new long before Temporal would suggest it. */
import type { SessionHandle } from '../../src/client/index.ts';
import type { SessionFacts } from '../../src/protocol/session.ts';
import type { TestService } from './worker.ts';

/** Opens a main session that continues as new after so many events, as do its children. */
export async function openShort(
  { countersign, worker, workspace }: Pick<TestService, 'countersign' | 'worker' | 'workspace'>,
  id: string,
  continueAfterEvents: number,
): Promise<SessionHandle<Record<string, unknown>>> {
  const facts: SessionFacts = {
    id,
    kind: 'main',
    main: id,
    depth: 0,
    workspace,
    agent: 'default',
    channel: 'inbox',
  };
  await countersign.temporal.workflow.start('session', {
    workflowId: `session/${id}`,
    taskQueue: worker.taskQueue,
    args: [{ continueAfterEvents }],
    memo: { countersignSession: facts },
  });
  return countersign.openSession({ id, workspace });
}
