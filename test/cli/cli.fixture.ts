/** The command as a process, and a service of its own for a test file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { ROOT } from '../support/processes.ts';

const MAIN = join(ROOT, 'src', 'cli', 'main.ts');

export interface Ran {
  status: number | string;
  stdout: string;
  stderr: string;
  /** Of stdout, which must be one JSON value. */
  json(): Record<string, unknown>;
  /** Of stdout, one JSON value a line. */
  lines(): Record<string, unknown>[];
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  stdin?: string | Uint8Array;
  /** Called with the process as soon as it runs. */
  started?: (child: ChildProcess) => void;
}

/** Settings of the machine that would change what the command does. */
const NEUTRAL = {
  NO_COLOR: undefined,
  FORCE_COLOR: undefined,
  TEMPORAL_ADDRESS: undefined,
  COUNTERSIGN_DEBUG: undefined,
};

export function runCli(args: string[], { cwd, env, stdin, started }: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, ...NEUTRAL, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined).end(stdin ?? '');
  started?.(child);
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const stdout = out();
      const lines = (): Record<string, unknown>[] =>
        stdout
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Record<string, unknown>);
      resolve({
        status: code ?? signal ?? 'unknown',
        stdout,
        stderr: err(),
        json: () => JSON.parse(stdout) as Record<string, unknown>,
        lines,
      });
    });
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

export interface Place {
  home: string;
  workspace: string;
  env: NodeJS.ProcessEnv;
  cli(args: string[], options?: RunOptions): Promise<Ran>;
  remove(): Promise<void>;
}

/** A home and a folder to work in, with no service. */
export async function makePlace(): Promise<Place> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'countersign-cli-')));
  const [home, workspace] = [join(base, 'home'), join(base, 'project')];
  await Promise.all([mkdir(home), mkdir(workspace)]);
  const env = { COUNTERSIGN_HOME: home };
  return {
    home,
    workspace,
    env,
    cli: (args, options = {}) => runCli(args, { cwd: workspace, ...options, env: { ...env, ...options.env } }),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

export interface RunningService extends Place {
  child: ChildProcess;
  /** What `start --json` printed. */
  ready: Record<string, unknown>;
  /** Ends it by SIGINT; its exit status. */
  stop(): Promise<number | string>;
}

/** `at`: a place that was made before, with a configuration or keys in it. */
export async function startedService(args: string[] = [], at?: Place): Promise<RunningService> {
  const place = at ?? (await makePlace());
  let child: ChildProcess | undefined;
  const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
  const ended = place.cli(['start', '--port', '0', '--no-ui', '--json', ...args], {
    started: (process) => {
      child = process;
      let text = '';
      process.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) resolve(JSON.parse(text) as Record<string, unknown>);
      });
    },
  });
  const failed = ended.then((ran) => {
    throw new Error(`start ended with ${ran.status}: ${ran.stderr}${ran.stdout}`);
  });
  failed.catch(() => undefined);
  let ready = await Promise.race([promise, failed]);
  // What a start that failed says is an object, too.
  if ('error' in ready) ready = await failed;
  return {
    ...place,
    child: child as ChildProcess,
    ready,
    stop: async () => {
      child?.kill('SIGINT');
      return (await ended).status;
    },
  };
}

export interface SharedService {
  service(): RunningService;
  cli: Place['cli'];
  /** Its exit status and the object that it printed. */
  json(...args: string[]): Promise<[Ran['status'], Record<string, unknown>]>;
  /** Ends the service and starts it again in its place; `meanwhile` happens in between. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
}

/**
 * One service for all tests of a file, or of a `describe`. `prepare` puts into its place what it shall find there, and gives what is
 * to be said to `start`.
 */
export function sharedService(prepare: (place: Place) => Promise<string[]> = async () => []): SharedService {
  let running: RunningService;
  let args: string[];
  beforeAll(async () => {
    const place = await makePlace();
    args = await prepare(place);
    running = await startedService(args, place);
  });
  afterAll(async () => {
    await running.stop();
    await running.remove();
  });
  return {
    service: () => running,
    cli: (words, options) => running.cli(words, options),
    json: async (...words) => {
      const ran = await running.cli([...words, '--json']);
      return [ran.status, ran.json()];
    },
    restart: async (meanwhile) => {
      await running.stop();
      await meanwhile();
      running = await startedService(args, running);
    },
  };
}

/** The full name of the call that an outcome line tells of. */
export const nameOf = ({ session, callId }: Record<string, unknown>): string =>
  `call/${String(session)}/${String(callId)}`;

let filesOutside = 0;

/** A new file beside the workspace: to delete it needs an approval. */
export async function fileOutside({ workspace }: Pick<Place, 'workspace'>): Promise<string> {
  const file = join(workspace, '..', `outside-${(filesOutside += 1)}`);
  await writeFile(file, 'x');
  return file;
}
