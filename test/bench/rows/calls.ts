/** The calls that rows are made of. Each checks its outcome: a row that measures failures quickly measures nothing. */
import type { CallHandle, Countersign, Outcome, SessionHandle } from '../../../src/client/index.ts';
import { CALL_STATE, SEARCH_ATTRIBUTE } from '../../../src/protocol/names.ts';
import { until } from '../measure/until.ts';

/** A command outside of the sandbox that no list allows: a person has to approve it. */
export const ASKS = { command: 'touch effect.txt', sandbox: false, reason: 'the benchmark needs a call that waits' };

export interface Ended {
  /** The workflow's id. */
  id: string;
  parts?: Record<string, number>;
}

export async function completed(call: CallHandle): Promise<Outcome> {
  const outcome = await call.outcome();
  if (outcome.status !== 'completed')
    throw new Error(`${call.id} ended as ${outcome.status}: ${outcome.error?.message ?? ''}`);
  return outcome;
}

export async function read(session: SessionHandle): Promise<Ended> {
  const call = await session.start('read', { path: 'two-kb.txt' });
  await completed(call);
  return { id: call.id };
}

export async function write(session: SessionHandle): Promise<Ended> {
  const call = await session.start('write', { path: 'written.txt', content: 'a line\n' });
  await completed(call);
  return { id: call.id };
}

export async function shellTrue(session: SessionHandle): Promise<Ended> {
  const call = await session.start('shell', { command: 'true' });
  await completed(call);
  return { id: call.id };
}

/** Arguments that lack a field, and then do not. */
export async function amended(session: SessionHandle): Promise<Ended> {
  const call = await session.startUntyped('write', { path: 'written.txt' });
  const settled = await call.settled();
  if (settled.state !== 'waiting') throw new Error('the call took wrong arguments');
  const since = performance.now();
  const answer = await call.amend({ path: 'written.txt', content: 'a line\n' }, 1);
  if (answer.answer !== 'accepted') throw new Error(answer.message);
  await completed(call);
  return { id: call.id, parts: { 'amendment to outcome': performance.now() - since } };
}

/** Starts a call that waits for approval and returns when it does. */
export async function asking(session: SessionHandle): Promise<CallHandle> {
  const call = await session.start('shell', ASKS);
  const settled = await call.settled();
  if (settled.state !== 'waiting') throw new Error('the call did not wait for approval');
  return call;
}

/** A program decides as soon as it hears that the call waits. */
export async function approved(countersign: Countersign, session: SessionHandle, name: string): Promise<Ended> {
  const call = await asking(session);
  const since = performance.now();
  await approve(countersign, call);
  const accepted = performance.now() - since;
  await completed(call);
  return {
    id: call.id,
    parts: {
      [`${name}: decision until accepted`]: accepted,
      [`${name}: decision to outcome`]: performance.now() - since,
    },
  };
}

export async function approve(countersign: Countersign, call: CallHandle): Promise<void> {
  // A request bubbles up by signals, so that it can be a moment late at the session that holds it.
  for (let i = 0; ; i += 1) {
    const { answer, message } = await countersign.approvals.approve(call.id, { approver: 'bench' });
    if (answer === 'accepted') return;
    if (answer !== 'not_pending' || i === 100) throw new Error(`${call.id}: ${answer}: ${message}`);
  }
}

/** How many calls wait where it is measured what many of them do, fewest first. */
export const manyWaiting = (soak: boolean): number[] => (soak ? [1_000, 10_000] : [1_000]);

/** Returns when listings know of so many calls that wait. */
export async function untilWaiting({ temporal }: Countersign, count: number): Promise<void> {
  const query = `${SEARCH_ATTRIBUTE.state}="${CALL_STATE.waiting}" AND ExecutionStatus="Running"`;
  const listed = async (): Promise<boolean> => (await temporal.workflow.count(query)).count >= count;
  await until(listed, `${count} calls wait`, { everyMs: 200, withinMs: 900_000 });
}
