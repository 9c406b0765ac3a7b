/** The least that Temporal can be asked to do. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });
const local = proxyLocalActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

export async function bare(): Promise<void> {}

export async function oneActivity(): Promise<void> {
  await nothing();
}

/** What a call that is read in preparation cannot go below. */
export async function oneLocalActivity(): Promise<void> {
  await local.nothing();
}
