/** A session that has seen much is as fast as a fresh one, and its history stays short. */
import type { SessionHandle } from '../../../src/client/index.ts';
import { interleave } from '../measure/interleave.ts';
import { pooled } from '../measure/pool.ts';
import { median, summary } from '../measure/stats.ts';
import { approve, approved, asking, completed, read } from './calls.ts';
import { historyLength } from './latency.ts';
import { type Part, type Row, atMost } from './row.ts';

/** Events after which Temporal suggests to continue as new. */
const SUGGESTED = 4_096;

export const sessionAge: Part = {
  name: 'session-age',
  title: 'A session with a past, beside a fresh one',
  seconds: 35,
  soakSeconds: 420,
  async run({ stage: { countersign, workspace, floor }, soak, progress }) {
    const [calls, approvals, rounds] = soak ? [10_000, 500, 40] : [300, 40, 20];
    const old = await countersign.openSession({ workspace });
    await pooled(
      calls,
      20,
      () => read(old),
      (part) => progress.at(part * 0.4, 'calls'),
    );
    await pooled(
      approvals,
      4,
      async () => {
        const call = await asking(old);
        await approve(countersign, call);
        await completed(call);
      },
      (part) => progress.at(0.4 + part * 0.3, 'approvals'),
    );
    const fresh = await countersign.openSession({ workspace });
    const both = (name: string, session: SessionHandle) => [
      { name: `read, ${name}`, run: async () => void (await read(session)) },
      { name: `approved, ${name}`, every: 2, run: async () => (await approved(countersign, session, name)).parts },
    ];
    const samples = await interleave([...both('session with a past', old), ...both('fresh session', fresh)], {
      rounds,
      warmUp: 2,
      progress: (part) => progress.at(0.7 + part * 0.3),
    });
    const p50 = (name: string): number => median(samples.get(name) ?? []);
    const { continuedAsNew } = await old.view();
    const events = await historyLength(floor.client, `session/${old.id}`);
    const rows = [...samples]
      .map(([name, row]): Row => {
        const of = name.replace('session with a past', 'fresh session');
        return { name, unit: 'ms', ...summary(row), ...(of !== name && { ratio: { of, value: p50(name) / p50(of) } }) };
      })
      .toSorted((a, b) => a.name.localeCompare(b.name));
    const note = `after ${calls} calls and ${approvals} approvals; its run holds ${events} events, continued as new ${continuedAsNew} times`;
    return {
      rows: rows.map((row) => (row.name === 'read, session with a past' ? { ...row, note } : row)),
      targets: [
        atMost('session with a past: events in its history', SUGGESTED * 1.1, 'events', events),
        atMost(
          'session with a past ÷ fresh one: decision to outcome',
          1.2,
          '×',
          p50('session with a past: decision to outcome') / p50('fresh session: decision to outcome'),
        ),
      ],
    };
  },
};
