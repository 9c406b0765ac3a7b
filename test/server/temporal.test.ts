import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectionSettings, discoverService } from '../../src/server/connect.ts';
import { findTemporal } from '../../src/server/find-temporal.ts';
import { type Lock, tryLock } from '../../src/server/lock.ts';
import { processStart, waitUntilGone } from '../../src/server/processes.ts';
import { type ServerExit, startTemporal } from '../../src/server/temporal.ts';
import { runNode } from '../support/processes.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'countersign-temporal-test-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const folder = (name: string): string => join(home, name);

async function withConnection<T>(address: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

describe('the embedded server', () => {
  test('has 30 days of retention and the search attributes, usable at once', async () => {
    const server = await startTemporal({ dataDir: folder('complete'), port: 0, ui: false });
    try {
      await withConnection(server.address, async (connection) => {
        const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
        expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(720 * 3600);
        const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
        expect(customAttributes).toMatchObject({
          CountersignSession: 2,
          CountersignAgent: 2,
          CountersignTool: 2,
          CountersignState: 2,
          CountersignCode: 2,
        });
        const client = new Client({ connection });
        await client.workflow.start('nobody', {
          taskQueue: 'nobody',
          workflowId: 'with-attributes',
          searchAttributes: { CountersignState: ['waiting'] },
        });
      });
    } finally {
      await server.stop();
    }
  });

  test('keeps its workflows from one run to the next', async () => {
    const dataDir = folder('kept');
    const first = await startTemporal({ dataDir, port: 0, ui: false });
    await withConnection(first.address, (connection) =>
      new Client({ connection }).workflow.start('nobody', { taskQueue: 'nobody', workflowId: 'yesterday' }),
    ).finally(first.stop);
    const second = await startTemporal({ dataDir, port: 0, ui: false });
    const description = await withConnection(second.address, (connection) =>
      new Client({ connection }).workflow.getHandle('yesterday').describe(),
    ).finally(second.stop);
    expect(description.status.name).toBe('RUNNING');
  });

  test('takes a free port where the wished one is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const taken = (other.address() as { port: number }).port;
    const server = await startTemporal({ dataDir: folder('port'), port: taken, uiPort: taken });
    try {
      expect(server.address).toMatch(/^127\.0\.0\.1:\d+$/);
      expect(server.address).not.toBe(`127.0.0.1:${taken}`);
      expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
    } finally {
      await server.stop();
      other.close();
    }
  });

  test('is found by clients while it runs, and only then', async () => {
    const env = { COUNTERSIGN_HOME: folder('found') };
    const dataDir = join(folder('found'), 'state');
    expect(() => connectionSettings(env)).toThrow(expect.objectContaining({ code: 'no_service' }));
    const server = await startTemporal({ dataDir, port: 0, ui: false });
    expect(discoverService(dataDir)).toMatchObject({ address: server.address, namespace: 'default', pid: process.pid });
    expect(connectionSettings(env)).toEqual({
      options: { address: server.address },
      namespace: 'default',
      from: 'embedded',
    });
    await server.stop();
    expect(discoverService(dataDir)).toBeUndefined();
  });

  test('is refused on a data folder that another service uses', async () => {
    const dataDir = folder('shared');
    const server = await startTemporal({ dataDir, port: 0, ui: false });
    try {
      await expect(startTemporal({ dataDir, port: 0, ui: false })).rejects.toMatchObject({
        code: 'invalid_usage',
        message: expect.stringContaining(`process ${process.pid}, ${server.address}`),
      });
      expect(discoverService(dataDir)).toMatchObject({ address: server.address });
    } finally {
      await server.stop();
    }
  });

  test('that ends, or is only about to be there, is said for what it is', async () => {
    const dataDir = folder('stopping');
    const server = await startTemporal({ dataDir, port: 0, ui: false });
    server.announceStop();
    try {
      await expect(startTemporal({ dataDir, port: 0, ui: false })).rejects.toMatchObject({
        code: 'invalid_usage',
        message: expect.stringContaining(`is stopping (process ${process.pid})`) as string,
      });
      // It answers until it has ended.
      expect(discoverService(dataDir)).toMatchObject({ address: server.address });
    } finally {
      await server.stop();
    }
    using _ = (await tryLock(join(dataDir, 'service.lock'))) as Lock;
    await expect(startTemporal({ dataDir, port: 0, ui: false })).rejects.toMatchObject({
      message: expect.stringContaining('is just starting or ending') as string,
    });
  });

  test('that crashes is noticed, and the next start goes well', async () => {
    const dataDir = folder('crash');
    const crashed = Promise.withResolvers<ServerExit>();
    const server = await startTemporal({ dataDir, port: 0, ui: false, onExit: crashed.resolve });
    process.kill(server.pid, 'SIGKILL');
    expect(await crashed.promise).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(discoverService(dataDir)).toBeUndefined();
    await server.stop();
    const next = await startTemporal({ dataDir, port: 0, ui: false });
    await next.stop();
  });

  test('that cannot start says why', async () => {
    const options = { port: 0, ui: false, executable: '/bin/false' };
    await expect(startTemporal({ dataDir: folder('false'), ...options })).rejects.toMatchObject({
      code: 'server_stopped',
    });
    await expect(
      startTemporal({ dataDir: folder('none'), ...options, executable: '/no/such/program' }),
    ).rejects.toMatchObject({ code: 'server_stopped', message: expect.stringContaining('/no/such/program') });
  });

  test('is started again where another program took one of its ports meanwhile, and not for ever', async () => {
    const found = await findTemporal();
    if (!found) throw new Error('no Temporal server program');
    const losing = async (name: string, times: number) => {
      const executable = join(home, name);
      const tries = `${executable}.tries`;
      const lost = 'failed listening for HTTP API: listen tcp 127.0.0.1:42525: bind: address already in use';
      await writeFile(
        executable,
        `#!/bin/sh\necho x >> ${tries}\nif [ $(wc -l < ${tries}) -le ${times} ]; then echo '${lost}' >&2; exit 1; fi\nexec ${found.path} "$@"\n`,
        { mode: 0o700 },
      );
      return { tries, start: () => startTemporal({ dataDir: folder(`data-${name}`), port: 0, ui: false, executable }) };
    };
    const once = await losing('once', 1);
    const server = await once.start();
    await withConnection(server.address, (connection) => connection.ensureConnected());
    await server.stop();
    expect(await readFile(once.tries, 'utf8')).toBe('x\nx\n');

    const always = await losing('always', 99);
    await expect(always.start()).rejects.toMatchObject({ code: 'server_stopped' });
    expect(await readFile(always.tries, 'utf8')).toBe('x\nx\nx\n');
  });

  test('that cannot start leaves nothing running in its owner', async () => {
    const source = `import { startTemporal } from './src/server/temporal.ts';
      await startTemporal({ dataDir: process.argv[1], executable: '/bin/false' }).catch((error) => console.log(error.code));`;
    await using owner = runNode('-e', [source, folder('brief')]);
    const since = Date.now();
    expect(await owner.ended).toBe(0);
    expect(owner.output()).toContain('server_stopped');
    expect(Date.now() - since).toBeLessThan(5_000);
  });

  test('dies with its owner, also by SIGKILL, and does not stop the next', async () => {
    const dataDir = folder('orphan');
    await using owner = runNode('test/server/owner.fixture.ts', [dataDir]);
    const [, serverPid, address] = await owner.until(/server (\d+) at (.*)\./);
    const pid = Number(serverPid);
    const start = processStart(pid) ?? 'gone';
    expect(discoverService(dataDir)).toMatchObject({ pid: owner.pid, address });

    await owner.kill();
    expect(await waitUntilGone(pid, start, 5_000)).toBe(true);
    expect(discoverService(dataDir)).toBeUndefined();
    const next = await startTemporal({ dataDir, port: 0, ui: false });
    await next.stop();
  });

  test('keeps its database and log to the user', async () => {
    const dataDir = folder('private');
    const server = await startTemporal({ dataDir, port: 0, ui: false });
    await server.stop();
    expect(await readFile(server.logFile, 'utf8')).toContain('Temporal');
    const { stat } = await import('node:fs/promises');
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
  });
});
