/**
 * How many calls of one agent run at once in this worker process, and how many wait for their turn. Between agents and
 * between workers the engine's own fairness does the sharing; this keeps one agent from taking a whole worker. Quick reads are not counted: each ends within a second by itself.
 */
import { CountersignError } from '../protocol/errors.ts';

export interface Slots {
  /**
   * Waits for a free slot of the agent, first come first served. Throws `too_many_calls` when as many as may wait do,
   * and the signal's reason when it is aborted first.
   */
  take(agent: string, signal: AbortSignal): Promise<Disposable>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

export function createSlots(limits: (agent: string) => { running: number; queued: number }): Slots {
  const queues = new Map<string, Queue>();

  const queueOf = (agent: string): Queue => {
    const known = queues.get(agent) ?? { running: 0, waiting: [] };
    queues.set(agent, known);
    return known;
  };

  const slot = (agent: string, queue: Queue): Disposable => {
    queue.running += 1;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        queue.running -= 1;
        if (queue.running < limits(agent).running) queue.waiting.shift()?.();
        if (queue.running === 0 && queue.waiting.length === 0) queues.delete(agent);
      },
    };
  };

  const take = async (agent: string, signal: AbortSignal): Promise<Disposable> => {
    signal.throwIfAborted();
    const queue = queueOf(agent);
    const { running, queued } = limits(agent);
    if (queue.running < running && queue.waiting.length === 0) return slot(agent, queue);
    if (queue.waiting.length >= queued) {
      const message = `Agent ${agent} has ${running} calls running and ${queued} waiting in this worker, which is the most (limits.running, limits.queued). Call again when some have ended.`;
      throw new CountersignError('too_many_calls', message);
    }
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(slot(agent, queue));
      };
      const leave = (): void => {
        queue.waiting.splice(queue.waiting.indexOf(turn), 1);
        reject(signal.reason as Error);
      };
      queue.waiting.push(turn);
      signal.addEventListener('abort', leave, { once: true });
    });
  };

  return { take };
}
