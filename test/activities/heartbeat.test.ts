import { describe, expect, it } from 'vitest';
import { heartbeatEvery } from '../../src/activities/heartbeat.ts';

describe('heartbeats', () => {
  it.each([
    [1, 400],
    [10, 400],
    [50, 2_000],
    [100, 4_000],
    [1_000, 4_000],
  ])('of one tool while %i run come every %i ms', (tools, ms) => expect(heartbeatEvery(tools)).toBe(ms));

  it('of up to a hundred tools are 25 a second at most', () => {
    for (let tools = 1; tools <= 100; tools += 1)
      expect((tools * 1_000) / heartbeatEvery(tools)).toBeLessThanOrEqual(25);
  });
});
