/** `temporal server start-dev` as it comes: in memory, no settings of ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { getTemporal } from '../../../src/server/find-temporal.ts';
import { type Floor, openFloor } from './floor.ts';

export async function openStock(): Promise<Floor> {
  const port = await freePort();
  const { path } = await getTemporal();
  const { PATH, HOME, TMPDIR } = process.env;
  const args = ['server', 'start-dev', '--headless', '--log-level', 'never', '--port', String(port)];
  const child = spawn(path, args, { stdio: 'ignore', env: { PATH, HOME, TMPDIR } });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    const gone = once(child, 'exit');
    kill();
    await gone;
  };
  try {
    const connection = await connected(`127.0.0.1:${port}`);
    const floor = await openFloor(connection);
    return {
      ...floor,
      [Symbol.asyncDispose]: async () => {
        await floor[Symbol.asyncDispose]();
        await connection.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connected(address: string): Promise<NativeConnection> {
  for (let i = 0; ; i += 1) {
    try {
      const connection = await NativeConnection.connect({ address });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      return connection;
    } catch (error) {
      if (i === 200) throw error;
      await sleep(100);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return bound.port;
}
