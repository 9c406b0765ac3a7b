/**
 * What holds for a whole namespace: the emergency stop and the configuration. Who halted, who resumed and which worker took up which rules
 * stands in its history; whether it is halted, in its memo.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  CONFIG_KNOWN,
  type ConfigKnown,
  NOTHING_KNOWN,
  isConfigReport,
  isKnown,
  recordOf,
} from '../protocol/config-change.ts';
import { CONTROL_MEMO, type Halt, RESUME_MEMO, type Resume, isControlRequest, isResume } from '../protocol/control.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { configChangedUpdate, haltUpdate, resumeUpdate } from './messages.ts';

const { checkResume } = proxyLocalActivities<Activities>({
  summary: 'whether they may resume',
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});

export async function control(
  halted: Halt | null = null,
  config: ConfigKnown = NOTHING_KNOWN,
  resumed: Resume | null = null,
): Promise<never> {
  let now = halted;
  let known = config;
  let last = resumed;
  /** Workers read the memo, and believe the end of a halt only by its resume. */
  const set = (next: Halt | null, resume: Resume | null): Halt | null => {
    now = next;
    last = resume;
    upsertMemo({ [CONTROL_MEMO]: now, [RESUME_MEMO]: last });
    setCurrentDetails(
      now
        ? `**Halted** by ${plainMarkdown(now.by)}: ${plainMarkdown(now.reason)}\n\n    countersign resume --reason '…'`
        : 'Calls run.',
    );
    return now;
  };
  const ofForm = (fits: (value: unknown) => boolean) => (request: unknown) => {
    if (fits(request)) return;
    const message = 'A halt or resume says by whom (200 characters) and why (1,000).';
    throw ApplicationFailure.nonRetryable(message, 'invalid_usage');
  };
  setHandler(haltUpdate, ({ by, reason }) => set(now ?? { id: uuid4(), by, reason, at: Date.now() }, null), {
    validator: ofForm(isControlRequest),
  });
  setHandler(
    resumeUpdate,
    async (resume) => {
      const halt = now;
      if (!halt) return null;
      const checked = await checkResume({ halt, resume });
      if (!checked.ok) throw ApplicationFailure.nonRetryable(`${checked.reason} The halt stands.`, checked.code);
      return now === halt ? set(null, resume) : now;
    },
    { validator: ofForm(isResume) },
  );
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
  if (halted ?? resumed) set(halted, resumed);
  await condition(() => workflowInfo().continueAsNewSuggested);
  await condition(allHandlersFinished);
  return continueAsNew<typeof control>(now, known, last);
}
