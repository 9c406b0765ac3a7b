/**
 * Whether all workers of a namespace share one state folder. Where they do not, a `once` call can run twice after a reset, so each worker
 * says in its identity which folder it has, and who looks at the task queue sees all that poll it.
 */
import { hostname } from 'node:os';
import type { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { stateId } from '../context/index.ts';

/** What the worker of this process is called in Temporal: `1234@host state:0123456789ab`. */
export const workerIdentity = (state: string): string => `${process.pid}@${hostname()} state:${state}`;

/** A poll takes a minute at most; who has not polled for longer is gone. */
const POLLED_WITHIN_MS = 90_000;
/** From temporal.api.enums.v1.TaskQueueType. */
const WORKFLOW_TASKS = 1;

/** Names of the state folders of the workers that poll a task queue now, each once. */
export async function statesOfWorkers(
  service: Connection['workflowService'],
  namespace: string,
  taskQueue: string,
): Promise<string[]> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  const since = Date.now() - POLLED_WITHIN_MS;
  const alive = pollers.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > since);
  return [...new Set(alive.flatMap(({ identity }) => / state:([0-9a-f]{12})$/.exec(identity ?? '')?.[1] ?? []))];
}

/** What is wrong, and what to do. */
export const STATE_NOT_SHARED =
  'Workers of this namespace have different state folders: a call that may run only once can run twice. Let them share one, or stop all but one.';

const EVERY_MS = 60_000;

export interface WatchedWorker {
  client: Client;
  taskQueue: string;
  stateDir: string;
  log: Logger;
  everyMs?: number;
}

/** Says loudly, once a minute, that another worker has another state folder. Returns how to stop. */
export function watchSharedState({ client, taskQueue, stateDir, log, everyMs = EVERY_MS }: WatchedWorker): () => void {
  const look = async (): Promise<void> => {
    const own = await stateId(stateDir);
    const all = await statesOfWorkers(client.workflowService, client.options.namespace, taskQueue);
    const others = all.filter((id) => id !== own);
    if (others.length > 0) log.error({ stateDir, own, others }, STATE_NOT_SHARED);
  };
  // What cannot be looked at now is looked at again; a server that is away says so elsewhere.
  const timer = setInterval(() => void look().catch(() => undefined), everyMs).unref();
  void look().catch(() => undefined);
  return () => clearInterval(timer);
}
