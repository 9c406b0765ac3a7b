/** A connection to a server that goes away. */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { Countersign } from '../../src/client/index.ts';

interface Gate {
  address: string;
  /** From now on nobody answers there. */
  shut(): Promise<void>;
}

/** The way to the test server, which can be cut off. */
async function openGate(): Promise<Gate> {
  const [host, port] = inject('temporalAddress').split(':');
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(Number(port), host);
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const uncaught: unknown[] = [];
const hear = (error: unknown): void => void uncaught.push(error);
beforeEach(() => {
  uncaught.length = 0;
  process.on('uncaughtException', hear);
});
afterEach(() => void process.off('uncaughtException', hear));

const refused = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => 'answered',
    ({ code }: { code?: unknown }) => code,
  );

test('closing while a request is tried again ends the request, and nothing is thrown from a timer', async () => {
  const gate = await openGate();
  const countersign = await Countersign.connect({ address: gate.address });
  await expect(countersign.session('nobody')).rejects.toMatchObject({ code: 'session_not_found' });
  await gate.shut();
  const requests = Array.from({ length: 5 }, () => refused(countersign.session('nobody')));
  await sleep(600);
  const since = performance.now();
  await countersign.close();
  expect(await Promise.all(requests)).toEqual(Array(5).fill('no_service'));
  expect(performance.now() - since).toBeLessThan(5_000);
  await sleep(2_500);
  expect(uncaught).toEqual([]);
});

test('a request is given up after as much patience as was asked for', async () => {
  const gate = await openGate();
  await using countersign = await Countersign.connect({ address: gate.address, patienceMs: 1_000 });
  await gate.shut();
  const since = performance.now();
  expect(await refused(countersign.session('nobody'))).toBe('no_service');
  const took = performance.now() - since;
  expect(took).toBeGreaterThan(900);
  expect(took).toBeLessThan(8_000);
});
