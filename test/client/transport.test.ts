/** Updates that the server lost on their way. The server does so only by chance, under load: it stands in here. */
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { sendUpdate } from '../../src/client/transport.ts';

/** A workflow that fails as told, once for each failure, and then answers; with the ids of the updates that came. */
function workflow(...failures: ApplicationFailure[]): { handle: WorkflowHandle; ids: unknown[] } {
  const ids: unknown[] = [];
  const executeUpdate = async (_name: string, { updateId }: { updateId: string }): Promise<string> => {
    ids.push(updateId);
    const failure = failures.shift();
    if (failure) throw new WorkflowUpdateFailedError('Workflow Update failed', failure);
    return 'answered';
  };
  return { handle: { executeUpdate } as unknown as WorkflowHandle, ids };
}

const lost = (): ApplicationFailure => ApplicationFailure.create({ type: 'UnprocessedUpdate', nonRetryable: true });

test('an update that its workflow never saw is sent again, as the same update', async () => {
  const { handle, ids } = workflow(lost(), lost());
  expect(await sendUpdate(handle, 'decide', {}, { updateId: 'one' })).toBe('answered');
  expect(ids).toEqual(['one', 'one', 'one']);
});

test('one that its workflow refused is not', async () => {
  const { handle, ids } = workflow(ApplicationFailure.create({ type: 'invalid_usage', nonRetryable: true }));
  await expect(sendUpdate(handle, 'decide', {})).rejects.toThrow('Workflow Update failed');
  expect(ids).toHaveLength(1);
});
