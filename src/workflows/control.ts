/** The emergency stop's record: who halted and who resumed stands in its history, the present state in its memo. */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { CONTROL_MEMO, type Halt, isControlRequest } from '../protocol/control.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { haltUpdate, resumeUpdate } from './messages.ts';

export async function control(halted: Halt | null = null): Promise<never> {
  let now = halted;
  const set = (next: Halt | null): Halt | null => {
    now = next;
    upsertMemo({ [CONTROL_MEMO]: now });
    setCurrentDetails(
      now
        ? `**Halted** by ${plainMarkdown(now.by)}: ${plainMarkdown(now.reason)}\n\n    countersign resume --reason '…'`
        : 'Calls run.',
    );
    return now;
  };
  const validator = (request: unknown): void => {
    if (!isControlRequest(request)) {
      throw ApplicationFailure.nonRetryable(
        'A halt or resume says by whom (200 characters) and why (1,000).',
        'invalid_usage',
      );
    }
  };
  setHandler(haltUpdate, ({ by, reason }) => set(now ?? { by, reason, at: Date.now() }), { validator });
  setHandler(resumeUpdate, () => set(null), { validator });
  if (halted) set(halted);
  await condition(() => workflowInfo().continueAsNewSuggested);
  await condition(allHandlersFinished);
  return continueAsNew<typeof control>(now);
}
