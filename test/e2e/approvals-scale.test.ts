/**
 * A thousand requests in one session that continues as new all the while, and two approvers who race for each of them: nothing is
 * lost, nothing doubled, and everybody is told the truth. Executions are counted by marks outside of Temporal.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { DecisionAnswer, SessionHandle, WaitingCall } from '../../src/client/index.ts';
import type { ApprovalRequest } from '../../src/protocol/approval.ts';
import { pooled } from '../bench/measure/pool.ts';
import { runCli } from '../cli/cli.fixture.ts';
import { openShort } from '../support/short-session.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const COUNT = 1_000;
const WAVE = 250;
const EVENTS = 500;
const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'approvals-scale' });
  session = await openShort(service, 'scale', EVENTS);
});
afterAll(() => service[Symbol.asyncDispose]());

const names = Array.from({ length: COUNT }, (_, i) => `scale-${i}`);
const sorted = (ids: readonly string[]): string[] => ids.toSorted();
const start = (callId: string) => session.start('probe_elevated', { log: service.log, mark: callId }, { callId });

const held = async (): Promise<string[]> => {
  const workflow = service.countersign.temporal.workflow.getHandle('session/scale');
  return (await workflow.query<ApprovalRequest[]>('pending')).map(({ callId }) => callId);
};
const listed = async (limit?: number): Promise<WaitingCall[]> =>
  service.countersign.approvals.pending({ session: 'scale', ...(limit !== undefined && { limit }) });

test(
  'a session holds a thousand requests over continue-as-new, lists each once, and refuses the next',
  { timeout: 180_000 },
  async () => {
    // Between the waves it has a quiet moment, which it needs to continue as new.
    for (let from = 0; from < COUNT; from += WAVE) {
      await pooled(WAVE, 20, (i) => start(names[from + i] ?? ''));
      await expect.poll(async () => (await held()).length, { timeout: 60_000, interval: 250 }).toBe(from + WAVE);
      await expect
        .poll(async () => (await session.view()).continuedAsNew, { timeout: 30_000 })
        .toBeGreaterThan(from / WAVE);
    }
    expect((await session.view()).continuedAsNew).toBeGreaterThanOrEqual(3);
    expect(sorted(await held())).toEqual(sorted(names));

    // Listings follow a moment later.
    await expect.poll(async () => (await listed()).length, { interval: 500 }).toBe(COUNT);
    const all = await listed();
    expect(sorted(all.map(({ callId }) => callId))).toEqual(sorted(names));
    expect((await listed(10)).map(({ id }) => id)).toEqual(all.slice(0, 10).map(({ id }) => id));

    const env = { TEMPORAL_ADDRESS: address, COUNTERSIGN_HOME: service.folder };
    const ran = await runCli(['pending', '--json', '--session', 'scale'], { env });
    expect(ran.status).toBe(0);
    expect(ran.lines().map(({ id, code }) => [id, code])).toEqual(all.map(({ id, code }) => [id, code]));
    const few = await runCli(['pending', '--json', '--session', 'scale', '--limit', '10'], { env });
    expect(few.lines().map(({ id }) => id)).toEqual(all.slice(0, 10).map(({ id }) => id));
    const page = await runCli(['pending', '--session', 'scale'], { env });
    expect(page.stdout.trim().split('\n')).toHaveLength(101);
    expect(page.stderr).toMatch(/^These are the newest 100 of 1,?\d{3} that wait/m);
    expect((await runCli(['pending', '--limit', '0'], { env })).status).toBe(2);

    expect(await (await start('one-too-many')).outcome()).toMatchObject({
      status: 'denied',
      error: { code: 'too_many_pending' },
      tries: 0,
    });
  },
);

/** Each pair decides at the same moment; who comes first is left to chance. In every fourth they agree. */
async function race(callId: string, i: number): Promise<void> {
  const { approvals } = service.countersign;
  const open = await approvals.show(`call/scale/${callId}`);
  const agree = i % 4 === 0;
  const ada = () => approvals.approve(open, { approver: 'ada' });
  const bob = () =>
    agree ? approvals.approve(open, { approver: 'bob' }) : approvals.deny(open, { approver: 'bob', reason: 'no' });
  const [first, second] = await Promise.all(i % 2 === 0 ? [ada(), bob()] : [bob(), ada()]);
  const [answerOfAda, answerOfBob] = i % 2 === 0 ? [first, second] : [second, first];
  const outcome = await session.callHandle(callId).outcome();
  const ran = outcome.status === 'completed';
  expect(outcome).toMatchObject(ran ? { tries: 1 } : { status: 'denied', tries: 0 });
  const winner = String(outcome.approval?.approver);
  if (agree) expect([ran, ['ada', 'bob'].includes(winner)]).toEqual([true, true]);
  else expect(winner).toBe(ran ? 'ada' : 'bob');
  const [won, lost] = winner === 'ada' ? [answerOfAda, answerOfBob] : [answerOfBob, answerOfAda];
  expectHonest(won, lost, { agree, winner });
}

/** An answer that is lost when the session continues as new is asked for again, and then is that of a repeat. */
function expectHonest(
  won: DecisionAnswer,
  lost: DecisionAnswer,
  { agree, winner }: { agree: boolean; winner: string },
): void {
  expect(['accepted', 'already_decided']).toContain(won.answer);
  expect(lost.answer).toBe(agree ? 'already_decided' : 'conflict');
  expect(lost.message).toContain(winner);
}

test(
  'of two approvers who race one wins, the other is told, and what ran is what the winner said',
  { timeout: 180_000 },
  async () => {
    const before = (await session.view()).continuedAsNew;
    // A session has ten updates under way at most; with more, everybody waits for those who are told to try again.
    await pooled(COUNT, 4, (i) => race(names[i] ?? '', i));
    expect(await held()).toEqual([]);
    expect((await session.view()).continuedAsNew).toBeGreaterThan(before);

    const ran = new Map<string, number>();
    for (const line of (await readFile(service.log, 'utf8')).split('\n')) {
      const [, mark] = /^begin (.+)$/.exec(line) ?? [];
      if (mark !== undefined) ran.set(mark, (ran.get(mark) ?? 0) + 1);
    }
    const outcomes = await pooled(COUNT, 20, async (i) => (await session.callHandle(names[i] ?? '').outcome()).status);
    const expected = names.filter((_, i) => outcomes[i] === 'completed').map((name): [string, number] => [name, 1]);
    expect(sorted([...ran.keys()])).toEqual(sorted(expected.map(([name]) => name)));
    expect([...ran.values()].every((times) => times === 1)).toBe(true);
    expect(expected.length).toBeGreaterThanOrEqual(COUNT / 4);
    expect(expected.length).toBeLessThan(COUNT);
  },
);
