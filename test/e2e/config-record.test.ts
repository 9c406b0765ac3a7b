/** Changes of the configuration on record, on a server of their own: there is one record in a namespace. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configLog } from '../../src/client/config-log.ts';
import { readHistory } from '../../src/client/history.ts';
import { parseConfig } from '../../src/config/index.ts';
import { CONFIG_CHANGED } from '../../src/protocol/config-change.ts';
import { CONTROL_WORKFLOW_ID } from '../../src/protocol/control.ts';
import { createConfigRecorder } from '../../src/server/config-recorder.ts';
import { type TemporalServer, startTemporal } from '../../src/server/temporal.ts';
import { updateControl } from '../../src/client/update-control.ts';
import { type TestService, startTestService } from '../support/worker.ts';

let dataDir: string;
let server: TemporalServer;
let service: TestService;

const open = (port: number): Promise<TemporalServer> => startTemporal({ dataDir, port, ui: false });

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'countersign-record-'));
  server = await open(0);
  service = await startTestService({ address: server.address, taskQueue: 'countersign' });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const silent = pino({ level: 'silent' });
const denying = (...deny: string[]) => parseConfig(JSON.stringify({ deny }), 'test.jsonc');
const placesOnRecord = async (): Promise<unknown[]> =>
  (await configLog(service.worker.client, 100)).map((one) => (one.kind === 'changed' ? one.changes : one.error));

test('while the server is away nobody waits, and what was reported is on record when it is back, in order', async () => {
  using recorder = createConfigRecorder(service.worker, silent);
  recorder.loaded(denying('read'), 'start');
  await expect.poll(placesOnRecord).toEqual([[]]);

  await server.stop();
  const began = performance.now();
  recorder.loaded(denying('write'), 'reload');
  recorder.refused('/etc/test.jsonc', 'no JSON', denying('write'));
  recorder.loaded(denying('edit'), 'reload');
  expect(performance.now() - began).toBeLessThan(1_000);
  await new Promise((resolve) => setTimeout(resolve, 1_500));

  server = await open(Number(server.address.split(':')[1]));
  await expect
    .poll(placesOnRecord, { timeout: 60_000, interval: 500 })
    .toEqual([
      [{ place: 'deny', before: 'write', after: 'edit' }],
      'no JSON',
      [{ place: 'deny', before: 'read', after: 'write' }],
      [],
    ]);
}, 90_000);

test('a start with a file that was refused, and is no longer as it was in force then, says so', async () => {
  const file = '/etc/refused.jsonc';
  const at = (...deny: string[]) => ({ ...denying(...deny), path: file });
  const said: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void said.push(JSON.parse(line) as Record<string, unknown>) });
  /** One start after the other; gives the hash that is on record then. */
  const start = async (...deny: string[]): Promise<void> => {
    using recorder = createConfigRecorder(service.worker, log);
    recorder.loaded(at(...deny), 'start');
    recorder.refused(file, `no JSON, at the start with ${deny.join()}`, at(...deny));
    await expect.poll(async () => (await placesOnRecord())[0]).toContain(deny.join());
  };
  await start('list');
  await start('list');
  expect(said).toEqual([]);
  await start('list', 'stat');
  expect(said).toMatchObject([
    {
      path: file,
      refused: 'no JSON, at the start with list',
      msg: expect.stringContaining('`countersign policy log` has both') as string,
    },
  ]);
});

test('the list goes on when the workflow continues as new, and knows what was on record', async () => {
  const report = (hash: string) => ({
    kind: 'loaded',
    on: 'reload',
    worker: 'test',
    file: null,
    hash,
    places: { deny: hash },
  });
  const change = (hash: string) =>
    updateControl(service.worker.client, service.worker.taskQueue, CONFIG_CHANGED, report(hash));
  const runId = async (): Promise<string> =>
    (await service.worker.client.workflow.getHandle(CONTROL_WORKFLOW_ID).describe()).runId;
  await change('start');
  const first = await runId();
  let last = 0;
  while ((await runId()) === first && last < 5_000) {
    for (let round = 0; round < 20; round += 1) {
      const hashes = Array.from({ length: 8 }, () => `h${(last += 1)}`);
      // At the moment at which it continues as new an update meets no run; a worker sends it again, as it was.
      await Promise.all(hashes.map((hash) => change(hash).catch(() => change(hash))));
    }
  }
  expect(await runId()).not.toBe(first);
  expect((await readHistory(service.worker.client, CONTROL_WORKFLOW_ID)).length).toBeLessThan(1_000);
  await change('after');
  await expect(change('after')).rejects.toMatchObject({ cause: { type: 'config_known' } });
  const records = await configLog(service.worker.client, 10_000);
  expect(records.filter((one) => one.kind === 'changed' && one.before === null)).toHaveLength(1);
  const hashes = records.map(({ hash }) => hash);
  expect(hashes[0]).toBe('after');
  // With those of the test before.
  expect([hashes.length, new Set(hashes).size]).toEqual([last + 10, last + 7]);
  expect(await configLog(service.worker.client, 3)).toHaveLength(3);
}, 120_000);

test('what was on record stays there when another control workflow takes the place of this one', async () => {
  const { client, taskQueue } = service.worker;
  const before = await configLog(client, 10_000);
  await client.workflow.getHandle(CONTROL_WORKFLOW_ID).terminate('put aside');
  const anew = { kind: 'loaded', on: 'start', worker: 'test', file: null, hash: 'anew', places: {} };
  await updateControl(client, taskQueue, CONFIG_CHANGED, anew);
  const records = await configLog(client, 10_000);
  expect(records[0]).toMatchObject({ hash: 'anew', before: null });
  expect(records.slice(1)).toEqual(before);
}, 60_000);
