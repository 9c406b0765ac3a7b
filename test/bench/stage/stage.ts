/** What the rows run on: the service as `countersign start` starts it, in a home of its own, and the floors beside it. */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { Countersign, type SessionHandle } from '../../../src/client/index.ts';
import { type Service, startService } from '../../../src/server/service.ts';
import { type Floor, openFloor } from './floor.ts';

export interface Stage extends AsyncDisposable {
  home: string;
  workspace: string;
  service: Service;
  /** Eager: client and worker share this process and its connection. */
  countersign: Countersign;
  /** The main session that rows use unless they open their own. */
  session: SessionHandle;
  floor: Floor;
}

/** Environment in which the service and the CLI use that home and nothing of the user's. */
export function homeEnvironment(home: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_') && name !== 'NODE_OPTIONS');
  return { ...Object.fromEntries(own), COUNTERSIGN_HOME: home, NO_COLOR: '1', ...more };
}

/** Agents for calls that take long: one agent has at most ten running at once. */
export const SLOW_AGENTS = ['slow-1', 'slow-2', 'slow-3', 'slow-4', 'slow-5'] as const;

/** A folder with a home and a workspace that has a file of 2 KB. */
export async function openFolder(): Promise<{ home: string; workspace: string; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-bench-')));
  // Also when the run is interrupted.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, 'workspace');
  await mkdir(workspace);
  await writeFile(join(workspace, 'two-kb.txt'), `${'a line of thirty-two characters\n'.repeat(64)}`);
  return { home: join(folder, 'home'), workspace, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function openStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const { home, workspace, remove } = await openFolder();
  stack.defer(remove);
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env['COUNTERSIGN_HOME'] = home;
  await mkdir(join(home, 'config'), { recursive: true });
  const agents = Object.fromEntries(SLOW_AGENTS.map((name) => [name, {}]));
  const configFile = join(home, 'config', 'countersign.config.jsonc');
  await writeFile(configFile, JSON.stringify({ agents }));
  const log = pino({ level: 'info' }, pino.destination(join(workspace, '..', 'service.log')));
  const service = await startService({ configFile, port: 0, uiPort: 0, trust: workspace, log });
  stack.defer(() => service.stop());
  const { connection } = service.worker.client;
  if (!(connection instanceof NativeConnection)) throw new Error('the worker has no native connection');
  const floor = stack.use(await openFloor(connection, service.namespace));
  const countersign = await Countersign.connect({ worker: service.worker });
  const session = await countersign.openSession({ workspace });
  const owned = stack.move();
  return { home, workspace, service, countersign, session, floor, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
