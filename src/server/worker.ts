/** The composition root: configuration, tools, context and policy become a Temporal worker. */
import { Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../activities/index.ts';
import { watchHalt } from '../activities/halt-watch.ts';
import { createSessionReader } from '../activities/session-reader.ts';
import { createSlots } from '../activities/slots.ts';
import { type Config, callLimits, checkDeclared } from '../config/index.ts';
import { canonicalWorkspace, stateId, preparePipes } from '../context/index.ts';
import { type Rules, preparePolicy, toolOverLimit } from '../policy/index.ts';
import { CountersignError } from '../protocol/errors.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import type { SessionFacts } from '../protocol/session.ts';
import { type Catalogue, type Tool, createCatalogue } from '../tools/index.ts';
import { workerIdentity } from './shared-state.ts';
import { surroundings } from './surroundings.ts';
import { workflowBundle } from './workflow-bundle.ts';

export interface WorkerOptions {
  connection: NativeConnection;
  namespace: string;
  taskQueue?: string;
  /** The configuration of now; asked anew for every call. */
  settings(): { config: Config; rules: Rules };
  /** Folders whose subfolders sessions may work in; asked anew for every session. */
  trustedRoots(): Promise<string[]>;
  /** Countersign's own configuration, state and keys. */
  protectedPaths: readonly string[];
  stateDir: string;
  /** The built-in tools unless given. */
  tools?: readonly Tool[];
  /** Workflows kept in memory; others are replayed when they go on. */
  maxCachedWorkflows?: number;
  log: Logger;
  /** Of the Temporal UI, for links in what people are told. */
  uiUrl?: string;
}

/** A worker with its client; give it to `Countersign.connect({ worker })` to start calls eagerly. */
export interface CountersignWorker {
  client: Client;
  taskQueue: string;
  /** Resolves when the worker has stopped; rejects when it fails. */
  run(): Promise<void>;
  /** Lets running tools go on for the grace time, then cancels them. */
  shutdown(): void;
}

/** What every worker of ours runs with; the benchmark's floor, too. */
export const WORKER_SETTINGS = {
  // Also bounds memory: a cached workflow takes about 160 KB, a third of it in the SDK, and one that was put away a replay of some 10 ms.
  maxCachedWorkflows: 300,
  // Cancellation reaches a tool with its next heartbeat; at the default throttle that took 6.6 s.
  maxHeartbeatThrottleInterval: '500ms',
  // One agent has `limits.running` and `limits.queued` calls in a worker, 110 unless configured; the SDK's own 100 would let it fill the worker.
  maxConcurrentActivityTaskExecutions: 1_000,
  // After a crash, the first message to a workflow that the lost worker had cached waits this long; at the default, 10 s.
  stickyQueueScheduleToStartTimeout: '3s',
  shutdownGraceTime: '3s',
  shutdownForceTime: '15s',
} as const;

const NO_SECOND_PARSER =
  'the second shell parser does not start, so no command is known to be harmless: what would run outside of the sandbox asks. Install the dependencies again (`npm ci`); `countersign doctor` looks';

export async function createWorker(options: WorkerOptions): Promise<CountersignWorker> {
  const { connection, namespace, taskQueue = TASK_QUEUE, log } = options;
  const client = new Client({ connection, namespace });
  // Ends the watch where the worker cannot be made; later, the worker's end does.
  using made = new DisposableStack();
  const halt = made.use(await watchHalt({ client, settings: options.settings, stateDir: options.stateDir, log }));
  const catalogue = createCatalogue(options.tools);
  checkTools(catalogue, options.settings().config);
  await preparePolicy(() => log.error(NO_SECOND_PARSER));
  // In the background: what the first command would wait for.
  void preparePipes();
  const activities = createActivities({
    client,
    catalogue,
    sessions: createSessionReader(client, (facts) => admit(options, facts)),
    settings: options.settings,
    surroundings: await surroundings(options.settings, options.protectedPaths),
    halted: halt.halted,
    slots: createSlots((agent) => callLimits(options.settings().config, agent)),
    stateDir: options.stateDir,
    protectedPaths: options.protectedPaths,
    log,
    ...(options.uiUrl !== undefined && { uiUrl: options.uiUrl }),
  });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities,
    identity: workerIdentity(await stateId(options.stateDir)),
    ...WORKER_SETTINGS,
    ...(options.maxCachedWorkflows !== undefined && { maxCachedWorkflows: options.maxCachedWorkflows }),
  });
  const kept = made.move();
  const run = (): Promise<void> => worker.run().finally(() => kept.dispose());
  return { client, taskQueue, run, shutdown: () => stop(worker) };
}

function stop(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/** A tool whose schema is past the limits is refused at the start, not when a model first calls it. */
function checkTools(catalogue: Catalogue, { limits }: Config): void {
  for (const name of catalogue.names()) {
    const problem = toolOverLimit(name, catalogue.get(name)?.parameters ?? {}, limits);
    if (problem) throw new CountersignError('invalid_config', problem.message, { field: problem.field });
  }
}

/** Believes a session as far as this worker's configuration allows. */
async function admit({ settings, trustedRoots, protectedPaths }: WorkerOptions, facts: SessionFacts): Promise<void> {
  checkDeclared(settings().config, facts);
  const canonical = await canonicalWorkspace(facts.workspace, await trustedRoots(), protectedPaths);
  if (canonical !== facts.workspace) {
    throw new CountersignError('untrusted_workspace', `A session's workspace is given as its real path: ${canonical}`);
  }
}
