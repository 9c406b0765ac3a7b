/** `countersign start` in a process of its own, as a person starts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from '../../support/processes.ts';
import { homeEnvironment } from './stage.ts';

export interface StartedService extends AsyncDisposable {
  address: string;
  workerPid: number;
  /** Absent where the Temporal server is somebody else's. */
  serverPid?: number;
  /** Milliseconds from the start of the process to its first call's outcome. */
  readyMs: number;
  /** Ctrl-C, and waits for the end. */
  stop(): Promise<void>;
}

/** Returns once a first call has run: the command proves itself by one. */
export async function startProcess(
  home: string,
  workspace: string,
  env: Record<string, string> = {},
): Promise<StartedService> {
  const since = performance.now();
  const args = [
    join(ROOT, 'bin', 'countersign.mjs'),
    'start',
    '--port',
    '0',
    '--ui-port',
    '0',
    '--trust',
    workspace,
    '--json',
  ];
  const program = run(process.execPath, args, { env: homeEnvironment(home, env), cwd: workspace });
  const kill = (): void => void program.child.kill('SIGKILL');
  process.once('exit', kill);
  const [line] = await program.until(/^\{.*"address".*\}$/m, 60_000);
  const readyMs = performance.now() - since;
  const { address } = JSON.parse(line) as { address: string };
  const stop = async (): Promise<void> => {
    program.child.kill('SIGINT');
    await program.ended;
    process.off('exit', kill);
  };
  return {
    address,
    workerPid: program.pid,
    ...(env['TEMPORAL_ADDRESS'] === undefined && { serverPid: serverOf(home) }),
    readyMs,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const serverOf = (home: string): number =>
  Number.parseInt(readFileSync(join(home, 'state', 'temporal.pid'), 'utf8'), 10);
