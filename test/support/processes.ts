/** Programs that tests start: their output by line, and an end for each of them. */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface RunningProgram extends AsyncDisposable {
  child: ChildProcess;
  pid: number;
  /** All that it has written to stdout and stderr. */
  output(): string;
  /** Waits until the output so far matches; throws with the output when the program ends or time is up first. */
  until(pattern: RegExp, ms?: number): Promise<RegExpMatchArray>;
  /** Resolves with the exit status, or the signal's name. */
  ended: Promise<number | string>;
  /** Ends it by SIGKILL when it still runs, and waits for that. */
  kill(): Promise<void>;
}

/** Runs a program; relative paths are relative to the repository. */
export function run(program: string, args: string[], options: SpawnOptions = {}): RunningProgram {
  const child = spawn(program, args, { cwd: ROOT, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const waiting = new Set<() => void>();
  const hear = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const check of waiting) check();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });

  const until = (pattern: RegExp, ms = 20_000): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        waiting.delete(check);
        settle();
      };
      const check = (): void => {
        const match = output.match(pattern);
        if (match) finish(() => resolve(match));
      };
      const fail = (why: string): void => finish(() => reject(new Error(`${why}, without ${pattern}:\n${output}`)));
      const timer = setTimeout(() => fail(`${ms} ms passed`), ms);
      waiting.add(check);
      void ended.then(
        (status) => fail(`${program} ended (${status})`),
        (error: unknown) => fail(String(error)),
      );
      check();
    });

  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  };
  return { child, pid: child.pid ?? 0, output: () => output, until, ended, kill, [Symbol.asyncDispose]: kill };
}

/** Runs a TypeScript or JavaScript file on this Node. */
export const runNode = (file: string, args: string[] = [], options: SpawnOptions = {}): RunningProgram =>
  run(process.execPath, [file, ...args], options);
