/**
 * What the second parser makes of a text, waited for. It runs in a thread of its own, because whoever writes command lines must not be able to
 * stop the worker with one on which a parser never comes back: such a thread is ended, and the line then asks a person.
 */
import { MessageChannel, type MessagePort, Worker, receiveMessageOnPort } from 'node:worker_threads';

/** A text within the policy's limits takes a fraction of a millisecond; this leaves room for a busy machine. */
const DEADLINE_MS = 1_000;
/** Starting the thread, too. */
const START_MS = 10_000;
/** What it reads unasked when it starts; also what it then answers, for it is in the form in which it prints. */
const FIRST_TEXT = 'true';

interface Thread {
  worker: Worker;
  port: MessagePort;
  answered: Int32Array;
}

/** After a thread that did not start, the next is not tried before this is over. */
const PAUSE_MS = 60_000;

let thread: Thread | undefined;
let notBefore = 0;
let isLost = false;
let tellOfLoss = (): void => undefined;

/**
 * Starts the parser, so that the first judgement does not wait for it (50 ms). `onLost` is called when it does not start, now or after it was ended: once, until it did again.
 */
export function startSecondParser(onLost: () => void): void {
  tellOfLoss = onLost;
  running();
}

/** Whether there is a second opinion on this machine. */
export const hasSecondParser = (): boolean => running() !== undefined;

/** The text in the form in which it prints all texts; undefined where it has no opinion, which is never agreement. */
export function secondReading(text: string, deadlineMs: number = DEADLINE_MS): string | undefined {
  const asked = running();
  if (!asked) return undefined;
  Atomics.store(asked.answered, 0, 0);
  asked.port.postMessage(text);
  if (hasAnswered(asked, deadlineMs)) return receiveMessageOnPort(asked.port)?.message as string | undefined;
  thread = undefined;
  return undefined;
}

function running(): Thread | undefined {
  if (thread || performance.now() < notBefore) return thread;
  thread = start();
  if (!thread) notBefore = performance.now() + PAUSE_MS;
  if (!thread && !isLost) tellOfLoss();
  isLost = !thread;
  return thread;
}

function start(): Thread | undefined {
  const main = import.meta.url.endsWith('.ts') ? 'mvdan-thread.ts' : 'mvdan-thread.js';
  const { port1: port, port2 } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(main, import.meta.url), {
    workerData: { port: port2, answered, firstText: FIRST_TEXT },
    transferList: [port2],
    execArgv: [],
    env: {},
  });
  // Neither keeps the process up.
  worker.unref();
  port.unref();
  // Its end shows in the next answer, which does not come.
  worker.on('error', () => undefined);
  const started = { worker, port, answered };
  if (!hasAnswered(started, START_MS)) return undefined;
  if (receiveMessageOnPort(port)?.message === FIRST_TEXT) return started;
  void worker.terminate();
  return undefined;
}

/** Blocks until it has answered; a thread that has not by then is ended. */
function hasAnswered({ worker, answered }: Thread, deadlineMs: number): boolean {
  if (Atomics.wait(answered, 0, 0, deadlineMs) !== 'timed-out') return true;
  void worker.terminate();
  return false;
}
