/** Sessions, their children, and how requests travel, on a real server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import type { ApprovalRequest } from '../../src/protocol/approval.ts';
import { marks } from '../support/probe-tools.ts';
import { openShort } from '../support/short-session.ts';
import { type TestService, startTestService } from '../support/worker.ts';

type Session = SessionHandle<Record<string, unknown>>;

const address = inject('temporalAddress');
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'sessions', config: '{"agents":{"helper":{}}}' });
});
afterAll(() => service[Symbol.asyncDispose]());

const open = (id: string, options: object = {}): Promise<Session> =>
  service.countersign.openSession({ id, workspace: service.workspace, ...options });

const temporal = () => service.countersign.temporal;
const pendingAt = (id: string): Promise<ApprovalRequest[]> =>
  temporal().workflow.getHandle(`session/${id}`).query('pending');

describe('opening', () => {
  test('the same id with the same start data is the same session', async () => {
    const first = await open('same');
    const second = await open('same');
    expect(second.facts).toEqual(first.facts);
    await expect(open('same', { agent: 'helper' })).rejects.toMatchObject({ code: 'session_exists' });
  });

  test.each([
    ['an untrusted workspace', { workspace: '/usr' }, 'untrusted_workspace'],
    ['the root folder', { workspace: '/' }, 'untrusted_workspace'],
    ['an undeclared agent', { agent: 'nobody' }, 'undeclared'],
    ['an undeclared channel', { channel: 'pager' }, 'undeclared'],
    ['an undeclared owner', { owner: 'mallory' }, 'undeclared'],
    ['an id with a slash', { id: 'a/b' }, 'invalid_id'],
  ])('%s is refused', async (_what, options, code) => {
    await expect(open(`refused-${code}`, options)).rejects.toMatchObject({ code });
  });

  test.each([
    ['no workspace', { workspace: undefined }],
    ['a number as workspace', { workspace: 5 }],
    ['a number as agent', { agent: 7 }],
    ['an option that is not known', { kind: 'worker' }],
  ])('%s is wrong usage, and nothing is started', async (what, options) => {
    const id = what.replaceAll(' ', '-');
    await expect(open(id, options)).rejects.toMatchObject({ code: 'invalid_usage' });
    await expect(service.countersign.session(id)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('one that was started by hand without a workspace ends, and is no session to anybody', async () => {
    const facts = { id: 'no-folder', kind: 'main', main: 'no-folder', depth: 0, agent: 'default', channel: null };
    const started = await temporal().workflow.start('session', {
      workflowId: 'session/no-folder',
      taskQueue: 'sessions',
      args: [{}],
      memo: { countersignSession: facts },
    });
    await expect(started.result()).rejects.toThrow();
    await expect(service.countersign.session('no-folder')).rejects.toMatchObject({ code: 'session_not_found' });
    const all = await service.countersign.sessions({ all: true });
    expect(all.map((one) => one.facts.id)).not.toContain('no-folder');
  });

  test('a refused session may be tried again', async () => {
    await expect(open('again', { agent: 'nobody' })).rejects.toMatchObject({ code: 'undeclared' });
    expect((await open('again')).id).toBe('again');
  });

  test('a session that does not exist, or was closed, takes no calls', async () => {
    await expect(service.countersign.session('missing')).rejects.toMatchObject({ code: 'session_not_found' });
    const session = await open('to-close');
    await session.close();
    await expect(service.countersign.session('to-close')).rejects.toMatchObject({ code: 'session_closed' });
    await expect(open('to-close')).rejects.toMatchObject({ code: 'session_closed' });
    expect(await session.call('read', { path: 'x' })).toMatchObject({
      status: 'denied',
      error: { code: 'session_closed' },
    });
  });
});

describe('calls of one id', () => {
  test('with the same content they are one call, with other content an error', async () => {
    const session = await open('ids');
    const args = { log: service.log, mark: 'one-id' };
    const [first, second] = await Promise.all([
      session.call('probe_once', args, { callId: 'same' }),
      session.call('probe_once', args, { callId: 'same' }),
    ]);
    expect(second).toEqual(first);
    expect(await session.call('probe_once', args, { callId: 'same' })).toEqual(first);
    expect(await marks(service.log, 'begin one-id')).toBe(1);
    await expect(session.start('probe_once', { ...args, mark: 'other' }, { callId: 'same' })).rejects.toMatchObject({
      code: 'call_id_reused',
    });
    await expect(session.start('probe_once', args, { callId: 'a/b' })).rejects.toMatchObject({ code: 'invalid_id' });
  });
});

describe('children', () => {
  test('a request bubbles up three levels to main, its route hop by hop, while other calls go on', async () => {
    const main = await open('up-main');
    const one = await main.branch({ id: 'up-1' });
    const two = await one.branch({ id: 'up-2' });
    const call = await two.start('probe_elevated', { log: service.log, mark: 'deep' }, { callId: 'deep' });
    expect(await call.settled()).toMatchObject({ state: 'waiting' });
    await expect
      .poll(async () => (await pendingAt('up-main')).map(({ route }) => route))
      .toEqual([['up-2', 'up-1', 'up-main']]);
    expect(await two.call('probe_once', { log: service.log, mark: 'meanwhile' })).toMatchObject({
      status: 'completed',
    });
    expect(Buffer.byteLength(JSON.stringify((await pendingAt('up-main'))[0]))).toBeLessThanOrEqual(512);
    expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
      answer: 'accepted',
    });
    expect(await call.outcome()).toMatchObject({ status: 'completed', approval: { approver: 'ada' } });
  });

  test('a worker session reads and never writes', async () => {
    await writeFile(join(service.workspace, 'shared.txt'), 'shared\n');
    const worker = await (await open('w-main')).branch({ id: 'w-1', kind: 'worker' });
    expect(await worker.call('read', { path: 'shared.txt' })).toMatchObject({ status: 'completed' });
    expect(await worker.call('write', { path: 'shared.txt', content: 'changed' })).toMatchObject({ status: 'denied' });
    expect(await worker.call('shell', { command: 'true' })).toMatchObject({ status: 'denied' });
    expect(await readFile(join(service.workspace, 'shared.txt'), 'utf8')).toBe('shared\n');
    await expect(worker.branch({ id: 'w-2' })).rejects.toMatchObject({ code: 'session_limit' });
  });

  test('depth is limited, ids are not shared, a workspace lies inside of its parent', async () => {
    const main = await open('limits');
    let deepest: Session = main;
    for (const id of ['limits-1', 'limits-2', 'limits-3']) deepest = await deepest.branch({ id });
    await expect(deepest.branch({ id: 'limits-4' })).rejects.toMatchObject({ code: 'session_limit' });
    await expect(main.branch({ id: 'limits-1', kind: 'worker' })).rejects.toMatchObject({ code: 'session_exists' });
    await expect(main.branch({ id: 'limits-3' })).rejects.toMatchObject({ code: 'session_exists' });
    await expect(main.branch({ id: 'limits-x', workspace: '/usr' })).rejects.toMatchObject({
      code: 'untrusted_workspace',
    });
    await expect(main.branch({ id: 'limits-y', agent: 'nobody' })).rejects.toMatchObject({ code: 'undeclared' });
    await expect
      .poll(async () => (await main.view()).notices)
      .toContainEqual(expect.objectContaining({ kind: 'child_failed', session: 'limits-y' }));
  });

  test('with no channel above there is no approver', async () => {
    const main = await open('mute', { channel: null });
    const branch = await main.branch({ id: 'mute-1' });
    for (const session of [main, branch]) {
      const outcome = await session.call('probe_elevated', { log: service.log, mark: 'mute' });
      expect(outcome).toMatchObject({ status: 'denied', error: { code: 'no_approver' }, tries: 0 });
    }
    expect(await marks(service.log, 'begin mute')).toBe(0);
  });

  test('when main was terminated, a branch has no approver', async () => {
    const branch = await (await open('orphan')).branch({ id: 'orphan-1' });
    await temporal().workflow.getHandle('session/orphan').terminate('gone');
    const outcome = await branch.call('probe_elevated', { log: service.log, mark: 'orphan' });
    expect(outcome).toMatchObject({ status: 'denied', error: { code: 'no_approver' } });
  });

  test('what waits in a branch that was terminated is withdrawn by the first decision, and the call ends', async () => {
    const main = await open('lost');
    const branch = await main.branch({ id: 'lost-1' });
    const args = { log: service.log, mark: 'lost' };
    const call = await branch.start('probe_elevated', args, { callId: 'lost' });
    await expect.poll(() => pendingAt('lost')).toHaveLength(1);
    await temporal().workflow.getHandle('session/lost-1').terminate('gone');
    expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toEqual({
      answer: 'not_pending',
      message: 'The session of the call is closed, so the call ends: nothing of it ran.',
    });
    expect(await call.outcome()).toMatchObject({ status: 'denied', error: { code: 'session_closed' }, tries: 0 });
    expect(await pendingAt('lost')).toEqual([]);
    expect(await main.call('probe_once', { ...args, mark: 'main goes on' })).toMatchObject({ status: 'completed' });
    expect(await marks(service.log, 'begin lost')).toBe(0);
  });

  test('what waits in a branch that closes is withdrawn, and main stays open', async () => {
    const main = await open('left');
    const branch = await main.branch({ id: 'left-1' });
    const args = { log: service.log, mark: 'left' };
    const call = await branch.start('probe_elevated', args, { callId: 'left' });
    // One that was terminated takes nothing back itself.
    const terminated = await branch.start('probe_elevated', args, { callId: 'terminated' });
    await expect.poll(() => pendingAt('left')).toHaveLength(2);
    await temporal().workflow.getHandle(terminated.id).terminate('gone');
    await branch.close();
    expect(await call.outcome()).toMatchObject({ status: 'denied', error: { code: 'session_closed' }, tries: 0 });
    expect(await pendingAt('left')).toEqual([]);
    expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
      answer: 'not_pending',
    });
    expect(await main.call('probe_once', { ...args, mark: 'main stays' })).toMatchObject({ status: 'completed' });
  });

  test('an invalid call of a branch is told to its parent', async () => {
    const main = await open('tell');
    const branch = await main.branch({ id: 'tell-1' });
    const call = await branch.start('write', {}, { callId: 'wrong' });
    await call.settled();
    await call.amend({}, 1);
    await call.settled(1);
    await call.amend({}, 2);
    await call.outcome();
    await expect
      .poll(async () => (await main.view()).notices)
      .toContainEqual(expect.objectContaining({ kind: 'call_invalid', session: 'tell-1', callId: 'wrong' }));
  });
});

describe('closing', () => {
  test('is recursive: waiting calls are denied, running ones cancelled, children closed', async () => {
    const main = await open('close');
    const branch = await main.branch({ id: 'close-1' });
    const leaf = await branch.branch({ id: 'close-2' });
    const waiting = await leaf.start('probe_elevated', { log: service.log, mark: 'closing' });
    const correcting = await branch.start('write', {});
    const running = await branch.start('probe_once', { log: service.log, mark: 'closing-run', ms: 60_000 });
    await waiting.settled();
    await correcting.settled();
    await expect.poll(() => marks(service.log, 'begin closing-run')).toBe(1);
    const closed = await main.close('done');
    expect(closed).toEqual({ reason: 'done', callsEnded: 0, callsLeft: 0, childrenLeft: [] });
    expect(await waiting.outcome()).toMatchObject({ status: 'denied', error: { code: 'session_closed' } });
    expect(await correcting.outcome()).toMatchObject({ status: 'denied', error: { code: 'session_closed' } });
    expect(await running.outcome()).toMatchObject({ status: 'cancelled', tries: 1 });
    for (const id of ['close-1', 'close-2']) {
      await expect(service.countersign.session(id)).rejects.toMatchObject({ code: 'session_closed' });
    }
  });

  test(
    'has no more children, answers who asks until its end, and leaves nobody below it at work',
    { timeout: 60_000 },
    async () => {
      const main = await open('late');
      const branch = await main.branch({ id: 'late-1' });
      const closed = main.close('done');
      let refused = 0;
      let over = false;
      void closed.then(() => (over = true));
      for (let i = 0; !over; i += 1) {
        await Promise.all(
          [main, branch].map((session) =>
            session.branch({ id: `late-x-${i}` }).then(
              () => undefined,
              () => (refused += 1),
            ),
          ),
        );
      }
      expect(await closed).toMatchObject({ reason: 'done', childrenLeft: [] });
      expect(refused).toBeGreaterThan(0);
      // Listings follow a moment later.
      const openBelow = async (): Promise<string[]> =>
        (await service.countersign.sessions({ all: true }))
          .filter(({ facts, state }) => facts.main === 'late' && state !== 'closed')
          .map(({ facts }) => facts.id);
      await expect.poll(openBelow).toEqual([]);
      expect(await branch.call('write', { path: 'late.txt', content: '' })).toMatchObject({
        status: 'denied',
        error: { code: 'session_closed' },
      });
    },
  );

  test('cancelling a session in the Temporal UI closes it', async () => {
    const session = await open('ui-cancel');
    await temporal().workflow.getHandle('session/ui-cancel').cancel();
    await expect.poll(async () => (await session.view()).state).toBe('closing');
    expect(await session.close()).toMatchObject({ reason: 'cancelled' });
  });
});

describe('continue as new', () => {
  const continued = async (session: Session): Promise<number> => (await session.view()).continuedAsNew;

  /** Signals that change nothing but the length of the history. */
  const lengthen = async (session: Session, times: number): Promise<void> => {
    const before = await continued(session);
    while ((await continued(session)) < before + times) {
      await temporal()
        .workflow.getHandle(`session/${session.id}`)
        .signal('withdrawApproval', { session: 'none', callId: 'none', runId: 'none' });
    }
  };

  test(
    'a branch that waits for approval survives three of them in main and in its parent',
    { timeout: 60_000 },
    async () => {
      const main = await openShort(service, 'can', 15);
      const parent = await main.branch({ id: 'can-1' });
      const branch = await parent.branch({ id: 'can-2' });
      const call = await branch.start('probe_elevated', { log: service.log, mark: 'can' }, { callId: 'can' });
      await call.settled();
      await expect.poll(async () => (await pendingAt('can')).length).toBe(1);
      await lengthen(main, 3);
      await lengthen(parent, 3);
      // Sent once more by who had no answer from the run before: the same child, and no other.
      expect((await main.branch({ id: 'can-1' })).facts).toEqual(parent.facts);
      await expect(main.branch({ id: 'can-1', agent: 'other' })).rejects.toMatchObject({ code: 'session_exists' });
      expect((await main.view()).children).toEqual(['can-1']);
      expect((await parent.view()).children).toEqual(['can-2']);
      const second = await branch.start(
        'probe_elevated',
        { log: service.log, mark: 'can-after' },
        { callId: 'can-after' },
      );
      await second.settled();
      await expect.poll(async () => (await pendingAt('can')).length).toBe(2);
      expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
        answer: 'accepted',
      });
      expect(await call.outcome()).toMatchObject({ status: 'completed' });
      await lengthen(main, 1);
      expect(await service.countersign.approvals.approve(call.id, { approver: 'ada' })).toMatchObject({
        answer: 'already_decided',
      });
      expect(await service.countersign.approvals.approve(second.id, { approver: 'ada' })).toMatchObject({
        answer: 'accepted',
      });
      expect(await second.outcome()).toMatchObject({ status: 'completed' });
      await main.close();
      await expect(service.countersign.session('can-2')).rejects.toMatchObject({ code: 'session_closed' });
    },
  );

  test('decisions that arrive meanwhile are all answered, each once', { timeout: 60_000 }, async () => {
    const main = await openShort(service, 'can-busy', 15);
    const calls = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        main.start('probe_elevated', { log: service.log, mark: `busy-${i}` }, { callId: `busy-${i}` }),
      ),
    );
    await Promise.all(calls.map((call) => call.settled()));
    await expect.poll(async () => (await pendingAt('can-busy')).length).toBe(12);
    const answers = await Promise.all(
      calls.flatMap((call) => [
        service.countersign.approvals.approve(call.id, { approver: 'ada' }),
        service.countersign.approvals.deny(call.id, { approver: 'bob', reason: 'no' }),
      ]),
    );
    // An answer that was lost when the session continued as new is asked for again: the decision was taken, and is told so.
    const taken = answers.filter(({ answer }) => answer === 'accepted' || answer === 'already_decided');
    expect(taken.map(({ answer }) => answer)).toHaveLength(12);
    expect(answers.filter(({ answer }) => answer === 'conflict')).toHaveLength(12);
    const outcomes = await Promise.all(calls.map((call) => call.outcome()));
    for (const [i, { status }] of outcomes.entries()) {
      expect(await marks(service.log, `begin busy-${i}`)).toBe(status === 'completed' ? 1 : 0);
    }
    expect(await continued(main)).toBeGreaterThan(0);
  });
});
