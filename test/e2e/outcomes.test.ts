/** Each row of the outcomes, on a real server. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { type Decision, sealDecisions } from '../../src/protocol/approval.ts';
import { eventNames } from '../support/history.ts';
import { marks } from '../support/probe-tools.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'outcomes', config: '{"approvals":{"timeout":"2s"}}' });
  session = await service.countersign.openSession({ id: 'outcomes', workspace: service.workspace });
});
afterAll(() => service[Symbol.asyncDispose]());

const eventTypes = (callId: string): Promise<string[]> =>
  eventNames(service.countersign.temporal, `call/outcomes/${callId}`);

describe('completed', () => {
  test('a quick read takes six events', async () => {
    await writeFile(join(service.workspace, 'hello.txt'), 'hello\n');
    const outcome = await session.call('read', { path: 'hello.txt' }, { callId: 'quick' });
    expect(outcome).toMatchObject({ status: 'completed', attempts: 1, tries: 1 });
    expect(JSON.stringify(outcome.output)).toContain('hello');
    expect(await eventTypes('quick')).toHaveLength(6);
  });

  test('another allowed call takes at most twelve', async () => {
    const outcome = await session.call('write', { path: 'new.txt', content: 'x\n' }, { callId: 'write' });
    expect(outcome).toMatchObject({ status: 'completed', attempts: 1, tries: 1 });
    expect(await readFile(join(service.workspace, 'new.txt'), 'utf8')).toBe('x\n');
    expect((await eventTypes('write')).length).toBeLessThanOrEqual(12);
  });
});

test('failed: the tool says why', async () => {
  const outcome = await session.call('probe_once', { log: service.log, mark: 'failing', fail: true });
  expect(outcome).toMatchObject({
    status: 'failed',
    error: { kind: 'ExecutionError', code: 'tool_failed', message: 'the probe failed as it was told to' },
    tries: 1,
  });
});

describe('invalid', () => {
  test('two amendments are taken, the third attempt runs', async () => {
    const call = await session.start('write', { path: 1, content: 'a' }, { callId: 'amended' });
    const first = await call.settled();
    expect(first).toMatchObject({
      state: 'waiting',
      seq: 1,
      waiting: { for: 'correction', attempt: 1, error: { code: 'invalid_arguments', field: '/path' } },
    });
    expect(await call.amend({ path: 'amended.txt', contents: 'a' }, 1)).toMatchObject({ answer: 'accepted' });
    const second = await call.settled(1);
    expect(second).toMatchObject({ state: 'waiting', seq: 2, waiting: { attempt: 2 } });
    // Who comes now is told what is waited for now, not what was when somebody asked first.
    expect(await call.settled()).toEqual(second);
    expect(await call.now()).toEqual(second);
    expect(await call.amend({ path: 'amended.txt', content: 'a' }, 2)).toMatchObject({ answer: 'accepted' });
    const outcome = await call.outcome();
    expect(outcome).toMatchObject({ status: 'completed', attempts: 3, tries: 1 });
    expect(await call.now()).toEqual({ state: 'done', outcome });
  });

  test('after the third attempt the call ends, and its session is told', async () => {
    const call = await session.start('write', {}, { callId: 'hopeless' });
    await call.settled();
    await call.amend({}, 1);
    await call.settled(1);
    await call.amend({}, 2);
    const outcome = await call.outcome();
    expect(outcome).toMatchObject({
      status: 'invalid',
      attempts: 3,
      tries: 0,
      error: { kind: 'ValidationError', code: 'invalid_arguments' },
    });
    expect(outcome.error?.schema).toMatchObject({ type: 'object' });
    await expect
      .poll(async () => (await session.view()).notices)
      .toContainEqual(expect.objectContaining({ kind: 'call_invalid', session: 'outcomes', callId: 'hopeless' }));
  });

  test('an amendment of another attempt, or of a call that has ended, is refused', async () => {
    const call = await session.start('write', {}, { callId: 'amend-twice' });
    await call.settled();
    expect(await call.amend({ path: 'b', content: 'b' }, 2)).toMatchObject({ answer: 'not_waiting_for_correction' });
    expect(await call.amend({ path: 'b', content: 'b' }, 1)).toMatchObject({ answer: 'accepted' });
    await call.outcome();
    expect(await call.amend({ path: 'b', content: 'b' }, 1)).toMatchObject({ answer: 'not_waiting_for_correction' });
  });
});

test('denied: by policy, with the rule', async () => {
  const outcome = await session.call('read', { path: '../outside' });
  expect(outcome).toMatchObject({
    status: 'denied',
    error: { kind: 'PermissionDenied', code: 'outside_workspace' },
    tries: 0,
  });
});

describe('approval', () => {
  test('approved: runs once, and the record says who let it', async () => {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'approved' }, { callId: 'approved' });
    expect(await call.settled()).toMatchObject({ state: 'waiting', waiting: { for: 'approval' } });
    expect(await marks(service.log, 'begin approved')).toBe(0);
    expect(await service.countersign.approvals.approve(call.id, { approver: 'ada', reason: 'fine' })).toMatchObject({
      answer: 'accepted',
    });
    expect(await call.outcome()).toMatchObject({
      status: 'completed',
      approval: { approver: 'ada', verified: false, decision: 'approve', reason: 'fine' },
    });
    expect(await marks(service.log, 'begin approved')).toBe(1);
    expect(await service.countersign.approvals.approve(call.id, { approver: 'bob' })).toMatchObject({
      answer: 'already_decided',
    });
    expect(await service.countersign.approvals.deny(call.id, { approver: 'bob', reason: 'no' })).toMatchObject({
      answer: 'conflict',
    });
    expect(await marks(service.log, 'begin approved')).toBe(1);
  });

  test('denied: the model sees the reason', async () => {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'refused' });
    await call.settled();
    expect(await service.countersign.approvals.deny(call.id, { approver: 'ada', reason: 'not today' })).toMatchObject({
      answer: 'accepted',
    });
    const outcome = await call.outcome();
    expect(outcome).toMatchObject({ status: 'denied', error: { code: 'approval_denied' }, tries: 0 });
    expect(outcome.error?.message).toContain('not today');
    expect(await marks(service.log, 'begin refused')).toBe(0);
  });

  test('expired: nobody decided', async () => {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'expired' });
    expect(await call.outcome()).toMatchObject({ status: 'expired', error: { code: 'approval_expired' }, tries: 0 });
    await expect.poll(async () => (await session.view()).pending).toBe(0);
    await expect(service.countersign.approvals.show(call.id)).rejects.toMatchObject({ code: 'call_not_found' });
  });

  test('edited arguments run in place of those asked for, an invalid edit leaves the request waiting', async () => {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'asked' });
    await call.settled();
    const { approvals } = service.countersign;
    expect(await approvals.approve(call.id, { arguments: { log: service.log } })).toMatchObject({
      answer: 'invalid_edit',
      field: '/mark',
    });
    expect(
      await approvals.approve(call.id, { approver: 'ada', arguments: { log: service.log, mark: 'edited' } }),
    ).toMatchObject({ answer: 'accepted' });
    expect(await call.outcome()).toMatchObject({
      status: 'completed',
      output: { ran: 'edited' },
      approval: { edited: true, arguments: { log: service.log, mark: 'edited' } },
    });
    expect(await marks(service.log, 'begin asked')).toBe(0);
  });

  test('an edit to what policy denies leaves the request waiting; past its session it ends the call, and nothing is written', async () => {
    const rules = [
      { tool: 'write', when: { path: { under: 'secrets' } }, effect: 'deny', reason: 'Secrets are ours.' },
    ];
    service.configure(JSON.stringify({ rules }));
    try {
      // Of its own: a session goes on holding what was decided past it.
      const edits = await service.countersign.openSession({ id: 'outcomes-edits', workspace: service.workspace });
      const start = async (callId: string) => {
        const call = await edits.start('write', { path: '.github/workflows/ci.yml', content: 'x\n' }, { callId });
        expect(await call.settled()).toMatchObject({ state: 'waiting' });
        return call;
      };
      const denied = [
        ['.git/config', 'protected_path', /git/],
        ['secrets/key', 'policy_denied', /Secrets are ours/],
      ] as const;
      const call = await start('edit-denied');
      const { approvals } = service.countersign;
      for (const [path, , why] of denied) {
        const answer = await approvals.approve(call.id, { approver: 'ada', arguments: { path, content: 'x\n' } });
        expect(answer).toMatchObject({ answer: 'invalid_edit', message: expect.stringMatching(why) as string });
      }
      expect(await call.settled()).toMatchObject({ state: 'waiting' });
      await call.cancel();
      for (const [path, code] of denied) {
        const callId = `edit-past-${code}`;
        const past = await start(callId);
        const { digest } = (await approvals.show(past.id)).request;
        const decision: Decision = {
          session: edits.id,
          callId,
          digest,
          decision: 'approve',
          approver: 'ada',
          arguments: { path, content: 'x\n' },
        };
        await service.countersign.temporal.workflow
          .getHandle(past.id)
          .signal('decision', sealDecisions([decision], false));
        expect(await past.outcome()).toMatchObject({ status: 'denied', error: { code } });
        expect(existsSync(join(service.workspace, path))).toBe(false);
      }
    } finally {
      service.configure('{"approvals":{"timeout":"2s"}}');
    }
  });
});

describe('timed_out', () => {
  test('a repeatable tool is tried again after a growing wait', async () => {
    const outcome = await session.call(
      'probe_repeat',
      { log: service.log, mark: 'slow-first', ms: 5_000, slowFirst: true },
      { callId: 'backoff' },
    );
    expect(outcome).toMatchObject({ status: 'completed', tries: 2 });
    expect(await eventTypes('backoff')).toContain('timerFired');
  });

  test('after the last try the call ends', async () => {
    const outcome = await session.call('probe_repeat', { log: service.log, mark: 'always-slow', ms: 5_000 });
    expect(outcome).toMatchObject({ status: 'timed_out', tries: 3, error: { kind: 'Timeout', code: 'timeout' } });
    expect(await marks(service.log, 'begin always-slow')).toBe(3);
  });
});

describe('cancelled', () => {
  test('while it runs', async () => {
    const call = await session.start('probe_once', { log: service.log, mark: 'cancel-me', ms: 30_000 });
    await expect.poll(() => marks(service.log, 'begin cancel-me'), { timeout: 5_000 }).toBe(1);
    await call.cancel();
    expect(await call.outcome()).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' }, tries: 1 });
    expect(await marks(service.log, 'end cancel-me')).toBe(0);
  });

  test('while it waits for a person, and the request is taken back', async () => {
    const call = await session.start('probe_elevated', { log: service.log, mark: 'withdrawn' });
    await call.settled();
    await call.cancel();
    const outcome = await call.outcome();
    expect(outcome).toMatchObject({ status: 'cancelled', tries: 0 });
    expect(outcome.error?.message).toBe('The call ended because somebody cancelled it. Nothing ran.');
    await expect.poll(async () => (await session.view()).pending).toBe(0);
  });
});

test('explain says what would become of a call, by the rules of now, and runs nothing', async () => {
  const args = { log: service.log, mark: 'explained' };
  expect(await session.explain('probe_elevated', args)).toMatchObject({
    verdict: 'ask',
    tier: 'elevated',
    tierReasons: [],
    rule: 'tier.elevated',
    reason: 'elevated calls need an approval',
  });
  expect(await session.explain('read', { path: '../x' })).toMatchObject({
    verdict: 'deny',
    error: { code: 'outside_workspace' },
  });
  expect(await session.explain('raed', {})).toMatchObject({
    verdict: 'invalid',
    tier: null,
    error: { code: 'unknown_tool' },
  });
  expect(await marks(service.log, 'begin explained')).toBe(0);
});
