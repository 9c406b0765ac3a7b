/**
 * The embedded Temporal server: a child process with a database file in our state folder, on the loopback address only.
 *
 * It outlives Ctrl-C (a process group of its own), so that the worker can drain first, and never outlives us.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { CountersignError, isCountersignError } from '../protocol/errors.ts';
import { SEARCH_ATTRIBUTE } from '../protocol/names.ts';
import { getTemporal, type Report } from './find-temporal.ts';
import { type Lock, tryLock } from './lock.ts';
import { processStart, waitUntilGone } from './processes.ts';
import { type ServiceInfo, announceService, announceStop, discoverService, withdrawService } from './service-file.ts';
import { inspectNamespace, isComplete, setupNamespace } from './setup.ts';

const HOST = '127.0.0.1';
/** Not Temporal's own 7233, so that a developer's other server is left alone. */
export const DEFAULT_PORT = 7733;
export const DEFAULT_UI_PORT = 8733;

const READY_MS = 60_000;
const STOP_MS = 10_000;
const MOST_TRIES = 3;
const LOG_BYTES = 10_000_000;

export interface TemporalOptions {
  /** Folder for the database, the log, the lock and service.json; made when missing. One service at a time uses it. */
  dataDir: string;
  /** `file` keeps everything between runs; `memory` is for tests. */
  database?: 'file' | 'memory';
  /** Port wished for; a free one is taken where that is in use. 0: any free one. */
  port?: number;
  uiPort?: number;
  ui?: boolean;
  namespace?: string;
  /** Path of the service's configuration, for those who find the service. */
  config?: string;
  /** Program to run instead of the one that is found. */
  executable?: string;
  report?: Report;
  /** Called once when the server ends without having been told to. */
  onExit?: (exit: ServerExit) => void;
}

export interface ServerExit {
  code: number | null;
  signal: string | null;
  /** What it wrote last. */
  logTail: string;
}

export interface TemporalServer {
  /** `127.0.0.1:7733` */
  address: string;
  namespace: string;
  /** Absent with `ui: false`. */
  uiUrl?: string;
  pid: number;
  logFile: string;
  /** Tells who would start another service that this one is about to end. */
  announceStop(): void;
  /** Ends the server and gives the data folder free. May be called more than once. */
  stop(): Promise<void>;
}

/**
 * Starts the server and returns when it answers and its namespace is complete.
 * @throws CountersignError `invalid_usage` when another service uses the data folder; `setup_incomplete` when there is
 * no server program; `server_stopped` when it ends while starting; `no_service` when it does not answer in a minute
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const { dataDir } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(dataDir);
  try {
    await endLeftOver(dataDir);
    const executable = options.executable ?? (await getTemporal(options.report)).path;
    for (let tries = 1; ; tries += 1) {
      try {
        return await launch(executable, options, lock);
      } catch (error) {
        if (tries === MOST_TRIES || !lostPort(error)) throw error;
      }
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Ports are looked for before they are used, ours here and those of its parts by the server itself: another program can be quicker. */
const lostPort = (error: unknown): boolean =>
  isCountersignError(error) && error.code === 'server_stopped' && error.message.includes('address already in use');

async function lockFolder(dataDir: string): Promise<Lock> {
  const lock = await tryLock(join(dataDir, 'service.lock'));
  if (lock) return lock;
  const other = discoverService(dataDir);
  throw new CountersignError('invalid_usage', inUse(dataDir, other));
}

function inUse(dataDir: string, other: ServiceInfo | undefined): string {
  if (!other) return `The Countersign service of ${dataDir} is just starting or ending. Try again in a few seconds.`;
  if (other.stopping)
    return `The Countersign service of ${dataDir} is stopping (process ${other.pid}). Start again when it has ended, in a few seconds.`;
  return (
    `A Countersign service already runs on ${dataDir} (process ${other.pid}, ${other.address}). ` +
    'Use that one, stop it first, or set COUNTERSIGN_HOME to another folder.'
  );
}

/** The server of a service that was killed should be gone; where it is not, two servers must not share one database. */
async function endLeftOver(dataDir: string): Promise<void> {
  const [pid, start] = readIfThere(join(dataDir, 'temporal.pid')).trim().split('\n');
  if (!pid || !start || (await waitUntilGone(Number(pid), start, 2_000))) return;
  process.kill(Number(pid), 'SIGKILL');
  await waitUntilGone(Number(pid), start, 2_000);
}

async function launch(executable: string, options: TemporalOptions, lock: Lock): Promise<TemporalServer> {
  const { dataDir, namespace = 'default', ui = true } = options;
  const logFile = join(dataDir, 'temporal.log');
  const port = await freePort(options.port ?? DEFAULT_PORT);
  const uiPort = ui ? await freePort(options.uiPort ?? DEFAULT_UI_PORT) : undefined;
  const address = `${HOST}:${port}`;
  const uiUrl = uiPort === undefined ? undefined : `http://${HOST}:${uiPort}`;

  const child = spawnGuarded(executable, serverArguments(options, port, uiPort), logFile);
  const ended = new Promise<ServerExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, logTail: error.message }));
    child.once('exit', (code, signal) => resolve({ code, signal, logTail: readIfThere(logFile).slice(-2_000).trim() }));
  });
  const pid = child.pid ?? 0;
  writeFileSync(join(dataDir, 'temporal.pid'), `${pid}\n${processStart(pid) ?? ''}\n`);

  let stopping = false;
  const end = async (): Promise<void> => {
    stopping = true;
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    }
  };
  const stop = async (): Promise<void> => {
    await end();
    releaseFolder(dataDir, lock);
  };

  const waiting = new AbortController();
  try {
    await Promise.race([
      ready(address, namespace, waiting.signal),
      ended.then((exit) => {
        throw new CountersignError('server_stopped', `The Temporal server ended while starting.\n${exit.logTail}`);
      }),
    ]);
  } catch (error) {
    await end();
    rmSync(join(dataDir, 'temporal.pid'), { force: true });
    throw error;
  } finally {
    waiting.abort();
  }
  const { config } = options;
  announceService(dataDir, {
    address,
    namespace,
    ...(uiUrl !== undefined && { uiUrl }),
    ...(config !== undefined && { config }),
  });
  void ended.then((exit) => {
    if (stopping) return;
    releaseFolder(dataDir, lock);
    options.onExit?.(exit);
  });
  return {
    address,
    namespace,
    ...(uiUrl === undefined ? {} : { uiUrl }),
    pid,
    logFile,
    announceStop: () => announceStop(dataDir),
    stop,
  };
}

function releaseFolder(dataDir: string, lock: Lock): void {
  withdrawService(dataDir);
  rmSync(join(dataDir, 'temporal.pid'), { force: true });
  lock.release();
}

/** Dynamic settings and what each is for; the figures are in docs/decisions/embedded-server.md. */
const DYNAMIC_CONFIG = {
  // Stock reads each of its queues 20 times a second at most, which puts up to 50 ms before every step. Not so the queue of listings:
  // nothing waits for those, and written as they come they would hold up the calls that are written beside them.
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  // A development server reads the search attributes there are from its database for each row that it lists and each start: meant for
  // trying search attributes out, and most of what listing costs.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  // The first workflow task comes back with the start, and an activity with the task that scheduled it.
  'system.enableEagerWorkflowStart': true,
  'system.enableActivityEagerExecution': true,
  // Calls carry their agent as fairness key: what waits in a task queue is given out agent by agent.
  'matching.enableFairness': true,
  // Each partition of a queue is fair by itself only, and a server of one process has no use for four.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

function serverArguments(options: TemporalOptions, port: number, uiPort: number | undefined): string[] {
  const { dataDir, database = 'file', namespace = 'default' } = options;
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--log-level', 'warn'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort), '--ui-disable-news-fetch']),
    ...(namespace === 'default' ? [] : ['--namespace', namespace]),
    // synchronous=normal would save a tenth and could lose the last commits at a power cut.
    ...(database === 'file' ? ['--db-filename', join(dataDir, 'temporal.db')] : []),
    ...(database === 'file' ? ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'] : []),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ...Object.values(SEARCH_ATTRIBUTE).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

/**
 * A shell that leaves a guard behind and becomes the server, so that the child's id is the server's own. The guard waits
 * on a pipe that only we hold: when it closes without a word, we are dead (by SIGKILL, too), and it kills the server.
 */
const GUARD = 'exec 3<&0; ( read -r _ <&3 || kill -KILL $$ ) & exec "$@" 3<&- </dev/null';

function spawnGuarded(executable: string, args: string[], logFile: string): ChildProcess {
  rotate(logFile);
  const log = openSync(logFile, 'a', 0o600);
  const { PATH, HOME, TMPDIR, TZ } = process.env;
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', executable, ...args], {
    detached: true,
    stdio: ['pipe', log, log],
    // TEMPORAL_* variables speak of the servers that one connects to and would be read as flags here.
    env: { PATH, HOME, TMPDIR, TZ },
  });
  closeSync(log);
  child.stdin?.on('error', () => {});
  child.once('exit', () => child.stdin?.end('ended\n'));
  return child;
}

/** Waits until the server answers and its namespace has what calls need. */
async function ready(address: string, namespace: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!(await accepts(address))) {
    if (Date.now() > deadline) throw notAnswering(address);
    await sleep(20, undefined, { signal });
  }
  const connection = await Connection.connect({ address, connectTimeout: READY_MS / 6 });
  try {
    let last: unknown;
    while (Date.now() < deadline && !signal.aborted) {
      try {
        await setupNamespace(connection, namespace);
        if (isComplete(await inspectNamespace(connection, namespace))) return;
      } catch (error) {
        last = error;
      }
      await sleep(50);
    }
    throw notAnswering(address, last);
  } finally {
    await connection.close();
  }
}

const notAnswering = (address: string, cause?: unknown): CountersignError =>
  new CountersignError('no_service', `The Temporal server at ${address} did not answer within ${READY_MS / 1000} s.`, {
    cause,
  });

async function accepts(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  const socket = connectTcp({ host: host ?? HOST, port: Number(port) });
  return (await new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy())) as boolean;
}

/** The port itself when it is free, else any free one. */
async function freePort(wished: number): Promise<number> {
  return (await bindable(wished)) ?? (await bindable(0)) ?? wished;
}

function bindable(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: HOST, port, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' ? bound?.port : undefined));
    });
  });
}

/** Keeps the log of the last run too, and no more. */
function rotate(logFile: string): void {
  try {
    if (statSync(logFile).size > LOG_BYTES) renameSync(logFile, `${logFile}.1`);
  } catch {
    // There is none yet.
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
