/** What crash tests kill: a server that keeps its data, and a worker in a process of its own; and a session whose calls live through that. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Countersign, type SessionHandle } from '../../src/client/index.ts';
import { startTemporal } from '../../src/server/temporal.ts';
import { spawnWorker } from './spawn-worker.ts';
import { testFolder } from './worker.ts';

export interface CrashStage extends AsyncDisposable {
  folder: string;
  /** Of the server, also when it is back. */
  address: string;
  countersign: Countersign<Record<string, unknown>>;
  /** Its id is `crash`. */
  session: SessionHandle<Record<string, unknown>>;
  /** A file for probes' marks. */
  log: string;
  /** SIGKILL; resolves when it is gone. */
  killWorker(): Promise<void>;
  /** Resolves when it takes work. */
  startWorker(): Promise<void>;
  /** SIGKILL; resolves when it is back at its address. */
  killServer(): Promise<void>;
}

export async function openCrashStage(): Promise<CrashStage> {
  await using stack = new AsyncDisposableStack();
  const folder = await testFolder();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const startServer = (port: number) => startTemporal({ dataDir: join(folder, 'temporal'), port, ui: false });
  let server = await startServer(0);
  stack.defer(() => server.stop());
  const { address } = server;
  let worker = await spawnWorker(address, 'countersign', folder);
  stack.defer(() => worker.kill());
  const countersign = stack.use(await Countersign.connect<Record<string, unknown>>({ address }));
  const session = await countersign.openSession({ id: 'crash', workspace: join(folder, 'workspace') });
  const owned = stack.move();
  return {
    folder,
    address,
    countersign,
    session,
    log: join(folder, 'marks'),
    killWorker: () => worker.kill(),
    startWorker: async () => void (worker = await spawnWorker(address, 'countersign', folder)),
    killServer: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
      server = await startServer(Number(address.split(':')[1]));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
