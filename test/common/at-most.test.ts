import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forEachAtMost, mapAtMost } from '../../src/common/at-most.ts';

/** Numbers, and how it stands with them. */
function numbers(count: number) {
  const state = { read: 0, running: 0, most: 0, done: 0, ahead: 0, closed: false };
  async function* items(): AsyncGenerator<number> {
    try {
      for (let i = 0; i < count; i += 1) {
        state.read += 1;
        state.ahead = Math.max(state.ahead, state.read - state.done);
        yield i;
      }
    } finally {
      state.closed = true;
    }
  }
  const work = async (): Promise<void> => {
    state.running += 1;
    state.most = Math.max(state.most, state.running);
    await sleep(2);
    state.running -= 1;
    state.done += 1;
  };
  return { state, items: items(), work };
}

describe('at most so many at once', () => {
  it('never runs more at a time than allowed, and reads no further ahead', async () => {
    const { state, items, work } = numbers(20);
    await forEachAtMost(items, 3, work);
    expect(state).toEqual({ read: 20, running: 0, most: 3, done: 20, ahead: 3, closed: true });
  });

  it('begins nothing more after a failure, and throws it when what was under way has ended', async () => {
    const { state, items, work } = numbers(20);
    const failing = async (i: number): Promise<void> => {
      if (i === 1) throw new Error('no');
      await work();
    };
    await expect(forEachAtMost(items, 3, failing)).rejects.toThrow('no');
    expect(state).toMatchObject({ running: 0, closed: true });
    expect(state.read).toBeLessThanOrEqual(4);
  });

  it('gives results in the order of the items, whichever ends first', async () => {
    const slow = async (ms: number, i: number) => {
      await sleep(ms);
      return `${i}:${ms}`;
    };
    expect(await mapAtMost([9, 1, 5], 2, slow)).toEqual(['0:9', '1:1', '2:5']);
    expect(await mapAtMost([], 2, slow)).toEqual([]);
  });
});
