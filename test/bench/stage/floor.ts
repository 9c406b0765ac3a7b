/** The floor: workflows that do nothing of ours, with a worker whose options and bundler are the product's own. */
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { bundleWorkflows } from '../../../src/server/workflow-bundle.ts';
import { WORKER_SETTINGS } from '../../../src/server/worker.ts';
import { FLOOR_QUEUE, type FloorWorkflow, runFloor } from './floor-client.ts';

export interface Floor extends AsyncDisposable {
  client: Client;
  /** Returns the workflow's id. */
  run(workflow: FloorWorkflow): Promise<string>;
}

let bundle: Promise<string> | undefined;

/** A worker on that connection, for as long as the floor is not disposed of. */
export async function openFloor(connection: NativeConnection, namespace = 'default'): Promise<Floor> {
  bundle ??= bundleWorkflows(join(import.meta.dirname, 'floor-workflows.ts'));
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: FLOOR_QUEUE,
    workflowBundle: { code: await bundle },
    activities: { nothing: async () => undefined },
    ...WORKER_SETTINGS,
  });
  const work = worker.run();
  const client = new Client({ connection, namespace });
  return {
    client,
    run: (workflow) => runFloor(client, workflow, { eager: true }),
    [Symbol.asyncDispose]: async () => {
      worker.shutdown();
      await work;
    },
  };
}
