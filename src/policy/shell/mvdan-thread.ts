/** The thread in which the second parser runs, for second-parser.ts: one text in, one answer out. */
import { type MessagePort, workerData } from 'node:worker_threads';

const { port, answered, firstText } = workerData as { port: MessagePort; answered: Int32Array; firstText: string };

// Where the package cannot be loaded, that is an answer too: whoever asks would wait for the time limit.
const normalForm = await import('./mvdan.ts').then(
  (module) => module.normalForm,
  () => () => undefined,
);

function answer(text: string): void {
  port.postMessage(normalForm(text));
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

port.on('message', answer);
// The first text pays for compiling it (about 30 ms), and tells that it is ready.
answer(firstText);
