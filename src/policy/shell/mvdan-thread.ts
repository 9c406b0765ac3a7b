/** The thread in which the second parser runs, for second-parser.ts: one text in, one answer out. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { normalForm } from './mvdan.ts';

const { port, answered } = workerData as { port: MessagePort; answered: Int32Array };

function answer(text: string): void {
  port.postMessage(normalForm(text));
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

port.on('message', answer);
// The first text pays for compiling it (about 30 ms), and tells that it is ready.
answer('true');
