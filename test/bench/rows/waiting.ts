/** Calls that wait for approval: what they take, how fast a decision on one of them acts, and that they outlive a restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Countersign, type SessionHandle } from '../../../src/client/index.ts';
import { pooled } from '../measure/pool.ts';
import { residentBytes } from '../measure/processes.ts';
import { summary } from '../measure/stats.ts';
import { openFolder } from '../stage/stage.ts';
import { type StartedService, startProcess } from '../stage/start-process.ts';
import { ASKS, approve, completed, manyWaiting, untilWaiting } from './calls.ts';
import { type Found, type Part, type Row, type Surroundings, type Target, atMost } from './row.ts';

const SESSIONS = 20;
const DECISIONS = 20;
const QUIET_MS = 3_000;

export const waiting: Part = {
  name: 'waiting',
  title: 'Calls that wait for approval, in 20 sessions',
  seconds: 75,
  soakSeconds: 700,
  async run(surroundings) {
    const { home, workspace, remove } = await openFolder();
    try {
      return await measure(surroundings, home, workspace);
    } finally {
      await remove();
    }
  },
};

async function measure({ soak, progress }: Surroundings, home: string, workspace: string): Promise<Found> {
  const levels = manyWaiting(soak);
  const rows: Row[] = [];
  const targets: Target[] = [];
  let service = await startProcess(home, workspace);
  try {
    const crowd = await Crowd.open(service.address, workspace);
    const empty = await memory(service, rows, 0);
    for (const [i, level] of levels.entries()) {
      await crowd.grow(level, (part) => progress.at(((i + part) / levels.length) * 0.8, `${level} waiting`));
      const { worker } = await memory(service, rows, level);
      const { row, target } = await decisions(crowd, `decision to outcome, one of ${level}`);
      rows.push(row);
      if (level !== levels.at(-1)) continue;
      targets.push({ ...target, what: `decision to effect on one of ${level} waiting calls: p50` });
      targets.push(atMost(`${level} waiting calls: memory of the worker`, 400, 'MB', worker - empty.worker));
    }
    await crowd.close();
    await service.stop();
    progress.at(0.85, 'restart');
    service = await startProcess(home, workspace);
    rows.push(...(await afterRestart(service, workspace, crowd)));
  } finally {
    await service.stop();
  }
  return { rows, targets };
}

async function memory(
  { workerPid, serverPid = 0 }: StartedService,
  rows: Row[],
  level: number,
): Promise<{ worker: number }> {
  await sleep(QUIET_MS);
  const worker = (await residentBytes(workerPid)) / 1e6;
  const server = (await residentBytes(serverPid)) / 1e6;
  const one = (name: string, value: number): Row => ({
    name: `${name}, ${level} waiting`,
    unit: 'MB',
    n: 1,
    p50: value,
    p95: value,
  });
  rows.push(one('memory of the worker', worker), one('memory of the server', server));
  return { worker };
}

/** Sessions and the calls that wait in them. */
class Crowd {
  readonly countersign: Countersign;
  readonly #sessions: SessionHandle[];
  readonly ids: string[] = [];

  private constructor(countersign: Countersign, sessions: SessionHandle[]) {
    this.countersign = countersign;
    this.#sessions = sessions;
  }

  static async open(address: string, workspace: string): Promise<Crowd> {
    const countersign = await Countersign.connect({ address });
    return new Crowd(countersign, await pooled(SESSIONS, 4, () => countersign.openSession({ workspace })));
  }

  async grow(to: number, progress: (part: number) => void): Promise<void> {
    const before = this.ids.length;
    const started = await pooled(
      to - before,
      40,
      async (i) => {
        const session = this.#sessions[i % SESSIONS];
        if (!session) throw new Error('no session');
        return (await session.start('shell', ASKS)).id;
      },
      progress,
    );
    this.ids.push(...started);
    await untilWaiting(this.countersign, this.ids.length);
  }

  async close(): Promise<void> {
    await this.countersign.close();
  }
}

/** On calls all over the crowd, so that most of them are in no cache. */
async function decisions(crowd: Crowd, name: string): Promise<{ row: Row; target: Target }> {
  const samples: number[] = [];
  const step = Math.floor(crowd.ids.length / DECISIONS);
  for (let i = 0; i < DECISIONS; i += 1) {
    const [id] = crowd.ids.splice((DECISIONS - 1 - i) * step, 1);
    const call = crowd.countersign.call(id ?? '');
    const since = performance.now();
    await approve(crowd.countersign, call);
    await completed(call);
    samples.push(performance.now() - since);
  }
  const row: Row = { name, unit: 'ms', ...summary(samples) };
  return { row, target: atMost(name, 250, 'ms', row.p50) };
}

async function afterRestart({ address }: StartedService, workspace: string, before: Crowd): Promise<Row[]> {
  const crowd = await Crowd.open(address, workspace);
  const pending = await crowd.countersign.approvals.pending();
  if (pending.length !== before.ids.length)
    throw new Error(`${before.ids.length} calls waited before the restart, ${pending.length} after it`);
  crowd.ids.push(...before.ids);
  const { row } = await decisions(crowd, 'decision to outcome, after a restart');
  await crowd.close();
  return [{ ...row, note: `all ${pending.length} were still waiting` }];
}
