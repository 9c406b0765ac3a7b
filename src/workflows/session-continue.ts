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

/** Whether its history is so long that it had better continue as new. */
export function isLong(self: Session): boolean {
  const { continueAfterEvents } = self.input;
  if (self.state !== 'open') return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (continueAfterEvents !== undefined && historyLength > continueAfterEvents);
}

/** Messages in the inbox go along; answers that are owed and work in the background would be lost. */
export const mayContinue = (self: Session): boolean =>
  isLong(self) && self.inbox.length === 0 && self.background === 0 && allHandlersFinished();

export async function continueAsNew(self: Session): Promise<never> {
  const next = makeContinueAsNewFunc<typeof session>({
    memo: { [SESSION_MEMO]: self.facts, [GRANTS_MEMO]: self.grants },
  });
  return next({ carried: self.carry(), ...inherited(self.input) });
}
