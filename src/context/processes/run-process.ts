/** One process from start to certain end. The only place that runs commands, and the only one that ends them. */
import type { Readable } from 'node:stream';
import type { CommandResult } from '../../tools/tool-context.ts';
import { abortedBy, stopIfAborted } from '../abort.ts';
import { OutputCollector } from './collect-output.ts';
import { type Launched, type Program, launch } from './launch.ts';

/** Between the request to end and the order. */
const GRACE_MS = 300;
/**
 * How long past its limit a start is waited for, and after the order to end the news of the end, before the process that starts commands is
 * taken for hung: other commands fall with it. With the grace less than what whoever runs a tool gives it to stop (run-tool.ts).
 */
const HUNG_MS = 1_500;
/** How long output is waited for once the process has ended: something it left behind may hold the pipe. */
const DRAIN_MS = 200;

export interface ProcessPlan extends Program {
  /** Asks and then orders to end everything that was started; must not throw. */
  end(child: StartedProcess, how: 'SIGTERM' | 'SIGKILL'): void;
}

export type StartedProcess = Pick<Launched, 'pid' | 'report'>;

/**
 * Runs to the end, to the time limit (`timedOut`) or to the abort of the signal (throws `cancelled`, or the signal's own reason where that is an error of ours).
 * When it returns or throws, what it started has been ended.
 */
export async function runProcess(plan: ProcessPlan, timeoutMs: number, signal: AbortSignal): Promise<CommandResult> {
  stopIfAborted(signal);
  const { end, ...program } = plan;
  const begun = performance.now();
  const child = await launchInTime(program, timeoutMs, signal);
  if (child === undefined) return { exitCode: null, signal: null, timedOut: true, ...new OutputCollector().finish() };
  let unheard: NodeJS.Timeout | undefined;
  const stop = (how: 'SIGTERM' | 'SIGKILL'): void => {
    end(child, how);
    if (how === 'SIGKILL') unheard = setInterval(child.checkStarter, HUNG_MS);
  };
  try {
    const output = new OutputCollector();
    const ended = [collect(child.stdout, 'stdout', output), collect(child.stderr, 'stderr', output)];
    const left = Math.max(0, timeoutMs - (performance.now() - begun));
    using limit = new EndOfTime(left, signal, stop, GRACE_MS);
    const [exitCode, exitSignal] = await child.exit.finally(() => end(child, 'SIGKILL'));
    await Promise.race([Promise.all(ended), delay(DRAIN_MS)]);
    if (limit.why === 'abort') throw abortedBy(signal);
    return { exitCode, signal: exitSignal, timedOut: limit.why === 'timeout', ...output.finish() };
  } finally {
    clearInterval(unheard);
    child.close();
  }
}

/** Undefined where the time ran out before it was started; throws where the signal came first. */
async function launchInTime(program: Program, timeoutMs: number, signal: AbortSignal): Promise<Launched | undefined> {
  const hung = new AbortController();
  const end = (how: 'SIGTERM' | 'SIGKILL'): void => (how === 'SIGKILL' ? hung.abort() : undefined);
  using limit = new EndOfTime(timeoutMs, signal, end, HUNG_MS);
  try {
    return await launch(program, hung.signal);
  } catch (error) {
    if (!hung.signal.aborted) throw error;
    if (limit.why === 'abort') throw abortedBy(signal);
    return undefined;
  }
}

/** Resolves at the end of the stream. */
function collect(stream: Readable, name: 'stdout' | 'stderr', output: OutputCollector): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => output.add(name, chunk));
    stream.on('error', () => resolve());
    stream.on('close', () => resolve());
  });
}

/** The one way in which a running process is ended early: by time or by signal, politely and then surely. */
class EndOfTime implements Disposable {
  why: 'timeout' | 'abort' | undefined;
  readonly #end: (how: 'SIGTERM' | 'SIGKILL') => void;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  readonly #graceMs: number;
  #grace: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, signal: AbortSignal, end: (how: 'SIGTERM' | 'SIGKILL') => void, graceMs: number) {
    this.#end = end;
    this.#graceMs = graceMs;
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
    this.#grace = setTimeout(() => this.#end('SIGKILL'), this.#graceMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#grace);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
