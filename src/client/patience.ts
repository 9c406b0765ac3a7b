/** How long requests are tried again while the server does not answer, and how a connection is closed in between. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

export interface Patience {
  interceptors: Interceptor[];
  /** From now on nothing is tried again; resolves when the last retry that was under way has been sent, a second later at most as a rule. */
  end(): Promise<void>;
}

/** gRPC's status of a server that asks to be spared. */
const EXHAUSTED = 8;
/** Timers end in order only when they are this far apart, in milliseconds. */
const MARGIN_MS = 5;

/**
 * The SDK's own retries, for `forMs` milliseconds after a request first failed, and ended before the connection is closed: a retry on a
 * closed connection throws from a timer, where nobody can catch it.
 */
export function patience(forMs: number): Patience {
  const { retryableDecider, delayFunction } = defaultGrpcRetryOptions({
    maxAttempts: Infinity,
    maxIntervalMs: ({ code }) => (code === EXHAUSTED ? 5_000 : 1_000),
  });
  let ended = false;
  let lastRetryAt = 0;
  const interceptor: Interceptor = (options, nextCall) => {
    let failedAt: number | undefined;
    const retry = makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => {
        failedAt ??= Date.now();
        return !ended && Date.now() - failedAt < forMs && retryableDecider(attempt, status);
      },
      delayFunction: (attempt, status) => {
        const delay = delayFunction(attempt, status);
        lastRetryAt = Math.max(lastRetryAt, Date.now() + delay);
        return delay;
      },
    });
    return retry(options, nextCall);
  };
  return {
    interceptors: [interceptor],
    end: async () => {
      ended = true;
      const left = lastRetryAt - Date.now();
      if (left > 0) await sleep(left + MARGIN_MS);
    },
  };
}
