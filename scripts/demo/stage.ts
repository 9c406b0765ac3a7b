/** What the demo stands on: a temporary folder, a Temporal server, a worker that can be killed, and the end of all three. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Countersign } from '../../src/client/index.ts';
import { startTemporal } from '../../src/server/temporal.ts';
import { workflowBundle } from '../../src/server/workflow-bundle.ts';
import { type Repository, makeRepository } from './repository.ts';

export interface Stage {
  countersign: Countersign;
  repository: Repository;
  /** SIGKILL, and wait until it is gone. */
  killWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /** Runs the `countersign` program against this service, its output shown as it is. */
  cli(...args: string[]): Promise<void>;
}

/** Undone in reverse order, once. */
const undo: (() => unknown)[] = [];
let undone: Promise<void> | undefined;

export function clearStage(): Promise<void> {
  undone ??= (async () => {
    for (const step of undo.toReversed()) await Promise.resolve(step()).catch(() => undefined);
  })();
  return undone;
}

let interrupted: Promise<never> | undefined;

/** npm sends a second SIGINT right after the terminal's own; both are the same wish. */
export function clearStageOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted ??= clearStage().then(() => process.exit(128 + constants.signals[signal]));
    });
  }
}

/** What fails while the stage is cleared is nobody's fault: this then waits for the end. */
export async function unlessInterrupted(): Promise<void> {
  await interrupted;
}

/** @param config - text of the configuration file */
export async function setStage(config: string): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-demo-')));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const home = join(folder, 'home');
  await mkdir(home);
  const configFile = join(home, 'countersign.config.jsonc');
  await writeFile(configFile, config);

  const starting = startTemporal({ dataDir: join(folder, 'temporal'), port: 0, ui: false });
  undo.push(async () => (await starting).stop());
  // The bundle is made once for each state of the sources, and kept in the user's cache.
  const [repository, server] = await Promise.all([makeRepository(folder), starting, workflowBundle()]);

  // Nothing of the person's own services and settings plays a part.
  const own = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|COUNTERSIGN)_/.test(name));
  const env = { ...Object.fromEntries(own), COUNTERSIGN_HOME: home, TEMPORAL_ADDRESS: server.address };
  let worker: ChildProcess | undefined;
  const startWorker = async (): Promise<void> => {
    if (undone) return;
    const script = join(import.meta.dirname, 'worker.ts');
    // A process group of its own: Ctrl-C is for us, and we end it.
    worker = spawn(process.execPath, [script, configFile, repository.workspace], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    await ready(worker);
  };
  const killWorker = async (): Promise<void> => {
    if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    await gone;
  };
  undo.push(killWorker);
  await startWorker();
  // Never closed: a request that is being retried would throw where nobody can catch it. The process ends it.
  const countersign = await Countersign.connect({ address: server.address });

  const cli = async (...args: string[]): Promise<void> => {
    const program = spawn(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts'), ...args], {
      cwd: repository.workspace,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [status] = (await once(program, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`countersign ${args.join(' ')} ended with status ${String(status)}`);
  };
  return { countersign, repository, killWorker, startWorker, cli };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the worker ended before it was ready (${String(code ?? signal)})`)),
    );
    child.stdout?.once('data', () => resolve());
  });
}
