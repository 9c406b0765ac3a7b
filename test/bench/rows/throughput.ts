/** Many callers at once, and a thousand calls in one moment. */
import type { Floor } from '../stage/floor.ts';
import type { SessionHandle } from '../../../src/client/index.ts';
import { pooled } from '../measure/pool.ts';
import { median, percentile } from '../measure/stats.ts';
import { read, write } from './calls.ts';
import { type Found, type Part, type Row, atLeast } from './row.ts';

const CALLERS = [1, 20, 100] as const;
/** Each kind is measured in this many slices, in turn. */
const SLICES = 4;
const SLICE_MS = 1_200;

interface Kind {
  name: string;
  of?: string;
  run(): Promise<unknown>;
}

const kinds = (floor: Floor, session: SessionHandle): Kind[] => [
  { name: 'bare workflow', run: () => floor.run('bare') },
  { name: 'read 2 KB', of: 'bare workflow', run: () => read(session) },
  { name: 'workflow with one activity', run: () => floor.run('oneActivity') },
  { name: 'write', of: 'workflow with one activity', run: () => write(session) },
];

export const throughput: Part = {
  name: 'throughput',
  title: 'Calls a second',
  seconds: 65,
  async run({ stage: { floor, session }, progress }) {
    const rates = new Map<string, number[]>();
    const all = kinds(floor, session).flatMap((kind) => CALLERS.map((callers) => ({ kind, callers })));
    for (let slice = 0; slice < SLICES; slice += 1) {
      for (const [i, { kind, callers }] of all.toSorted(() => Math.random() - 0.5).entries()) {
        const key = rowName(kind.name, callers);
        rates.set(key, [...(rates.get(key) ?? []), await rate(callers, kind.run)]);
        progress.at((slice + (i + 1) / all.length) / SLICES, `slice ${slice + 1} of ${SLICES}`);
      }
    }
    return rowsOf(kinds(floor, session), rates);
  },
};

const rowName = (kind: string, callers: number): string => `${kind}, ${callers} caller${callers === 1 ? '' : 's'}`;

function rowsOf(all: Kind[], rates: Map<string, number[]>): Found {
  const p50 = (name: string, callers: number): number => median(rates.get(rowName(name, callers)) ?? []);
  const rows = all.flatMap(({ name, of }) =>
    CALLERS.map((callers): Row => {
      const samples = rates.get(rowName(name, callers)) ?? [];
      const ratio =
        of === undefined ? undefined : { of: rowName(of, callers), value: p50(name, callers) / p50(of, callers) };
      return {
        name: rowName(name, callers),
        unit: 'calls/s',
        n: samples.length,
        p50: median(samples),
        p95: percentile(samples, 0.05),
        ...(ratio && { ratio }),
      };
    }),
  );
  const targets = [20, 100].flatMap((callers) => [
    atLeast(
      `read, ${callers} callers: rate ÷ bare workflow`,
      0.85,
      '×',
      p50('read 2 KB', callers) / p50('bare workflow', callers),
    ),
    atLeast(
      `write, ${callers} callers: rate ÷ workflow with one activity`,
      0.85,
      '×',
      p50('write', callers) / p50('workflow with one activity', callers),
    ),
  ]);
  return { rows, targets };
}

/** Calls that ended a second while all callers were busy. */
async function rate(callers: number, run: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  const until = since + SLICE_MS;
  let ended = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        await run();
        ended += 1;
      }
    }),
  );
  // The last ones end after the time is up and count with the time that they took.
  return (ended / (performance.now() - since)) * 1_000;
}

const BURST = 1_000;

export const burst: Part = {
  name: 'burst',
  title: '1,000 calls started in one moment',
  seconds: 45,
  async run({ stage: { floor, session }, progress }) {
    const rows: Row[] = [];
    for (const [i, { name, of, run }] of kinds(floor, session).slice(0, 2).entries()) {
      const since = performance.now();
      const latencies = await pooled(
        BURST,
        BURST,
        async () => {
          await run();
          return performance.now() - since;
        },
        (part) => progress.at((i + part) / 2, name),
      );
      const whole = Math.max(...latencies);
      const before = rows.find((row) => row.name === `${of}, burst`);
      rows.push({
        name: `${name}, burst`,
        unit: 'ms',
        n: BURST,
        p50: median(latencies),
        p95: percentile(latencies, 0.95),
        ...(before && { ratio: { of: before.name, value: median(latencies) / before.p50 } }),
        note: `all ${BURST} after ${(whole / 1_000).toFixed(1)} s (${((BURST / whole) * 1_000).toFixed(0)}/s)`,
      });
    }
    return { rows };
  },
};
