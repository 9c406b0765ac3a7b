import { PassThrough } from 'node:stream';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { facts } from '../../src/notify/notice.ts';
import { ROOT } from '../support/processes.ts';
import { noticeOf, receiver, silent } from './support.ts';

test('a line in the log', async () => {
  const warn = vi.fn();
  expect(await tellAll([openNotifier({ type: 'log' }, { log: { warn } })], noticeOf())).toEqual({
    told: ['log'],
    failed: [],
  });
  expect(warn.mock.calls).toEqual([
    [
      {
        channel: 'inbox',
        session: 'leaf',
        callId: 'c1',
        tool: 'shell',
        tier: 'elevated',
        route: ['leaf', 'main'],
        kind: 'requested',
      },
      "Approval needed #RRRRRR: shell (elevated); countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'",
    ],
  ]);
});

test.each([
  [[], 'role lead'],
  [[{ role: 'lead', at: 1, approvers: ['ann', 'bob'] }], 'role lead: ann, bob'],
  [[{ role: 'lead', at: 1, approvers: [] }], 'role lead: nobody of it may decide'],
])('which role is asked, and who of it may decide: %j', (roles, text) => {
  const notice = noticeOf(undefined, { kind: 'reassigned', role: 'lead' });
  const view = notice.view && { ...notice.view, mayDecide: { required: 1, approvers: [], roles: roles.map(inTime) } };
  expect(facts({ ...notice, ...(view && { view }) })).toContainEqual({ name: 'Asked of', value: text });
});
const inTime = <Role extends object>(role: Role) => ({ ...role, inMs: 0 });

test('a bell and a line on a real terminal', async () => {
  const fixture = join(ROOT, 'test/notify/terminal.fixture.ts');
  // util-linux gives it a terminal of its own.
  const { stdout } = await promisify(execFile)('script', ['-qec', `'${process.execPath}' '${fixture}'`, '/dev/null']);
  expect(stdout).toContain(
    "\u0007\rApproval needed #RRRRRR: a⟨U+001B⟩[2J⏎b (elevated); countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'\r",
  );
  expect(stdout).toContain('{"told":["terminal"],"failed":[]}');
});

test('what is no terminal is not written to', async () => {
  const terminal = new PassThrough();
  expect(await tellAll([openNotifier({ type: 'terminal' }, { ...silent, terminal })], noticeOf())).toEqual({
    told: [],
    failed: [{ type: 'terminal', reason: 'the service was not started on a terminal' }],
  });
  expect(terminal.read()).toBeNull();
});

test('all are told, whichever fail', async () => {
  await using dead = await receiver('hang');
  await using alive = await receiver(200);
  vi.stubEnv('DEAD', dead.url);
  vi.stubEnv('ALIVE', alive.url);
  const warn = vi.fn();
  const notifiers = [
    openNotifier({ type: 'slack', urlEnv: 'DEAD' }, silent),
    openNotifier({ type: 'slack', urlEnv: 'MISSING_SLACK_URL' }, silent),
    openNotifier({ type: 'slack', urlEnv: 'ALIVE' }, silent),
    openNotifier({ type: 'log' }, { log: { warn } }),
    { type: 'terminal' as const, tell: () => Promise.reject(new Error('with https://secret.example/ in it')) },
  ];
  const since = Date.now();
  expect(await tellAll(notifiers, noticeOf(), 1_000)).toEqual({
    told: ['slack', 'log'],
    failed: [
      { type: 'slack', reason: 'no answer in time' },
      { type: 'slack', reason: 'environment variable MISSING_SLACK_URL is missing or empty' },
      { type: 'terminal', reason: 'it failed in a way that was not foreseen' },
    ],
  });
  expect(Date.now() - since).toBeLessThan(2_500);
  expect(alive.received).toHaveLength(1);
  expect(warn).toHaveBeenCalledTimes(1);
  vi.unstubAllEnvs();
});

test('a request whose call could not be asked is told of by its name', async () => {
  await using hook = await receiver(200);
  vi.stubEnv('HOOK', hook.url);
  const { view: _, ...bare } = noticeOf();
  await tellAll([openNotifier({ type: 'slack', urlEnv: 'HOOK' }, silent)], bare);
  expect(hook.received[0]?.body).toContain('call/leaf/c1');
  vi.unstubAllEnvs();
});
