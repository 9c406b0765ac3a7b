import { expect, test } from 'vitest';
import { callLimits, parseConfig } from '../../src/config/index.ts';
import { createSlots } from '../../src/activities/slots.ts';

const never = new AbortController().signal;

test('as many run as may, the rest wait their turn, in order', async () => {
  const slots = createSlots(() => ({ running: 2, queued: 10 }));
  const order: string[] = [];
  const first = await slots.take('ada', never);
  const second = await slots.take('ada', never);
  const third = slots.take('ada', never).then((slot) => (order.push('third'), slot));
  const fourth = slots.take('ada', never).then((slot) => (order.push('fourth'), slot));
  await Promise.resolve();
  expect(order).toEqual([]);
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  (await fourth)[Symbol.dispose]();
  expect(order).toEqual(['third', 'fourth']);
  second[Symbol.dispose]();
  expect(await slots.take('ada', never)).toBeDefined();
});

test('one agent does not hold up another', async () => {
  const slots = createSlots(() => ({ running: 1, queued: 0 }));
  await slots.take('ada', never);
  await expect(slots.take('ada', never)).rejects.toMatchObject({ code: 'too_many_calls' });
  expect(await slots.take('bob', never)).toBeDefined();
});

test('past the queue it says so', async () => {
  const slots = createSlots(() => ({ running: 1, queued: 1 }));
  await slots.take('ada', never);
  void slots.take('ada', never);
  await expect(slots.take('ada', never)).rejects.toMatchObject({
    code: 'too_many_calls',
    message:
      'Agent ada has 1 calls running and 1 waiting in this worker, which is the most (limits.running, limits.queued). Call again when some have ended.',
  });
});

test('who is cancelled while waiting leaves the queue', async () => {
  const slots = createSlots(() => ({ running: 1, queued: 1 }));
  const first = await slots.take('ada', never);
  const leaving = new AbortController();
  const left = slots.take('ada', leaving.signal);
  leaving.abort(new Error('cancelled'));
  await expect(left).rejects.toThrow('cancelled');
  const next = slots.take('ada', never);
  first[Symbol.dispose]();
  (await next)[Symbol.dispose]();
});

test('a slot given back twice frees one', async () => {
  const slots = createSlots(() => ({ running: 1, queued: 5 }));
  const first = await slots.take('ada', never);
  const second = slots.take('ada', never);
  const third = slots.take('ada', never);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await second;
  let taken = false;
  void third.then(() => (taken = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(taken).toBe(false);
});

test('an agent may have limits of its own', async () => {
  const { config } = parseConfig(
    '{"limits":{"running":1,"queued":0},"agents":{"ada":{"limits":{"running":2}}}}',
    'test',
  );
  const slots = createSlots((agent) => callLimits(config, agent));
  for (const agent of ['ada', 'ada', 'constructor']) expect(await slots.take(agent, never)).toBeDefined();
  for (const agent of ['ada', 'constructor'])
    await expect(slots.take(agent, never)).rejects.toMatchObject({ code: 'too_many_calls' });
});
