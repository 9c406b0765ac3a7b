/** A question to the person at the terminal. */
import { createInterface } from 'node:readline';

/** Whether somebody can see what is said on stderr, and answer. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** True for `y` or `yes`; anything else, and the end of the input, is no. */
export async function confirmed(question: string): Promise<boolean> {
  // The terminal itself edits the line, so that Ctrl-C is the signal that it always is.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const { promise, resolve } = Promise.withResolvers<string>();
  lines.once('close', () => resolve(''));
  lines.question(`${question} [y/N] `, resolve);
  const answer = await promise;
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
