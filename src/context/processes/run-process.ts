/** One process from start to certain end. The only place that starts commands, and the only one that ends them. */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { CommandResult } from '../../tools/tool-context.ts';
import { abortedBy, stopIfAborted } from '../abort.ts';
import { OutputCollector } from './collect-output.ts';
import { openPipes } from './pipes.ts';

/** Between the request to end and the order. */
const GRACE_MS = 300;
/** How long output is waited for once the process has ended: something it left behind may hold the pipe. */
const DRAIN_MS = 200;

export interface ProcessPlan {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** From descriptor 3 on: what the child reads there, a descriptor of ours, or `report` for a pipe that it writes a report to. */
  extra?: readonly (string | number | 'report')[];
  /** Asks and then orders to end everything that was started; must not throw. */
  end(child: StartedProcess, how: 'SIGTERM' | 'SIGKILL'): void;
}

export interface StartedProcess {
  pid: number;
  /** What the child has written to its `report` pipe so far. */
  report(): string;
}

/**
 * Runs to the end, to the time limit (`timedOut`) or to the abort of the signal (throws `cancelled`, or the signal's own reason where that is an error of ours).
 * When it returns or throws, what it started has been ended.
 */
export async function runProcess(plan: ProcessPlan, timeoutMs: number, signal: AbortSignal): Promise<CommandResult> {
  stopIfAborted(signal);
  const pipes = await openPipes();
  const child = spawn(plan.file, [...plan.args], {
    cwd: plan.cwd,
    env: { ...plan.env },
    // A session and process group of its own: what is sent to the group reaches its children and not us.
    detached: true,
    stdio: [
      'ignore',
      pipes?.stdout.writeFd ?? 'pipe',
      pipes?.stderr.writeFd ?? 'pipe',
      ...(plan.extra ?? []).map((item) => (typeof item === 'number' ? item : 'pipe')),
    ] as StdioOptions,
    windowsHide: true,
  });
  if (pipes !== undefined) for (const { writeFd } of [pipes.stdout, pipes.stderr]) closeSync(writeFd);
  const stdout = pipes?.stdout.reader ?? child.stdout;
  const stderr = pipes?.stderr.reader ?? child.stderr;
  try {
    const output = new OutputCollector();
    const ended = [collect(stdout, 'stdout', output), collect(stderr, 'stderr', output)];
    const started = await startedProcess(child, plan);
    using limit = new EndOfTime(timeoutMs, signal, (how) => plan.end(started, how));
    const [exitCode, exitSignal] = await exitOf(child);
    plan.end(started, 'SIGKILL');
    await Promise.race([Promise.all(ended), delay(DRAIN_MS)]);
    if (limit.why === 'abort') throw abortedBy(signal);
    return { exitCode, signal: exitSignal, timedOut: limit.why === 'timeout', ...output.finish() };
  } finally {
    for (const stream of [stdout, stderr, ...child.stdio]) stream?.destroy();
  }
}

/** Resolves at the end of the stream. */
function collect(stream: Readable | null, name: 'stdout' | 'stderr', output: OutputCollector): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null) return resolve();
    stream.on('data', (chunk: Buffer) => output.add(name, chunk));
    stream.on('error', () => resolve());
    stream.on('close', () => resolve());
  });
}

async function startedProcess(child: ChildProcess, { extra = [] }: ProcessPlan): Promise<StartedProcess> {
  let report = '';
  extra.forEach((item, i) => {
    const stream = child.stdio[i + 3];
    if (typeof item === 'number' || stream == null) return;
    // A child that ends early breaks its pipes; its exit says why.
    stream.on('error', () => undefined);
    if (item === 'report') (stream as Readable).on('data', (chunk: Buffer) => (report += chunk.toString()));
    else (stream as Writable).end(item);
  });
  // Throws the error of a failed start.
  if (child.pid === undefined) await once(child, 'spawn');
  return { pid: child.pid ?? 0, report: () => report };
}

async function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, child.signalCode];
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return [code, signal];
}

/** The one way in which a running process is ended early: by time or by signal, politely and then surely. */
class EndOfTime implements Disposable {
  why: 'timeout' | 'abort' | undefined;
  readonly #end: (how: 'SIGTERM' | 'SIGKILL') => void;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  #grace: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, signal: AbortSignal, end: (how: 'SIGTERM' | 'SIGKILL') => void) {
    this.#end = end;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.#stop('timeout'), timeoutMs);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  readonly #onAbort = (): void => this.#stop('abort');

  #stop(why: 'timeout' | 'abort'): void {
    if (this.why !== undefined) return;
    this.why = why;
    this.#end('SIGTERM');
    this.#grace = setTimeout(() => this.#end('SIGKILL'), GRACE_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#grace);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
