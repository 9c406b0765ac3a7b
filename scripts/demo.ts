/**
 * `npm run demo`: the main job, on real input, in under a minute and without anybody's help. It brings its own service,
 * configuration and git repository, says what it shows, and ends with status 1 where an outcome is not the one expected.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallHandle, Countersign, Outcome, SessionHandle } from '../src/client/index.ts';
import { type Check, checkAll, short } from './demo/checks.ts';
import { MENDED_SLUG, pushedCommit, pushedTags } from './demo/repository.ts';
import { outcome, result, say, scene, title } from './demo/screen.ts';
import { type Stage, clearStage, clearStageOnSignals, setStage, unlessInterrupted } from './demo/stage.ts';

/** Requests wait for this long: enough to decide two, short enough to let the third expire. */
const CONFIG = '{ "approvals": { "timeout": "28s" } }';

clearStageOnSignals();
let status = 1;
try {
  status = (await Promise.race([play(), late()])) ? 0 : 1;
} catch (error) {
  await unlessInterrupted();
  console.error(`✗ The demo stopped: ${error instanceof Error ? error.message : String(error)}`);
}
await clearStage();
process.stdout.write('', () => process.exit(status));

/** Half a minute is usual; a machine that is busy gets three. */
async function late(): Promise<never> {
  await sleep(180_000);
  throw new Error('it took longer than three minutes.');
}

async function play(): Promise<boolean> {
  title('Countersign: an agent mends a program, and people decide what is dangerous.');
  scene('A service of its own: Temporal, a worker process, and a git repository with a fault');
  const stage = await setStage(CONFIG);
  const { countersign, repository } = stage;
  const main = await countersign.openSession({ id: 'main', workspace: repository.workspace });
  say('session main, in the working copy; its requests for approval go to a person');

  const read = await readAndSearch(main);
  const write = await amendedWrite(main);
  const branch = await main.branch({ id: 'branch' });
  const tests = await runTests(branch);
  const asked = await askForElevated(branch, stage);
  const lost = await killInTheMiddle(branch, main, stage);
  await decide(countersign, asked);
  const outcomes = {
    ...{ read, write, tests, meanwhile: asked.meanwhile, whileDown: lost.whileDown },
    ...(await waitForTheRest({ ...asked, running: lost.running })),
  };
  scene('The audit of all of it, as countersign audit prints it');
  for (const name of ['main', 'branch', 'call/branch/push']) {
    say('');
    await stage.cli('audit', name);
  }
  scene('Each outcome, checked against what it must be');
  return checkAll(await checks(outcomes, stage));
}

async function readAndSearch(main: SessionHandle): Promise<Outcome> {
  scene('Reads and searches run at once: nothing about them needs a person');
  const read = await main.call('read', { path: 'slug.sh' }, { callId: 'read' });
  outcome('read slug.sh', read);
  const search = await main.call('search', { pattern: 'TODO' }, { callId: 'search' });
  outcome('search TODO', search);
  return read;
}

async function amendedWrite(main: SessionHandle): Promise<Outcome> {
  scene('A write with wrong arguments is told what is wrong, and amended: the same call goes on');
  const call = await main.startUntyped('write', { path: 'slug.sh', text: MENDED_SLUG }, { callId: 'write' });
  const first = await call.settled();
  if (first.state !== 'waiting' || first.waiting.for !== 'correction') throw new Error('the write was not invalid');
  const { error } = first.waiting;
  result('write slug.sh', 'waiting', `for a correction of ${error.field ?? '?'}: ${error.message}`);
  await call.amend({ path: 'slug.sh', content: MENDED_SLUG }, first.waiting.attempt);
  const written = await call.outcome();
  outcome('write slug.sh, attempt 2', written);
  return written;
}

async function runTests(branch: SessionHandle): Promise<Outcome> {
  scene('A branch session (a child workflow) runs the tests in a sandbox: no network, nothing but the workspace');
  const tests = await branch.call('shell', { command: 'sh test.sh' }, { callId: 'tests' });
  outcome('shell sh test.sh', tests);
  return tests;
}

interface Asked {
  push: CallHandle;
  remove: CallHandle;
  tag: CallHandle;
  meanwhile: Outcome;
}

async function askForElevated(branch: SessionHandle, { countersign, repository }: Stage): Promise<Asked> {
  scene('The branch asks for what is elevated. Its requests go up to main, and it works on meanwhile');
  const outside = { sandbox: false, reason: 'the remote lies outside of the sandbox' };
  const [push, remove, tag] = await Promise.all([
    branch.start(
      'shell',
      { command: "git commit -qam 'Keep digits' && git push -q origin main", ...outside },
      { callId: 'push' },
    ),
    branch.start('delete', { path: repository.release, recursive: true }, { callId: 'delete' }),
    branch.start('shell', { command: 'git tag v1.1 && git push -q origin v1.1', ...outside }, { callId: 'tag' }),
  ]);
  await Promise.all([push, remove, tag].map((call) => call.settled()));
  for (const { code, request, arguments: args, tier } of await openRequests(countersign, [push, remove, tag])) {
    const what = String(args['command'] ?? args['path']).replace(/^.*\/(?=releases)/, '…/');
    result(`${code} ${request.tool}: ${what}`, 'waiting', `${tier}, asked by ${request.route.join(' → ')}`);
  }
  const meanwhile = await branch.call('list', {}, { callId: 'meanwhile' });
  outcome('list, by the same branch', meanwhile);
  return { push, remove, tag, meanwhile };
}

/** What each call asks, once main holds its request. */
async function openRequests(countersign: Countersign, calls: CallHandle[]) {
  const main = countersign.temporal.workflow.getHandle('session/main');
  type Held = { callId: string; route: string[] }[];
  let held: Held = [];
  while (held.length < calls.length) held = await main.query<Held>('pending');
  const routes = new Map(held.map(({ callId, route }) => [callId, route]));
  const shown = await Promise.all(calls.map(({ id }) => countersign.approvals.show(id)));
  return shown.map((open) => ({ ...open, request: { ...open.request, route: routes.get(open.request.callId) ?? [] } }));
}

async function killInTheMiddle(
  branch: SessionHandle,
  main: SessionHandle,
  stage: Stage,
): Promise<{ running: CallHandle; whileDown: Outcome }> {
  scene('The worker is killed (SIGKILL) in the middle of a command, and started again');
  const running = await branch.start('shell', { command: 'echo ran >> runs.log; sleep 60' }, { callId: 'killed' });
  while ((await runs(stage)) === 0) await sleep(50);
  await stage.killWorker();
  say('the worker is gone: a command ran in it, three requests wait');
  const call = await main.start('read', { path: 'test.sh', limit: 1 }, { callId: 'while-down' });
  await stage.startWorker();
  const whileDown = await call.outcome();
  outcome('read test.sh, called while there was no worker', whileDown);
  const pending = await stage.countersign.approvals.pending();
  say(
    `${pending.length} requests still wait: ${pending
      .map(({ callId }) => callId)
      .toSorted()
      .join(', ')}`,
  );
  return { running, whileDown };
}

async function decide({ approvals }: Countersign, { push, remove }: Asked): Promise<void> {
  scene('A person approves one request, denies another, and leaves the third alone');
  const approved = await approvals.approve(push.id, { approver: 'ann', reason: 'the tests pass' });
  result('approve the push', approved.answer, approved.message);
  const denied = await approvals.deny(remove.id, { approver: 'ann', reason: 'release 1.0 is still in use' });
  result('deny the delete', denied.answer, denied.message);
}

type Rest = 'push' | 'remove' | 'tag' | 'running';

async function waitForTheRest({
  push,
  remove,
  tag,
  running,
}: Record<Rest, CallHandle>): Promise<Record<Rest, Outcome>> {
  const pushed = await push.outcome();
  outcome('push', pushed);
  const removed = await remove.outcome();
  outcome('delete', removed);
  scene('The lost command is noticed within 15 s. Nobody can say what it did, so it is never repeated');
  const lost = await running.outcome();
  outcome('shell', lost);
  scene('Nobody decided on the tag: the request expires');
  const expired = await tag.outcome();
  outcome('tag', expired);
  return { push: pushed, remove: removed, tag: expired, running: lost };
}

async function checks(
  outcomes: Record<Rest | 'read' | 'write' | 'tests' | 'meanwhile' | 'whileDown', Outcome>,
  stage: Stage,
): Promise<Check[]> {
  const { read, write, tests, meanwhile, whileDown, push, remove, tag, running } = outcomes;
  const { repository } = stage;
  return [
    { what: 'the read ran', expected: 'completed, attempts 1, tries 1', found: short(read) },
    { what: 'the write ran as amended', expected: 'completed, attempts 2, tries 1', found: short(write) },
    { what: 'the tests ran', expected: 'completed, attempts 1, tries 1', found: short(tests) },
    {
      what: 'the tests passed',
      expected: { exitCode: 0, stdout: '3 passed, 0 failed\n', stderr: '' },
      found: tests.output,
    },
    { what: 'the branch went on while it asked', expected: 'completed, attempts 1, tries 1', found: short(meanwhile) },
    { what: 'the push ran, approved', expected: 'completed, attempts 1, tries 1, approve by ann', found: short(push) },
    { what: 'the remote has the commit', expected: 'Keep digits', found: await pushedCommit(repository) },
    {
      what: 'the delete did not run, denied',
      expected: 'denied, approval_denied, attempts 1, tries 0, deny by ann',
      found: short(remove),
    },
    { what: 'the release is still there', expected: true, found: (await stat(repository.release)).isDirectory() },
    {
      what: 'the tag did not run, expired',
      expected: 'expired, approval_expired, attempts 1, tries 0',
      found: short(tag),
    },
    { what: 'the remote has no tag', expected: '', found: await pushedTags(repository) },
    {
      what: 'the killed command is unknown',
      expected: 'unknown, outcome_unknown, attempts 1, tries 1',
      found: short(running),
    },
    { what: 'the killed command ran once', expected: 1, found: await runs(stage) },
    { what: 'the call made without a worker ran', expected: 'completed, attempts 1, tries 1', found: short(whileDown) },
  ];
}

/** How often the command that is killed has run, by the mark that it leaves. */
async function runs({ repository }: Stage): Promise<number> {
  const log = await readFile(join(repository.workspace, 'runs.log'), 'utf8').catch(() => '');
  return log.split('\n').filter((line) => line === 'ran').length;
}
