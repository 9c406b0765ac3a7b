/** The emergency stop, and an agent's share of a worker, on a server of their own: a halt holds for a whole namespace. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { pino } from 'pino';
import { watchHalt } from '../../src/activities/halt-watch.ts';
import { signResume } from '../../src/approval/sign.ts';
import { parseConfig } from '../../src/config/index.ts';
import type { Halt } from '../../src/protocol/control.ts';
import { type TemporalServer, startTemporal } from '../../src/server/temporal.ts';
import { approver } from '../approval/support.ts';
import { marks, probeTools } from '../support/probe-tools.ts';
import { type RawStart, STRANGE, startRaw } from '../support/raw-workflow.ts';
import { type TestService, startTestService } from '../support/worker.ts';

let dataDir: string;
let server: TemporalServer;
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'countersign-halt-'));
  server = await startTemporal({ dataDir, database: 'memory', port: 0, ui: false });
  service = await startTestService({
    address: server.address,
    taskQueue: 'countersign',
    config: '{"limits":{"running":2,"queued":3}}',
  });
  session = await service.countersign.openSession({ id: 'halt', workspace: service.workspace });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const args = (mark: string, ms = 0) => ({ log: service.log, mark, ms });

test(
  'while halted nothing new runs, waiting stays waiting, and resuming lets all of it go on',
  { timeout: 60_000 },
  async () => {
    const { control, approvals } = service.countersign;
    const running = await session.start('probe_once', args('running', 4_000));
    await expect.poll(() => marks(service.log, 'begin running')).toBe(1);
    const waiting = await session.start('probe_elevated', args('waiting'));
    await waiting.settled();

    expect(await control.halt({ by: 'ada', reason: 'fire drill' })).toMatchObject({ by: 'ada', reason: 'fire drill' });
    expect(await control.halt({ by: 'bob', reason: 'again' })).toMatchObject({ by: 'ada', reason: 'fire drill' });
    expect(await control.halted()).toMatchObject({ by: 'ada' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    const once = await session.start('probe_once', args('held'));
    const read = await session.start('list', { path: '.' });
    expect(await approvals.approve(waiting.id, { approver: 'ada' })).toMatchObject({ answer: 'accepted' });
    expect(await running.outcome()).toMatchObject({ status: 'completed' });
    for (const mark of ['held', 'waiting']) expect(await marks(service.log, `begin ${mark}`)).toBe(0);

    await control.resume({ by: 'ada', reason: 'over' });
    expect(await control.halted()).toBeUndefined();
    expect(await once.outcome()).toMatchObject({ status: 'completed', tries: 1 });
    expect(await read.outcome()).toMatchObject({ status: 'completed', tries: 1 });
    expect(await waiting.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada' } });
    for (const mark of ['held', 'waiting']) expect(await marks(service.log, `begin ${mark}`)).toBe(1);
  },
);

test('a call that waits for its agent’s turn does not begin when the turn comes during a halt', async () => {
  const { control } = service.countersign;
  const running = await Promise.all(['a', 'b'].map((mark) => session.start('probe_once', args(`turn-${mark}`, 3_000))));
  await expect.poll(() => marks(service.log, 'begin turn-a')).toBe(1);
  await expect.poll(() => marks(service.log, 'begin turn-b')).toBe(1);
  const queued = await session.start('probe_once', args('turn-c'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await control.halt({ by: 'ada', reason: 'in between' });
  for (const call of running) expect(await call.outcome()).toMatchObject({ status: 'completed' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await marks(service.log, 'begin turn-c')).toBe(0);
  await control.resume({ by: 'ada', reason: 'over' });
  expect(await queued.outcome()).toMatchObject({ status: 'completed', tries: 1 });
});

test('a held call can be cancelled', async () => {
  await service.countersign.control.halt({ by: 'ada', reason: 'again' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const call = await session.start('probe_once', args('never'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await call.cancel();
  expect(await call.outcome()).toMatchObject({ status: 'cancelled' });
  await service.countersign.control.resume({ by: 'ada', reason: 'over' });
  expect(await marks(service.log, 'begin never')).toBe(0);
});

// ── with signatures required ────────────────────────────────────────────────

const ada = approver('ada');
const bob = approver('bob', { may: ['elevated'] });
const mallory = approver('mallory');
const required = JSON.stringify({
  approvals: { signatures: 'required', approvers: [ada.listed, bob.listed] },
});

/** What another worker of this state folder believes, started anew. */
async function believed(): Promise<{ halted: Halt | undefined; warnings: string[] }> {
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const { client } = service.worker;
  const settings = () => parseConfig(required, 'test.jsonc', probeTools);
  using watch = await watchHalt({ client, settings, stateDir: service.stateDir, log });
  return { halted: watch.halted(), warnings };
}

/** A control workflow of a stranger: its memo says what they like, and nobody has to run it. */
const inItsPlace = (memo: Record<string, unknown>) =>
  service.worker.client.workflow.start('control', {
    workflowId: 'countersign-control',
    taskQueue: 'nobody',
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    memo,
  });

test(
  'a halt ends only by the signed resume of one who may; whatever a stranger does in the namespace, nothing runs',
  { timeout: 90_000 },
  async () => {
    service.configure(required);
    const { control, temporal } = service.countersign;
    const handle = temporal.workflow.getHandle('countersign-control');

    const first = await control.halt({ by: 'anybody', reason: 'drill' });
    await control.resume({ reason: 'over', signer: ada.signer });
    const replayed = (await handle.describe()).memo?.['countersignResume'];
    expect(replayed).toMatchObject({ by: 'ada', halt: first.id, signature: expect.any(String) as string });

    const halt = await control.halt({ by: 'anybody', reason: 'fire' });
    expect(halt.id).not.toBe(first.id);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const held = await session.start('probe_once', args('signed-halt'));

    for (const resume of [
      { by: 'ada', reason: 'over' },
      { reason: 'over', signer: bob.signer },
      { reason: 'over', signer: { ...mallory.signer, name: 'ada' } },
    ]) {
      await expect(control.resume(resume)).rejects.toMatchObject({ code: 'bad_signature' });
      expect(await control.halted()).toMatchObject({ id: halt.id });
    }
    await expect(handle.executeUpdate('resume', { args: [replayed] })).rejects.toThrow();

    const elsewhere = await signResume({ halt, namespace: 'elsewhere', reason: 'over' }, ada.signer);
    const stranger = await signResume({ halt, namespace: 'default', reason: 'over' }, mallory.signer);
    const forgeries: Record<string, unknown>[] = [
      {},
      { countersignHalt: null, countersignResume: null },
      { countersignHalt: null, countersignResume: { by: 'ada', reason: 'over' } },
      { countersignHalt: null, countersignResume: replayed },
      { countersignHalt: null, countersignResume: elsewhere },
      { countersignHalt: null, countersignResume: { ...stranger, by: 'ada' } },
      { countersignHalt: { ...first, at: Date.now() + 3_600_000 }, countersignResume: replayed },
    ];
    for (const memo of forgeries) {
      await inItsPlace(memo);
      const { halted, warnings } = await believed();
      expect([halted?.id, warnings.length]).toEqual([halt.id, 1]);
      expect(warnings[0]).toContain('a resume was not believed');
    }
    // Nor does an earlier halt take its place, whose resume is known.
    await inItsPlace({ countersignHalt: first, countersignResume: null });
    expect((await believed()).halted).toEqual(halt);
    await inItsPlace({ countersignHalt: null, countersignResume: replayed });
    expect((await believed()).halted).toEqual(halt);
    await handle.terminate();
    expect((await believed()).halted).toMatchObject({ id: halt.id });
    // Longer than the worker takes to look, and to try again what it holds.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await marks(service.log, 'begin signed-halt')).toBe(0);

    // The way out: whoever may resume halts anew, and resumes that.
    await control.halt({ by: 'ada', reason: 'mine' });
    await expect.poll(async () => (await believed()).halted, { timeout: 5_000 }).toMatchObject({ reason: 'mine' });
    await control.resume({ reason: 'over', signer: ada.signer });
    expect(await held.outcome()).toMatchObject({ status: 'completed', tries: 1 });
    expect(await believed()).toEqual({ halted: undefined, warnings: [] });
    service.configure('{"limits":{"running":2,"queued":3}}');
  },
);

test('whoever says which halt they saw ends no other, signed or not', { timeout: 30_000 }, async () => {
  const { control } = service.countersign;
  const seen = await control.halt({ by: 'ann', reason: 'drill' });
  await control.resume({ by: 'ann', reason: 'over' });
  const real = await control.halt({ by: 'bob', reason: 'fire' });
  for (const resume of [
    { by: 'carl', reason: 'drill is over' },
    { signer: ada.signer, reason: 'drill is over' },
  ]) {
    await expect(control.resume({ ...resume, halt: seen })).rejects.toMatchObject({ code: 'bad_signature' });
    expect(await control.halted()).toEqual(real);
  }
  await control.resume({ by: 'bob', reason: 'out', halt: real });
  expect(await control.halted()).toBeUndefined();
});

test.each<[string, Omit<RawStart, 'workflowId'>]>([
  ['whose memo nobody can decode', { type: 'control', taskQueue: 'countersign', memo: { strange: STRANGE } }],
  ['whose arguments are none', { type: 'control', taskQueue: 'countersign', input: STRANGE }],
  ['that nobody runs', { type: 'strange' }],
])('a halt is heard in the place of a stranger’s control workflow %s', { timeout: 60_000 }, async (_, stranger) => {
  const { control, temporal } = service.countersign;
  await temporal.workflow
    .getHandle('countersign-control')
    .terminate()
    .catch(() => undefined);
  await startRaw(temporal, { workflowId: 'countersign-control', ...stranger });
  expect(await control.halted()).toBeUndefined();
  const halt = await control.halt({ by: 'ada', reason: 'fire' });
  expect(halt).toMatchObject({ by: 'ada', reason: 'fire' });
  expect(await control.halted()).toEqual(halt);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const mark = randomUUID();
  const call = await session.start('probe_once', args(mark));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await marks(service.log, `begin ${mark}`)).toBe(0);
  expect(await control.halt({ by: 'bob', reason: 'again' })).toEqual(halt);
  await control.resume({ by: 'ada', reason: 'over' });
  expect(await control.halted()).toBeUndefined();
  expect(await call.outcome()).toMatchObject({ status: 'completed' });
});

test(
  'an agent has so many calls running, so many waiting, and more are told to come back',
  { timeout: 60_000 },
  async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) => session.call('probe_once', args(`busy-${i}`, 1_500))),
    );
    const statuses = outcomes.map(({ status, error }) => error?.code ?? status);
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(5);
    expect(statuses.filter((status) => status === 'too_many_calls')).toHaveLength(3);
  },
);
