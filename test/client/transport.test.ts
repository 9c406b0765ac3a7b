/** Updates that the server lost on their way. The server does so only by chance, under load: it stands in here. */
import { type Client, type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { Countersign } from '../../src/client/index.ts';
import { sendUpdate } from '../../src/client/transport.ts';
import { updateControl } from '../../src/client/update-control.ts';

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

/** A client whose server loses the first two updates with start; with the operations and ids that came. */
function forgetful(answer: unknown): { client: Client; sent: { operation: unknown; updateId: unknown }[] } {
  const sent: { operation: unknown; updateId: unknown }[] = [];
  const executeUpdateWithStart = async (
    _name: string,
    { startWorkflowOperation: operation, updateId }: { startWorkflowOperation: unknown; updateId: unknown },
  ): Promise<unknown> => {
    sent.push({ operation, updateId });
    if (sent.length < 3) throw new WorkflowUpdateFailedError('Workflow Update failed', lost());
    return answer;
  };
  return { client: { workflow: { executeUpdateWithStart } } as unknown as Client, sent };
}

/** An operation can be used once: Temporal's client refuses it a second time. */
function expectSameUpdate(sent: { operation: unknown; updateId: unknown }[]): void {
  expect(sent).toHaveLength(3);
  expect(sent[0]?.updateId).toEqual(expect.any(String));
  expect(new Set(sent.map(({ updateId }) => updateId)).size).toBe(1);
  expect(new Set(sent.map(({ operation }) => operation)).size).toBe(3);
}

test('an update of the control workflow that was lost is sent again', async () => {
  const { client, sent } = forgetful('halted');
  expect(await updateControl(client, 'queue', 'halt', {})).toBe('halted');
  expectSameUpdate(sent);
});

test('so is the one that opens a session', async () => {
  const facts = {
    id: 'lost',
    kind: 'main',
    main: 'lost',
    depth: 0,
    workspace: '/w',
    agent: 'default',
    channel: 'inbox',
  };
  const { client, sent } = forgetful({ opened: true, facts, limits: {} });
  const countersign = await Countersign.connect({ worker: { client, taskQueue: 'queue' } });
  expect((await countersign.openSession({ id: 'lost', workspace: '/w' })).id).toBe('lost');
  expectSameUpdate(sent);
});
