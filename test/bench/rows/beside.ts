/** Decisions while many slow calls run in the same worker. */
import { type Samples, add } from '../measure/interleave.ts';
import { pooled } from '../measure/pool.ts';
import { summary, median } from '../measure/stats.ts';
import { SLOW_AGENTS } from '../stage/stage.ts';
import { approved } from './calls.ts';
import { type Part, type Row, atMost } from './row.ts';

const SLOW = 50;
const DECISIONS = 10;
const NAMES = ['alone', `beside ${SLOW} slow calls`, 'alone again'] as const;

export const beside: Part = {
  name: 'beside',
  title: 'A decision beside slow calls',
  seconds: 30,
  async run({ stage: { countersign, session, workspace }, progress }) {
    const slow = await Promise.all(SLOW_AGENTS.map((agent) => countersign.openSession({ workspace, agent })));
    const samples: Samples = new Map();
    const decide = async (name: string): Promise<void> => {
      for (let i = 0; i < DECISIONS; i += 1) {
        const { parts } = await approved(countersign, session, name);
        for (const [part, ms] of Object.entries(parts ?? {})) add(samples, part, ms);
      }
    };
    await decide(NAMES[0]);
    progress.at(0.25);
    const running = await pooled(SLOW, 10, (i) => {
      const one = slow[i % slow.length];
      if (!one) throw new Error('no session');
      return one.start('shell', { command: 'sleep 120' });
    });
    await decide(NAMES[1]);
    progress.at(0.6);
    await Promise.all(running.map((call) => call.cancel()));
    await Promise.all(running.map((call) => call.outcome()));
    await decide(NAMES[2]);
    const p50 = (name: string): number => median(samples.get(`${name}: decision until accepted`) ?? []);
    const alone = (p50(NAMES[0]) + p50(NAMES[2])) / 2;
    return {
      rows: [...samples].map(([name, row]): Row => ({ name, unit: 'ms', ...summary(row) })),
      targets: [atMost(`decision until accepted, ${NAMES[1]}: p50 ÷ alone`, 1.5, '×', p50(NAMES[1]) / alone)],
    };
  },
};
