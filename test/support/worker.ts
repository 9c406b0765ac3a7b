/** A worker for tests on the shared Temporal server, with a task queue, a state folder and a workspace of its own. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { Countersign } from '../../src/client/index.ts';
import { parseConfig } from '../../src/config/index.ts';

import type { Notification } from '../../src/protocol/approval.ts';
import { createWorker, type CountersignWorker } from '../../src/server/worker.ts';
import { type Tool, builtInTools } from '../../src/tools/index.ts';
import { probeTools } from './probe-tools.ts';

export interface TestService extends AsyncDisposable {
  countersign: Countersign<Record<string, unknown>>;
  worker: CountersignWorker;
  /** Real path of a folder that sessions may work in. */
  workspace: string;
  /** A file outside of the workspace, for probes' marks. */
  log: string;
  stateDir: string;
  folder: string;
  /** What the log was told of requests for approval. */
  told: Notification[];
  /** Replaces the configuration from the next call on. */
  configure(text: string): void;
}

export interface TestServiceOptions {
  address: string;
  taskQueue: string;
  /** Text of the configuration file. */
  config?: string;
  /** Tools besides the built-in ones and the probes. */
  tools?: readonly Tool[];
  /** A folder of an earlier service, to go on with its state; it is then left in place at the end. */
  folder?: string;
}

let installed = false;

/** Dependencies' logs would drown a test's own output. */
function installRuntime(): void {
  if (installed) return;
  installed = true;
  const nothing = (): void => undefined;
  const logger = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  Runtime.install({ logger, shutdownSignals: [] });
}

/** The log notifier's lines are the ones that name a kind of notification. */
function hear(told: Notification[], line: string): void {
  const { kind, role, channel, session, callId } = JSON.parse(line) as Record<string, string>;
  if (kind === undefined || channel === undefined) return;
  const request = { session, callId } as Notification['request'];
  told.push({ channel, request, kind: kind as Notification['kind'], ...(role !== undefined && { role }) });
}

export async function testFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-e2e-')));
  await mkdir(join(folder, 'workspace'));
  await mkdir(join(folder, 'state'));
  return folder;
}

export async function startTestService(options: TestServiceOptions): Promise<TestService> {
  installRuntime();

  const tools = [...builtInTools, ...probeTools, ...(options.tools ?? [])];
  const folder = options.folder ?? (await testFolder());
  const workspace = join(folder, 'workspace');
  const stateDir = join(folder, 'state');
  let loaded = parseConfig(options.config ?? '{}', 'test.jsonc', tools);
  const connection = await NativeConnection.connect({ address: options.address });
  const told: Notification[] = [];
  const worker = await createWorker({
    connection,
    namespace: 'default',
    taskQueue: options.taskQueue,
    settings: () => loaded,
    trustedRoots: async () => [workspace],
    protectedPaths: [],
    stateDir,
    tools,
    log: pino({ level: 'warn', base: null, timestamp: false }, { write: (line: string) => hear(told, line) }),
  }).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const work = worker.run();
  const countersign = await Countersign.connect<Record<string, unknown>>({ worker });
  return {
    countersign,
    worker,
    workspace,
    stateDir,
    folder,
    log: join(folder, 'marks'),
    told,
    configure: (text) => void (loaded = parseConfig(text, 'test.jsonc', tools)),
    [Symbol.asyncDispose]: async () => {
      worker.shutdown();
      await work;
      await connection.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
