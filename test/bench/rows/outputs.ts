/** Outputs of all sizes: how long they take, and what history keeps of them. */
import type { Client } from '@temporalio/client';
import type { SessionHandle } from '../../../src/client/index.ts';
import { interleave } from '../measure/interleave.ts';
import { summary } from '../measure/stats.ts';
import { completed } from './calls.ts';
import { type Part, type Row, type Target, atMost } from './row.ts';

const SIZES = { '1 KB': 1_000, '1 MB': 1_000_000, '10 MB': 10_000_000 } as const;
const ROUNDS = 8;

export const outputs: Part = {
  name: 'outputs',
  title: 'A command that prints much',
  seconds: 10,
  async run({ stage: { session, floor }, progress }) {
    const ids = new Map<string, string>();
    const tasks = Object.entries(SIZES).map(([size, bytes]) => ({
      name: `output of ${size}`,
      run: async () => void ids.set(`output of ${size}`, await printing(session, bytes)),
    }));
    const samples = await interleave(tasks, { rounds: ROUNDS, warmUp: 1, progress: (part) => progress.at(part) });
    const rows: Row[] = [];
    const targets: Target[] = [];
    for (const [name, row] of samples) {
      const bytes = await historyBytes(floor.client, ids.get(name) ?? '');
      rows.push({ name, unit: 'ms', ...summary(row), note: `${(bytes / 1_024).toFixed(1)} KB in history` });
      targets.push(atMost(`${name}: history of the call`, 64, 'KB', bytes / 1_024));
    }
    return { rows, targets };
  },
};

/** A call whose command prints that many bytes, in lines. */
export async function printing(session: SessionHandle, bytes: number): Promise<string> {
  const call = await session.start('shell', { command: `yes 'a line of output, of some length' | head -c ${bytes}` });
  await completed(call);
  return call.id;
}

/** Size of a workflow's history as the server counts it. */
export async function historyBytes(client: Client, workflowId: string): Promise<number> {
  return (await client.workflow.getHandle(workflowId).describe()).historySize ?? Number.NaN;
}
