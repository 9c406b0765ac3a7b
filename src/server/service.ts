/**
 * The service: a Temporal server (embedded unless one is configured) and a worker, in this process.
 */
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import { isErrno } from '../common/errno.ts';
import { CONFIG_FILE, type LoadedConfig, findConfig, watchConfig, watchForFile } from '../config/index.ts';
import { listTrustedRoots, wasWritable } from '../context/index.ts';
import { CountersignError } from '../protocol/errors.ts';
import type { Tool } from '../tools/index.ts';
import { type ConfigRecorder, createConfigRecorder } from './config-recorder.ts';
import { configuredConnection, type ConnectionSettings } from './connect.ts';
import { configDir, ownPaths, stateDir } from './paths.ts';
import { watchSharedState } from './shared-state.ts';
import { sweepKnown } from './sweep-known.ts';
import { type ServerExit, type TemporalServer, startTemporal } from './temporal.ts';
import { type CountersignWorker, createWorker } from './worker.ts';

export interface ServiceOptions {
  /** Configuration file; `countersign.config.jsonc` in the working folder, else in the user's configuration folder, where not given. */
  configFile?: string;
  /** Port wished for the embedded server; a free one is taken where that is in use. */
  port?: number;
  uiPort?: number;
  ui?: boolean;
  /** The built-in tools unless given. */
  tools?: readonly Tool[];
  /** Folder trusted besides those that are configured; the working folder unless given. */
  trust?: string;
  /** Tells a person how far the start is. */
  report?: (line: string) => void;
  log?: Logger;
}

export interface Service {
  address: string;
  namespace: string;
  uiUrl?: string;
  /** `embedded`: the server is this service's own. */
  from: 'embedded' | 'configured';
  worker: CountersignWorker;
  config: LoadedConfig;
  /** Rejects when the server or the worker ends by itself. */
  running: Promise<void>;
  /** Drains the worker, then ends the server. May be called more than once. */
  stop(): Promise<void>;
}

/**
 * Starts everything and returns when calls can run.
 * @throws CountersignError `invalid_config`, `setup_incomplete`, `server_stopped`, `no_service`
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { report = () => undefined, log = pino({ level: 'info' }, pino.destination(2)) } = options;
  // A broken configuration stops the start before anything else runs.
  const settings = await openSettings(options, log);
  const state = stateDir();
  mkdirSync(state, { recursive: true, mode: 0o700 });
  makeConfigDir();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const server = await openServer(options, settings.current().path, state, report, (exit) =>
    ended.reject(serverGone(exit)),
  );
  try {
    const { worker, connection } = await openWorker(options, settings, server, state, log);
    const { client, taskQueue } = worker;
    const stopSweeping = keepSwept(state, client, log);
    const stopWatching = watchSharedState({ client, taskQueue, stateDir: state, log });
    const work = worker.run();
    settings.recordWith(createConfigRecorder(worker, log));
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> =>
      (stopped ??= stopAll({
        worker,
        connection,
        work,
        server,
        stopping: [server.announceStop, settings.stop, stopSweeping, stopWatching],
      }));
    const running = Promise.race([work, ended.promise]);
    running.catch(() => undefined);
    const { address, namespace, uiUrl, from } = server;
    return {
      address,
      namespace,
      from,
      ...(uiUrl !== undefined && { uiUrl }),
      worker: { ...worker, ...(uiUrl !== undefined && { uiUrl }) },
      config: settings.current(),
      running,
      stop,
    };
  } catch (error) {
    settings.stop();
    await server.stop();
    throw error;
  }
}

interface Settings {
  current(): LoadedConfig;
  /** Puts the configuration of now on record, and what becomes of it. */
  recordWith(recorder: ConfigRecorder): void;
  stop(): void;
}

/**
 * The configuration of now: a change of the file is taken up, a broken one is said loudly and not taken. So is one that comes to stand in the working folder where the service began
 * without it: a session may have put it there, so a person starts the service again to take it up.
 */
async function openSettings({ configFile, tools }: ServiceOptions, log: Logger): Promise<Settings> {
  let current = await findConfig(configFile, [process.cwd(), configDir()], tools);
  let recorder: ConfigRecorder | undefined;
  const onChange = (loaded: LoadedConfig): void => {
    log.warn(
      { path: loaded.path, before: current.hash, now: loaded.hash },
      'configuration changed; later calls follow it',
    );
    current = loaded;
    recorder?.loaded(loaded, 'reload');
  };
  const refuse = (path: string, { message }: Error): void => {
    log.error({ path, error: message }, 'the configuration was not taken; the old rules stay in force');
    recorder?.refused(path, message, current);
  };
  const here = resolve(CONFIG_FILE);
  const onAppeared = (): void =>
    refuse(
      here,
      new Error(
        `${here} was not there when the service started. Read it; if it is meant, start the service again: then it is taken up`,
      ),
    );
  const { path, hash } = current;
  const stopping = [
    ...(path === undefined
      ? []
      : [
          watchConfig(path, {
            onChange,
            onError: (error) => refuse(path, error),
            current: hash,
            exposed: wasWritable,
            ...(tools && { tools }),
          }),
        ]),
    ...(configFile === undefined && path !== here ? [watchForFile(here, onAppeared)] : []),
  ];
  return {
    current: () => current,
    recordWith: (given) => {
      recorder = given;
      recorder.loaded(current, 'start');
    },
    stop: () => {
      for (const stop of stopping) stop();
      recorder?.[Symbol.dispose]();
    },
  };
}

/** What is not there cannot be shut off from commands, and a planted list of trusted folders would be believed. Where this user may not make it, no command can. */
function makeConfigDir(): void {
  try {
    mkdirSync(configDir(), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
  }
}

interface Server extends ConnectionSettings {
  address: string;
  /** What goes first when the service ends: it may take a while to drain. */
  announceStop(): void;
  stop(): Promise<void>;
}

async function openServer(
  { port, uiPort, ui }: ServiceOptions,
  config: string | undefined,
  dataDir: string,
  report: (line: string) => void,
  onExit: (exit: ServerExit) => void,
): Promise<Server> {
  const configured = configuredConnection();
  if (configured)
    return {
      ...configured,
      address: configured.options.address,
      announceStop: () => undefined,
      stop: async () => undefined,
    };
  const temporal: TemporalServer = await startTemporal({
    dataDir,
    report,
    onExit,
    ...(port !== undefined && { port }),
    ...(uiPort !== undefined && { uiPort }),
    ...(ui !== undefined && { ui }),
    ...(config !== undefined && { config }),
  });
  const { address, namespace, uiUrl } = temporal;
  return {
    address,
    namespace,
    from: 'embedded',
    options: { address },
    ...(uiUrl !== undefined && { uiUrl }),
    announceStop: () => temporal.announceStop(),
    stop: () => temporal.stop(),
  };
}

async function openWorker(
  { trust = process.cwd(), tools }: ServiceOptions,
  settings: Settings,
  server: Server,
  state: string,
  log: Logger,
): Promise<{ worker: CountersignWorker; connection: NativeConnection }> {
  // Core's own messages go the same way: standard output is for answers.
  const telemetryOptions = { logging: { filter: 'WARN', forward: {} } } as const;
  Runtime.install({ logger: quietLogger(log), shutdownSignals: [], telemetryOptions });
  const connection = await NativeConnection.connect(
    server.options as Parameters<typeof NativeConnection.connect>[0] & object,
  );
  const own = trustable(trust);
  try {
    const worker = await createWorker({
      connection,
      namespace: server.namespace,
      settings: () => settings.current(),
      trustedRoots: async () => [
        ...own,
        ...settings.current().config.workspaces,
        ...(await listTrustedRoots(join(configDir(), 'workspaces.json'))),
      ],
      protectedPaths: ownPaths(settings.current().path),
      stateDir: state,
      ...(tools && { tools }),
      ...(server.uiUrl !== undefined && { uiUrl: server.uiUrl }),
      log,
    });
    return { worker, connection };
  } catch (error) {
    await connection.close().catch(() => undefined);
    throw error;
  }
}

/** Started from a home folder or `/`, the service trusts nothing by default. */
function trustable(folder: string): string[] {
  const full = resolve(folder);
  return full === '/' || full === homedir() ? [] : [full];
}

/** Temporal's own messages, from warnings up. */
function quietLogger(log: Logger) {
  const child = log.child({ from: 'temporal' });
  const say = (level: 'warn' | 'error') => (message: string, meta?: object) => child[level](meta ?? {}, message);
  const nothing = (): void => undefined;
  return {
    log: (level: string, message: string, meta?: object): void => {
      if (level === 'WARN') say('warn')(message, meta);
      if (level === 'ERROR') say('error')(message, meta);
    },
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: say('warn'),
    error: say('error'),
  };
}

const DAY_MS = 86_400_000;

/** Takes out of the state folder what is old, now and once a day. Returns how to stop. */
function keepSwept(state: string, client: Client, log: Logger): () => void {
  const sweep = (): void =>
    void sweepKnown(state, client).catch((error: unknown) =>
      log.warn({ err: error }, 'the state folder was not swept'),
    );
  sweep();
  const timer = setInterval(sweep, DAY_MS).unref();
  return () => clearInterval(timer);
}

interface Running {
  worker: CountersignWorker;
  connection: NativeConnection;
  work: Promise<void>;
  server: Server;
  /** What else goes on in the background. */
  stopping: readonly (() => void)[];
}

/** An open connection would keep the process up. */
async function stopAll({ worker, connection, work, server, stopping }: Running): Promise<void> {
  for (const stop of stopping) stop();
  worker.shutdown();
  await work.catch(() => undefined);
  await connection.close().catch(() => undefined);
  await server.stop();
}

function serverGone({ code, signal, logTail }: ServerExit): CountersignError {
  const how = signal === null ? `with status ${code ?? '?'}` : `by ${signal}`;
  const message = `The Temporal server ended ${how}. Start the service again: nothing is lost, and calls go on.\n${logTail}`;
  return new CountersignError('server_stopped', message);
}
