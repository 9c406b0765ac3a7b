/** Starts and kills worker processes for crash tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface WorkerProcess extends AsyncDisposable {
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

export async function spawnWorker(address: string, taskQueue: string, folder: string): Promise<WorkerProcess> {
  const script = join(import.meta.dirname, 'worker-process.ts');
  const child = spawn(process.execPath, [script, address, taskQueue, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  await ready(child);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { kill, [Symbol.asyncDispose]: kill };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`the worker ended before it was ready (${code ?? signal})`)));
    child.stdout?.once('data', () => resolve());
  });
}
