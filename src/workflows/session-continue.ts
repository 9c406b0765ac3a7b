/**
 * When a session continues as new. It never stops acting for it: updates are answered and requests taken in until a moment comes at
 * which nothing is under way. (Waiting for that moment without acting locked up: who waited for an answer waited for the loop, and
 * the loop for them.)
 */
import { allHandlersFinished, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { GRANTS_MEMO } from '../protocol/grant.ts';
import { SESSION_MEMO } from '../protocol/session.ts';
import type { session } from './session.ts';
import { type Session, inherited } from './session-state.ts';

/**
 * The server refuses to continue a run as new when a message has come meanwhile, and the run is then replayed. One of this length is replayed
 * in some 50 ms, so that also a stream of twenty messages a second leaves moments enough; at the 4,096 events at which Temporal suggests it, it would not.
 */
const LONG_EVENTS = 1_000;

/** Whether its history is so many times as long as it had better be. */
export function isLong(self: Session, times = 1): boolean {
  if (self.state !== 'open') return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return (
    (times === 1 && continueAsNewSuggested) || historyLength > times * (self.input.continueAfterEvents ?? LONG_EVENTS)
  );
}

/**
 * Updates are now refused, to be sent again in a moment: with some always under way it would never continue as new. Not while a notification is
 * under way, which it waits for in any case: a notifier that hangs holds up nobody's decision.
 */
export const isTooLong = (self: Session): boolean => isLong(self, 2) && self.background === 0;

/** Messages in the inbox go along; answers that are owed and work in the background would be lost. */
export const mayContinue = (self: Session): boolean =>
  isLong(self) && self.inbox.length === 0 && self.background === 0 && allHandlersFinished();

export async function continueAsNew(self: Session): Promise<never> {
  const next = makeContinueAsNewFunc<typeof session>({
    memo: { [SESSION_MEMO]: self.facts, [GRANTS_MEMO]: self.grants },
  });
  return next({ carried: self.carry(), ...inherited(self.input) });
}
