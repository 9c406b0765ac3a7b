/** Sweeps the state folder by what the namespace says of how long it keeps closed calls. */
import type { Client } from '@temporalio/client';
import { sweepState } from '../context/index.ts';
import { inspectNamespace } from './setup.ts';

const DAY_MS = 86_400_000;

/**
 * Takes out what is older than twice the namespace's retention of now, and of claims and revocations what sweepState does not keep longer: a claim must outlive
 * the call that it keeps from running again. Where the server does not say how long that is, nothing goes. Returns how many files went.
 */
export async function sweepKnown(stateDir: string, { connection, options }: Client): Promise<number> {
  const { retentionDays } = await inspectNamespace(connection, options.namespace);
  return retentionDays === undefined ? 0 : sweepState(stateDir, 2 * retentionDays * DAY_MS);
}
