/**
 * Records a history of every path through the workflows: `node test/replay/record.ts`.
 * Run it after a workflow has changed, until the first release; from then on `patched` keeps the old ones replaying.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Countersign, type SessionHandle } from '../../src/client/index.ts';
import { startTemporal } from '../../src/server/temporal.ts';
import { writeHistory } from './history-file.ts';
import { marks } from '../support/probe-tools.ts';
import { spawnWorker } from '../support/spawn-worker.ts';
import { type TestService, startTestService, testFolder } from '../support/worker.ts';

type Session = SessionHandle<Record<string, unknown>>;

const CONFIG = '{"approvals":{"timeout":"2s","ladder":[{"after":"500ms","remind":true}]}}';

const folder = join(import.meta.dirname, 'histories');

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Runs each path once; returns the ids of the calls. */
async function calls({ countersign, configure, log, workspace }: TestService, session: Session): Promise<void> {
  const { approvals } = countersign;
  await writeFile(join(workspace, 'hello.txt'), 'hello\n');
  await session.call('read', { path: 'hello.txt' }, { callId: 'quick-read' });
  await session.call('write', { path: 'a.txt', content: 'a' }, { callId: 'write' });
  await session.call('read', { path: '../x' }, { callId: 'denied-by-policy' });
  await session.call('probe_once', { log, mark: 'failed', fail: true }, { callId: 'failed' });

  const amended = await session.start('write', { path: 'b.txt' }, { callId: 'amended' });
  await amended.settled();
  await amended.amend({ path: 'b.txt', content: 'b' }, 1);
  await amended.outcome();

  const hopeless = await session.start('write', {}, { callId: 'invalid' });
  for (const attempt of [1, 2]) {
    await hopeless.settled(attempt - 1);
    await hopeless.amend({}, attempt);
  }
  await hopeless.outcome();

  const approved = await session.start('probe_elevated', { log, mark: 'approved' }, { callId: 'approved' });
  await approved.settled();
  await approvals.approve(approved.id, { approver: 'ada' });
  await approved.outcome();

  const edited = await session.start('probe_elevated', { log, mark: 'asked' }, { callId: 'approved-edited' });
  await edited.settled();
  await approvals.approve(edited.id, { approver: 'ada', arguments: { log, mark: 'edited' } });
  await edited.outcome();

  configure(CONFIG.replace('"timeout"', '"required":2,"timeout"'));
  const several = await session.start('probe_elevated', { log, mark: 'several' }, { callId: 'approved-by-two' });
  await several.settled();
  await approvals.approve(several.id, { approver: 'ada' });
  for (const approver of ['bob', 'ada']) {
    await approvals.approve(several.id, { approver, arguments: { log, mark: 'agreed' } });
  }
  await several.outcome();
  configure(CONFIG);

  const denied = await session.start('probe_elevated', { log, mark: 'denied' }, { callId: 'denied-by-person' });
  await denied.settled();
  await approvals.deny(denied.id, { approver: 'ada', reason: 'no' });
  await denied.outcome();

  await session.call('probe_elevated', { log, mark: 'expired' }, { callId: 'expired' });
  await session.call('probe_repeat', { log, mark: 'backoff', ms: 5_000, slowFirst: true }, { callId: 'backoff' });
  await session.call('probe_repeat', { log, mark: 'timed-out', ms: 5_000 }, { callId: 'timed-out' });

  const grants = countersign.grants(session.id);
  const waits = await session.start('probe_elevated', { log, mark: 'released' }, { callId: 'released-by-grant' });
  await waits.settled();
  for (const mark of ['released', 'granted']) {
    const exactly = { log: { exact: log }, mark: { exact: mark } };
    await grants.add({ tool: 'probe_elevated', arguments: exactly, forMs: 3_600_000, by: 'ada', id: mark });
  }
  await waits.outcome();
  await session.call('probe_elevated', { log, mark: 'granted' }, { callId: 'granted' });
  await grants.revoke('granted');
  await session.call('raed', {}, { callId: 'unknown-tool' });

  const { control } = countersign;
  await control.halt({ by: 'ada', reason: 'drill' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const held = await session.start('probe_once', { log, mark: 'held' }, { callId: 'held' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await control.resume({ by: 'ada', reason: 'over' });
  await held.outcome();

  const running = await session.start(
    'probe_once',
    { log, mark: 'cancelled', ms: 30_000 },
    { callId: 'cancelled-running' },
  );
  await until(async () => (await marks(log, 'begin cancelled')) === 1);
  await running.cancel();
  await running.outcome();

  const waiting = await session.start('probe_elevated', { log, mark: 'waiting' }, { callId: 'cancelled-waiting' });
  await waiting.settled();
  await waiting.cancel();
  await waiting.outcome();
}

/** A branch two deep, its approval, and the closing of it all. */
async function sessions({ countersign, log }: TestService, main: Session): Promise<void> {
  const parent = await main.branch({ id: 'parent' });
  const leaf = await parent.branch({ id: 'leaf' });
  const call = await leaf.start('probe_elevated', { log, mark: 'deep' }, { callId: 'deep' });
  await call.settled();
  await countersign.approvals.approve(call.id, { approver: 'ada' });
  await call.outcome();
  const closing = await leaf.start('probe_elevated', { log, mark: 'closing' }, { callId: 'closing' });
  await closing.settled();
  await main.close('recorded');
}

/** A `once` tool whose worker is killed: `unknown`. */
async function lost(address: string): Promise<void> {
  const home = await testFolder();
  const worker = await spawnWorker(address, 'lost', home);
  const countersign = await Countersign.connect<Record<string, unknown>>({ address, taskQueue: 'lost' });
  const session = await countersign.openSession({ id: 'lost', workspace: join(home, 'workspace') });
  const call = await session.start(
    'probe_once',
    { log: join(home, 'marks'), mark: 'lost', ms: 60_000 },
    { callId: 'unknown' },
  );
  await until(async () => (await marks(join(home, 'marks'), 'begin lost')) === 1);
  await worker.kill();
  await using next = await spawnWorker(address, 'lost', home);
  await call.outcome();
  await countersign.close();
  await next.kill();
  await rm(home, { recursive: true });
}

async function save(service: TestService, workflowId: string): Promise<void> {
  const history = await service.countersign.temporal.workflow.getHandle(workflowId).fetchHistory();
  const text = writeHistory(history)
    .replaceAll(hostname(), 'host')
    .replaceAll(/ state:[0-9a-f]{12}/g, '');
  await writeFile(join(folder, `${workflowId.replaceAll('/', '.')}.json`), text);
}

const dataDir = await mkdtemp(join(tmpdir(), 'countersign-record-'));
const server = await startTemporal({ dataDir, database: 'memory', port: 0, ui: false });
try {
  await using service = await startTestService({ address: server.address, taskQueue: 'countersign', config: CONFIG });
  const main = await service.countersign.openSession({ id: 'main', workspace: service.workspace });
  await calls(service, main);
  await sessions(service, main);
  await lost(server.address);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for await (const { workflowId, status } of service.countersign.temporal.workflow.list()) {
    if (status.name !== 'RUNNING' && !workflowId.startsWith('explain/')) await save(service, workflowId);
  }
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
