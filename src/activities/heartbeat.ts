/** Heartbeats of running tools, together no more often than the server can write beside its other work. */
import { heartbeat } from '@temporalio/activity';

/** A cancellation reaches a tool with the answer to its next heartbeat: well within a second while few run. See the worker's maxHeartbeatThrottleInterval. */
const OFTEN_MS = 400;
/** Of all tools of this process. Each is a write of the server's, and the embedded one makes some 200 a second in all. */
const BEATS_A_SECOND = 25;
/** However many run; the workflow takes a worker for lost after 15 s without one. */
const SELDOM_MS = 4_000;

let running = 0;

/** Milliseconds between two heartbeats of one tool while so many run. */
export const heartbeatEvery = (tools: number): number =>
  Math.min(Math.max(OFTEN_MS, (tools * 1_000) / BEATS_A_SECOND), SELDOM_MS);

/** `progress` goes along with the next heartbeat. */
export function startHeartbeat(): { progress(text: string): void; stop(): void } {
  let latest: string | undefined;
  let timer: NodeJS.Timeout;
  const beat = (): void => {
    heartbeat(latest);
    timer = setTimeout(beat, heartbeatEvery(running));
  };
  running += 1;
  timer = setTimeout(beat, heartbeatEvery(running));
  return {
    progress: (text) => {
      latest = text.slice(0, 500);
    },
    stop: () => {
      running -= 1;
      clearTimeout(timer);
    },
  };
}
