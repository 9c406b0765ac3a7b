/**
 * What holds for a whole namespace: the emergency stop and the configuration. Who halted, who resumed and which worker took up which rules
 * stands in its history; whether it is halted, in its memo.
 */
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
import {
  CONFIG_KNOWN,
  type ConfigKnown,
  NOTHING_KNOWN,
  isConfigReport,
  isKnown,
  recordOf,
} from '../protocol/config-change.ts';
import { CONTROL_MEMO, type Halt, isControlRequest } from '../protocol/control.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { configChangedUpdate, haltUpdate, resumeUpdate } from './messages.ts';

export async function control(halted: Halt | null = null, config: ConfigKnown = NOTHING_KNOWN): Promise<never> {
  let now = halted;
  let known = config;
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
  setHandler(
    configChangedUpdate,
    (report) => {
      const next = recordOf(report, known, Date.now());
      known = next.known;
      return next.record;
    },
    {
      // What is refused here leaves no trace: each change stands in history once, however many workers tell of it.
      validator: (report: unknown) => {
        if (!isConfigReport(report))
          throw ApplicationFailure.nonRetryable('A worker says what it loaded or refused.', 'invalid_usage');
        if (isKnown(report, known)) throw ApplicationFailure.nonRetryable('This is on record.', CONFIG_KNOWN);
      },
    },
  );
  if (halted) set(halted);
  await condition(() => workflowInfo().continueAsNewSuggested);
  await condition(allHandlersFinished);
  return continueAsNew<typeof control>(now, known);
}
