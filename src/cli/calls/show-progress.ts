/** Puts the running tool's own words behind the spinner, where there is a terminal to show them on. */
import type { CallHandle } from '../../client/index.ts';
import type { Spinner } from '../render/spinner.ts';

const EVERY_MS = 700;

export async function showProgress<T>(
  call: Pick<CallHandle, 'progress'>,
  spinner: Spinner,
  work: () => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work();
  const timer = setInterval(() => {
    // Progress is a courtesy: whoever waits for the outcome hears of what is wrong from there.
    call.progress().then(
      (text) => spinner.say(text ?? ''),
      () => undefined,
    );
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
