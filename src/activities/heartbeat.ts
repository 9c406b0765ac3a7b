/** Heartbeats of running tools: for up to a hundred, together no more often than the server can write beside its other work. */
import { heartbeat } from '@temporalio/activity';

/** A cancellation reaches a tool with the answer to its next heartbeat: well within a second while few run. See the worker's maxHeartbeatThrottleInterval. */
const OFTEN_MS = 400;
/** Of the tools of this process that run. Each is a write of the server's, and the embedded one makes some 200 a second in all. */
const BEATS_A_SECOND = 25;
/**
 * However many run. The workflow takes a worker for lost after 15 s without one, and a server that is away for 10 s must not look like that:
 * past a hundred tools it is the budget that gives.
 */
const SELDOM_MS = 4_000;

let running = 0;

/** Milliseconds between two heartbeats of one tool while so many run. */
export const heartbeatEvery = (tools: number): number =>
  Math.min(Math.max(OFTEN_MS, (tools * 1_000) / BEATS_A_SECOND), SELDOM_MS);

export interface Heartbeat {
  /** The wait for the agent's turn is over; until now beats were seldom. */
  running(): void;
  /** Goes along with the next beat. */
  progress(text: string): void;
  stop(): void;
}

export function startHeartbeat(): Heartbeat {
  let latest: string | undefined;
  let runs = false;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(beat, runs ? heartbeatEvery(running) : SELDOM_MS);
  };
  const beat = (): void => {
    heartbeat(latest);
    next();
  };
  next();
  return {
    running: () => {
      runs = true;
      running += 1;
      clearTimeout(timer);
      next();
    },
    progress: (text) => {
      latest = text.slice(0, 500);
    },
    stop: () => {
      if (runs) running -= 1;
      clearTimeout(timer);
    },
  };
}
