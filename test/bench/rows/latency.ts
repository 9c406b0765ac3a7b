/** One call at a time, from the worker's own process. */
import type { Client } from '@temporalio/client';
import { type Task, interleave } from '../measure/interleave.ts';
import { median, summary } from '../measure/stats.ts';
import { openStock } from '../stage/stock.ts';
import type { Floor } from '../stage/floor.ts';
import { runFloor } from '../stage/floor-client.ts';
import { type Ended, amended, approved, read, shellTrue, write } from './calls.ts';
import { type Found, type Part, type Row, type Surroundings, atLeast, atMost } from './row.ts';

const ROUNDS = 80;
/** Rows that wait for somebody take part in every n-th round. */
const SELDOM = 4;

/**
 * The stock server reads its queue 20 times a second at most, and what a pause has saved up (about five calls' worth)
 * hides that from a lone call. An agent makes calls one after the other: so do these, and the first of each run are not counted.
 */
const STOCK_RUN = 14;
const SAVED_UP = 6;

/** Row → the row that it is set against. */
const RATIOS: Record<string, string> = {
  'workflow with one local activity': 'bare workflow',
  'read 2 KB': 'bare workflow',
  write: 'workflow with one activity',
  'shell true': 'workflow with one activity',
  'bare workflow, stock server': 'bare workflow',
  'workflow with one activity, stock server': 'workflow with one activity',
};

export const latency: Part = {
  name: 'latency',
  title: 'One call at a time, started eagerly',
  seconds: 85,
  async run(surroundings) {
    await using stock = await openStock();
    return await measure(surroundings, stock);
  },
};

async function measure({ stage, progress }: Surroundings, stock: Floor): Promise<Found> {
  const { countersign, session, floor, workspace } = stage;
  // A main session of its own, so that the branches' requests bubble up three levels.
  const main = await countersign.openSession({ workspace });
  const deep = await (await (await main.branch()).branch()).branch();
  const ids = new Map<string, string>();
  const task = (name: string, run: () => Promise<Ended>, every = 1): Task => ({
    name,
    every,
    run: async () => {
      const { id, parts } = await run();
      ids.set(name, id);
      return parts ?? {};
    },
  });
  const samples = await interleave(
    [
      task('bare workflow', async () => ({ id: await floor.run('bare') })),
      task('workflow with one activity', async () => ({ id: await floor.run('oneActivity') })),
      task('workflow with one local activity', async () => ({ id: await floor.run('oneLocalActivity') })),
      task('read 2 KB', () => read(session)),
      task('write', () => write(session)),
      task('shell true', () => shellTrue(session)),
      task('amended once', () => amended(session), SELDOM),
      task('approved by a program', () => approved(countersign, session, 'approved'), SELDOM),
      task('approved, from a branch three deep', () => approved(countersign, deep, 'three deep'), SELDOM),
      ...stockTasks(stock),
    ],
    {
      rounds: ROUNDS,
      warmUp: 5,
      progress: (part) => progress.at(part, `round ${Math.round(part * ROUNDS)} of ${ROUNDS}`),
    },
  );
  const events = new Map<string, number>();
  for (const [name, id] of ids) events.set(name, await historyLength(floor.client, id));
  return rowsOf(samples, events);
}

/** Started plainly, for eager start is one of the settings that a stock set-up does not have. */
function stockTasks({ client }: Floor): Task[] {
  return (['bare', 'oneActivity'] as const).map((workflow) => ({
    name: `${workflow === 'bare' ? 'bare workflow' : 'workflow with one activity'}, stock server`,
    every: 20,
    untimed: true,
    run: async (name) => {
      const row: number[] = [];
      for (let i = 0; i < STOCK_RUN; i += 1) {
        const since = performance.now();
        await runFloor(client, workflow, { eager: false });
        if (i >= SAVED_UP) row.push(performance.now() - since);
      }
      return { [name]: row };
    },
  }));
}

function rowsOf(samples: Map<string, number[]>, events: Map<string, number>): Found {
  const p50 = (name: string): number => median(samples.get(name) ?? []);
  const ordered = [...samples].toSorted(([a], [b]) => place(a) - place(b));
  const rows = ordered.map(([name, row]): Row => {
    const of = RATIOS[name];
    const length = events.get(name);
    return {
      name,
      unit: 'ms',
      ...summary(row),
      ...(length !== undefined && { events: length }),
      ...(of !== undefined && { ratio: { of, value: p50(name) / p50(of) } }),
    };
  });
  const stock = p50('workflow with one activity, stock server');
  return {
    rows,
    targets: [
      atMost('read: p50 ÷ bare workflow', 1.2, '×', p50('read 2 KB') / p50('bare workflow')),
      atMost('read: events', 6, 'events', events.get('read 2 KB') ?? Number.NaN),
      atMost('write: p50 ÷ workflow with one activity', 1.2, '×', p50('write') / p50('workflow with one activity')),
      atMost('write: events', 12, 'events', events.get('write') ?? Number.NaN),
      atMost('shell true: p50 more than a write', 25, 'ms', p50('shell true') - p50('write')),
      atLeast('one activity on the stock server ÷ read', 4, '×', stock / p50('read 2 KB')),
      atLeast('one activity on the stock server ÷ write', 4, '×', stock / p50('write')),
    ],
  };
}

/** Floors first, each with what stands on it, then what waits for somebody. */
const ORDER = [
  'bare workflow',
  'workflow with one local activity',
  'read',
  'workflow with one activity',
  'write',
  'shell',
  'amend',
  'approved',
  'three deep',
];

const place = (name: string): number =>
  name.endsWith('stock server')
    ? ORDER.length
    : name.includes('three deep')
      ? ORDER.length - 1
      : ORDER.findIndex((start) => name.startsWith(start));

export async function historyLength(client: Client, workflowId: string): Promise<number> {
  return (await client.workflow.getHandle(workflowId).describe()).historyLength;
}
