/** A service that cannot start leaves nothing open: no connection, no timer. */
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { startService } from '../../src/server/service.ts';
import { builtInTools } from '../../src/tools/index.ts';
import { scratch } from '../context/support.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('where the worker cannot be made, its connection is closed and the halt is no longer watched', async () => {
  vi.stubEnv('COUNTERSIGN_HOME', scratch().stateDir);
  vi.stubEnv('TEMPORAL_ADDRESS', inject('temporalAddress'));
  const close = vi.spyOn(NativeConnection.prototype, 'close');
  const [set, clear] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  // Deeper than the limits allow, which only the worker's making finds out.
  let parameters: object = { type: 'string' };
  for (let depth = 0; depth < 200; depth += 1) parameters = { type: 'object', properties: { a: parameters } };
  const [tool] = builtInTools;
  const tools = [{ ...tool, name: 'deep', parameters }] as unknown as typeof builtInTools;
  await expect(startService({ tools, log: pino({ level: 'silent' }) })).rejects.toMatchObject({
    code: 'invalid_config',
  });
  expect(close).toHaveBeenCalledOnce();
  const watches = set.mock.results.filter((_result, i) => set.mock.calls[i]?.[1] === 500).map(({ value }) => value);
  expect(watches).toHaveLength(1);
  expect(clear.mock.calls.flat()).toContain(watches[0]);
});
