/** Progress as a tool tells it → at most four notices a second; the latest is never lost. */

const INTERVAL_MS = 250;
const MAX_LENGTH = 500;

/** `tell` hears at once what comes after a pause, and then the latest of what came meanwhile. Nothing is told once the call is over. */
export function throttledProgress(tell: (text: string) => void, signal: AbortSignal): (text: string) => void {
  let latest: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const pass = (): void => {
    timer = undefined;
    if (latest === undefined || signal.aborted) return;
    const text = latest;
    latest = undefined;
    timer = setTimeout(pass, INTERVAL_MS).unref();
    tell(text);
  };
  return (text) => {
    latest = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : text;
    if (timer === undefined) pass();
  };
}
