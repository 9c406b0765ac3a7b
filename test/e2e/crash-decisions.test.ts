/**
 * Kills the worker, the server and the command while decisions are at every step: sent, taken by the session, told to the call,
 * executing, recorded, answered. A dozen decisions follow each other so closely that one kill meets them at all of these at once.
 * None may be lost and none doubled, counted by marks that each execution leaves in a file.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallHandle } from '../../src/client/index.ts';
import { isCountersignError } from '../../src/protocol/errors.ts';
import type { Outcome } from '../../src/protocol/outcome.ts';
import { pooled } from '../bench/measure/pool.ts';
import { until } from '../bench/measure/until.ts';
import { runCli } from '../cli/cli.fixture.ts';
import { type CrashStage, openCrashStage } from '../support/crash-stage.ts';
import { marks } from '../support/probe-tools.ts';

let stage: CrashStage;
beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const kills = {
  worker: async (): Promise<void> => {
    await stage.killWorker();
    await stage.startWorker();
  },
  server: (): Promise<void> => stage.killServer(),
};

const CALLS = 12;
/** Milliseconds between two decisions; one takes 100 to 300. */
const APART_MS = 35;

/** Every third is denied. */
type Verdict = 'approve' | 'deny';
const verdictOf = (i: number): Verdict => (i % 3 === 2 ? 'deny' : 'approve');

interface Decided {
  call: CallHandle;
  mark: string;
  verdict: Verdict;
}

const waiting = (round: string): Promise<Decided[]> =>
  pooled(CALLS, 6, async (i) => {
    const mark = `${round}-${i}`;
    const call = await stage.session.start('probe_elevated', { log: stage.log, mark, ms: 40 }, { callId: mark });
    expect(await call.settled()).toMatchObject({ state: 'waiting' });
    return { call, mark, verdict: verdictOf(i) };
  });

const decide = async ({ call, verdict }: Decided): Promise<string> => {
  const { approvals } = stage.countersign;
  const decision =
    verdict === 'approve'
      ? approvals.approve(call.id, { approver: 'ada' })
      : approvals.deny(call.id, { approver: 'ada', reason: 'no' });
  return (await decision).answer;
};

/** How many decisions of a round have come how far, as seen from outside. */
interface Progress {
  sent: number;
  begun: number;
  ended: number;
}

/** When the kill comes. Those that follow are at earlier steps by then, those before at later ones. */
const moments: Record<string, (progress: Progress) => boolean> = {
  'three are sent': ({ sent }) => sent >= 3,
  'one executes': ({ begun }) => begun >= 1,
  'four have run': ({ ended }) => ended >= 4,
};

async function countMarks(round: string): Promise<Pick<Progress, 'begun' | 'ended'>> {
  const lines = (await readFile(stage.log, 'utf8').catch(() => '')).split('\n');
  const count = (start: string): number => lines.filter((line) => line.startsWith(`${start} ${round}-`)).length;
  return { begun: count('begin'), ended: count('end') };
}

/** It ended as decided. Where the worker was lost in the middle of an execution, nobody can say, and so it is said. */
async function expectAsDecided({ mark, verdict }: Decided, outcome: Outcome, workerLost: boolean): Promise<void> {
  const ran = [await marks(stage.log, `begin ${mark}`), await marks(stage.log, `end ${mark}`)];
  const told = [mark, outcome.error?.code ?? outcome.status, ...ran];
  if (verdict === 'deny') expect(told).toEqual([mark, 'approval_denied', 0, 0]);
  else if (outcome.status === 'unknown' && workerLost) expect(ran[0]).toBeLessThanOrEqual(1);
  else expect(told).toEqual([mark, 'completed', 1, 1]);
}

const table = Object.keys(kills).flatMap((victim) =>
  Object.keys(moments).map((moment): [keyof typeof kills, string] => [victim as keyof typeof kills, moment]),
);

test.for(table)('the %s is killed when of many decisions %s', { timeout: 90_000 }, async ([victim, moment]) => {
  const round = `${victim}-${moment.replaceAll(' ', '-')}`;
  const calls = await waiting(round);
  const progress = { sent: 0 };
  const first = calls.map(async (one, i) => {
    await sleep(i * APART_MS);
    progress.sent += 1;
    // Without a server there is no answer; the decision may have been taken, or not.
    return decide(one).catch((error: unknown) => (isCountersignError(error) ? error.code : String(error)));
  });
  const come = async (): Promise<boolean> => moments[moment]?.({ ...progress, ...(await countMarks(round)) }) ?? false;
  await until(come, moment, { everyMs: 1 });
  await kills[victim]();
  const answers = await Promise.all(first);
  for (const [i, one] of calls.entries()) {
    expect(['accepted', 'already_decided', 'no_service']).toContain(answers[i]);
    const repeated = await decide(one);
    if (answers[i] === 'no_service') expect(['accepted', 'already_decided']).toContain(repeated);
    else expect(repeated).toBe('already_decided');
    await expectAsDecided(one, await one.call.outcome(), victim === 'worker');
  }
  const left = async (): Promise<string[]> =>
    (await stage.countersign.approvals.pending({ session: 'crash' }))
      .map(({ id }) => id)
      .filter((id) => id.includes(round));
  await expect.poll(left).toEqual([]);
});

test('the command is killed at any moment of a decision', { timeout: 90_000 }, async () => {
  const calls = await waiting('cli');
  const env = { TEMPORAL_ADDRESS: stage.address, COUNTERSIGN_HOME: join(stage.folder, 'home') };
  const command = ({ call, verdict }: Decided): string[] =>
    verdict === 'approve' ? ['approve', call.id, '--json'] : ['deny', call.id, '--reason', 'no', '--json'];
  const [whole, ...killed] = calls;
  if (!whole) throw new Error('there are no calls');
  const since = performance.now();
  expect((await runCli(command(whole), { env })).json()).toMatchObject({ answer: 'accepted' });
  const wholeMs = performance.now() - since;
  const statuses: (number | string)[] = [];
  const repeats: unknown[] = [];
  for (const [i, one] of killed.entries()) {
    // From where it has hardly started to where it is about to end.
    const afterMs = wholeMs * (0.4 + (0.6 * i) / killed.length);
    const { status } = await runCli(command(one), {
      env,
      started: (child) => void sleep(afterMs).then(() => child.kill('SIGKILL')),
    });
    statuses.push(status);
    repeats.push((await runCli(command(one), { env })).json()['answer']);
    await expectAsDecided(one, await one.call.outcome(), false);
  }
  expect(statuses).toContain('SIGKILL');
  for (const repeat of repeats) expect(['accepted', 'already_decided']).toContain(repeat);
  await expectAsDecided(whole, await whole.call.outcome(), false);
});
