/**
 * Listing what waits, where much does: by the library, and by the command as a whole process. One call really waits; the others are
 * workflows that nobody runs, started with what a waiting call shows, so that the listing is measured and not the calls.
 */
import { Countersign, type CallHandle } from '../../../src/client/index.ts';
import { CALL_MEMO, type Waiting } from '../../../src/protocol/call.ts';
import { callWorkflowId } from '../../../src/protocol/ids.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE, WORKFLOW } from '../../../src/protocol/names.ts';
import { interleave } from '../measure/interleave.ts';
import { pooled } from '../measure/pool.ts';
import { median, summary } from '../measure/stats.ts';
import { homeEnvironment, openFolder } from '../stage/stage.ts';
import { startProcess } from '../stage/start-process.ts';
import { asking, manyWaiting, untilWaiting } from './calls.ts';
import { COUNTERSIGN, wholeProcess } from './cli.ts';
import { type Part, type Row, type Target, atMost } from './row.ts';

const ROUNDS = 10;
/** As many as a person looks at. */
const FEW = 50;
const WITHIN_MS = 1_000;

export const pending: Part = {
  name: 'pending',
  title: 'Listing what waits',
  seconds: 40,
  soakSeconds: 240,
  async run({ soak, progress }) {
    const levels = manyWaiting(soak);
    const rows: Row[] = [];
    const targets: Target[] = [];
    await using stack = new AsyncDisposableStack();
    const { home, workspace, remove } = await openFolder();
    stack.defer(remove);
    const service = stack.use(await startProcess(home, workspace));
    const countersign = stack.use(await Countersign.connect({ address: service.address }));
    const call = await asking(await countersign.openSession({ workspace }));
    for (const [i, level] of levels.entries()) {
      const share = (part: number): void => progress.at(((i + part) / levels.length) * 0.9, `${level} waiting`);
      await copies(countersign, call, levels[i - 1] ?? 1, level, share);
      for (const [name, row] of await listings(countersign, home, level)) {
        rows.push({ name, unit: 'ms', ...summary(row) });
        targets.push(atMost(`${name}: p50`, WITHIN_MS, 'ms', median(row)));
      }
    }
    return { rows, targets };
  },
};

/** Makes what is listed of one call be listed of `from` to `to` calls. */
async function copies(
  countersign: Countersign,
  call: CallHandle,
  from: number,
  to: number,
  progress: (part: number) => void,
): Promise<void> {
  const waiting = await call.waiting();
  if (waiting?.for !== 'approval') throw new Error('the call does not wait for approval');
  const input = await call.input();
  const { workflow } = countersign.temporal;
  const copy = async (i: number): Promise<void> => {
    const name = { session: call.session, callId: `copy-${from + i}` };
    const digest = `sha256:${(from + i).toString(16).padStart(64, '0')}`;
    const memo: Waiting = { ...waiting, request: { ...waiting.request, ...name, digest } };
    await workflow.start(WORKFLOW.call, {
      workflowId: callWorkflowId(name),
      taskQueue: 'nobody',
      args: [input],
      memo: { [CALL_MEMO]: memo },
      searchAttributes: {
        [SEARCH_ATTRIBUTE.state]: [CALL_STATE.waiting],
        [SEARCH_ATTRIBUTE.session]: [name.session],
        [SEARCH_ATTRIBUTE.agent]: ['default'],
        [SEARCH_ATTRIBUTE.tool]: [waiting.tool],
      },
    });
  };
  await pooled(to - from, 20, copy, progress);
  await untilWaiting(countersign, to);
}

async function listings(countersign: Countersign, home: string, level: number): Promise<Map<string, number[]>> {
  const env = homeEnvironment(home);
  const library = async (limit: number): Promise<void> => {
    const { length } = await countersign.approvals.pending({ limit });
    if (length !== Math.min(limit, level)) throw new Error(`${length} calls were listed of ${level}`);
  };
  const command = async (...args: string[]): Promise<void> => {
    const lines = (await wholeProcess(env, COUNTERSIGN, ['pending', '--json', ...args])).trimEnd().split('\n').length;
    if (lines !== (args.length > 0 ? FEW : level)) throw new Error(`${lines} lines were listed of ${level}`);
  };
  return interleave(
    [
      { name: `approvals.pending(), ${level} waiting`, run: () => library(Infinity) },
      { name: `approvals.pending(), newest ${FEW} of ${level}`, run: () => library(FEW) },
      { name: `countersign pending, ${level} waiting`, run: () => command() },
      { name: `countersign pending --limit ${FEW}, of ${level}`, run: () => command('--limit', String(FEW)) },
    ],
    { rounds: ROUNDS, warmUp: 1 },
  );
}
