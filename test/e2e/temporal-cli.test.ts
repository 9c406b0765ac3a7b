/** The lines of docs/operations.md for Temporal's own command and UI do what is said of them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { getTemporal } from '../../src/server/find-temporal.ts';
import { ROOT } from '../support/processes.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;
let program: string;
let section: string;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'temporal-cli' });
  session = await service.countersign.openSession({ id: 'by-hand', workspace: service.workspace });
  program = (await getTemporal()).path;
  const text = await readFile(join(ROOT, 'docs', 'operations.md'), 'utf8');
  section = text.slice(
    text.indexOf("### With Temporal's own command and UI"),
    text.indexOf('### What `audit --verify`'),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

async function asked(callId: string): Promise<{ id: string; said: (text: string) => string }> {
  const call = await session.start('probe_elevated', { log: service.log, mark: callId }, { callId });
  await call.settled();
  const { request } = await service.countersign.approvals.show(call.id);
  const words = { 'session/MAIN': 'session/by-hand', 'CALL-ID': callId, 'sha256:…': request.digest };
  const said = (text: string): string =>
    Object.entries(words)
      .reduce((filled, [word, value]) => filled.replaceAll(word, value), text)
      .replaceAll('/SESSION/', '/by-hand/')
      .replaceAll('"SESSION"', '"by-hand"');
  return { id: call.id, said };
}

/** The one line that begins so, run by a shell as it stands. */
async function run(beginning: string, said: (text: string) => string): Promise<string> {
  const lines = section.split('\n').filter((line) => line.startsWith(beginning));
  expect(lines).toHaveLength(1);
  const script = `temporal() { "$PROGRAM" "$@" --address "$SERVER" -o json; }\n${said(lines[0] ?? '')}`;
  const env = { ...process.env, PROGRAM: program, SERVER: address };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
  return stdout;
}

const result = async (said: (text: string) => string): Promise<string> =>
  run('temporal workflow result', said).catch((error: { stdout?: string }) => String(error.stdout));

test('what waits, what would run, a denial by update, and how it ended', async () => {
  const { id, said } = await asked('updated');
  await expect.poll(() => run('temporal workflow list', said)).toContain(`"${id}"`);
  expect(await run('temporal workflow query --workflow-id session/MAIN', said)).toContain('"updated"');
  expect(await run('temporal workflow query --workflow-id call/', said)).toContain('"mark"');
  expect(await run('temporal workflow update execute', said)).toContain('accepted');
  expect(await result(said)).toContain('ann denied this call: not today');
});

test('a denial by signal', async () => {
  const { said } = await asked('signalled');
  await run('temporal workflow signal', said);
  expect(await result(said)).toContain('ann denied this call');
});

test('what is pasted into the UI approves; with signatures required it is a bad signature, and the call waits on', async () => {
  const { id, said } = await asked('pasted');
  const json = /```json\n(.*)\n```/.exec(section)?.[1] ?? '';
  const main = service.countersign.temporal.workflow.getHandle('session/by-hand');
  const sent = () => main.executeUpdate('decide', { args: [JSON.parse(said(json))] });
  service.configure('{"approvals":{"signatures":"required","approvers":[{"name":"ann"}]}}');
  expect(await sent()).toMatchObject({ answer: 'bad_signature' });
  expect(await run('temporal workflow update execute', said)).toContain('bad_signature');
  await run('temporal workflow signal', said);
  await expect
    .poll(async () =>
      (await session.view()).notices.filter(({ kind, callId }) => kind === 'bad_signature' && callId === 'pasted'),
    )
    .toHaveLength(3);
  expect(await service.countersign.approvals.show(id)).toMatchObject({ id });
  service.configure('{}');
  expect(await sent()).toMatchObject({ answer: 'accepted' });
  expect(await session.callHandle('pasted').outcome()).toMatchObject({
    status: 'completed',
    approval: { approver: 'ann' },
  });
  expect(await marks(service.log, 'begin pasted')).toBe(1);
});
