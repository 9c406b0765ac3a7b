/** Whoever starts a workflow under a call's name, with a worker of their own, records what they like. It ends no audit and no check. */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { verifyCall } from '../../src/cli/judge/verify-call.ts';
import { storyMarkdown, storyText } from '../../src/cli/render/audit-forms.ts';
import { storyOf } from '../../src/cli/render/audit.ts';
import { callStory } from '../../src/client/audit-call.ts';
import { notificationsIn } from '../../src/client/audit-notified.ts';
import { decisionsIn } from '../../src/client/audit-session.ts';
import type { HistoryEvent } from '../../src/client/history.ts';
import { parseConfig } from '../../src/config/index.ts';
import { builtInTools } from '../../src/tools/index.ts';

const name = { session: 's', callId: 'c' };
const values = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
const undecodable = { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') }] };

/** No text can be made of it. */
const wordless = { toString: 1, valueOf: 1 };
const anything: unknown[] = [null, 0, 'text', [], {}, wordless, [[null]], { request: null }, { decisions: [null] }];

const prepared = (value: unknown): HistoryEvent => ({
  markerRecordedEventAttributes: {
    markerName: 'core_local_activity',
    details: { data: values({ activity_type: 'prepareCall' }), result: values(value) },
  },
});
const executed = (input: unknown, result: unknown): HistoryEvent[] => [
  {
    eventId: 9 as never,
    activityTaskScheduledEventAttributes: { activityType: { name: 'executeTool' }, input: values(input) },
  },
  { activityTaskCompletedEventAttributes: { scheduledEventId: 9 as never, result: values(result) } },
];
const ended = (value: unknown): HistoryEvent => ({
  workflowExecutionCompletedEventAttributes: { result: values(value) },
});

/** One event of each kind that anybody can bring about, with the same value in it. */
function historyOf(value: unknown): HistoryEvent[] {
  const signal = (signalName: string): HistoryEvent => ({
    workflowExecutionSignaledEventAttributes: { signalName, input: values(value) },
  });
  const update = (of: string): HistoryEvent => ({
    workflowExecutionUpdateAcceptedEventAttributes: {
      protocolInstanceId: of,
      acceptedRequest: { input: { name: of, args: values(value) } },
    },
  });
  const notify: HistoryEvent = {
    eventId: 5 as never,
    activityTaskScheduledEventAttributes: { activityType: { name: 'notifyApprover' }, input: values(value) },
  };
  return [
    { workflowExecutionStartedEventAttributes: { input: values(value) } },
    prepared(value),
    prepared({ verdict: 'ask', ask: value, judgement: value }),
    prepared({ verdict: 'run', judgement: value, plan: value, result: value, grant: value }),
    prepared({ verdict: 'invalid', error: value }),
    {
      workflowPropertiesModifiedEventAttributes: {
        upsertedMemo: { fields: { countersignWaiting: defaultPayloadConverter.toPayload(value) } },
      },
    },
    ...['decision', 'decide', 'notify', 'close', 'requestApproval'].map(signal),
    { workflowExecutionSignaledEventAttributes: { signalName: 'decision', input: undecodable } },
    ...['amend', 'decide', 'close'].map(update),
    {
      workflowExecutionUpdateCompletedEventAttributes: {
        meta: { updateId: 'decide' },
        outcome: { success: values(value) },
      },
    },
    notify,
    { activityTaskCompletedEventAttributes: { scheduledEventId: 5 as never, result: values(value) } },
    ...executed(value, value),
    ...executed({ tool: 'read', arguments: value, approval: value }, { status: value, error: value }),
    ended(value),
    ended({ status: value, error: value, attempts: value, tries: value, approval: value }),
  ];
}

const check = (events: HistoryEvent[]) =>
  verifyCall(
    events,
    name,
    (tool) =>
      builtInTools.find((one) => one.name === tool) ?? {
        name: tool,
        tier: 'elevated',
        effect: 'once',
        groups: [],
        needs: [],
      },
    parseConfig('{}', 'test.jsonc').config,
  );

test.each(anything.map((value) => [value]))('of %j a story is told, and a check made', async (value) => {
  const events = historyOf(value);
  const entries = [...callStory(name, events), ...notificationsIn(events), ...decisionsIn(events, 's')];
  const story = storyOf({ kind: 'call', id: 'call/s/c', ...name, runId: 'r', entries }, { trace: true });
  expect(storyText(story)).toContain('not heard: a decision message');
  expect(storyMarkdown(story)).toContain('**not heard**');
  expect((await check(events)).every(({ text }) => typeof text === 'string')).toBe(true);
});

test('what was recorded by another worker is said to be that', async () => {
  const events = [prepared(7), ended({ status: wordless })];
  const entries = callStory(name, events);
  expect(entries[0]).toMatchObject({ what: 'unreadable', event: 'markerRecorded' });
  const story = storyOf({ kind: 'call', id: 'call/s/c', ...name, runId: 'r', entries }, { trace: false });
  expect(storyText(story).match(/recorded in another form than Countersign’s/g)).toHaveLength(2);
  expect(await check([prepared({ verdict: 'ask' })])).toMatchObject([{ what: 'history', ok: false }]);
});

test('an outcome is completed only where something on record has completed', async () => {
  const completed = { status: 'completed', output: 'made up', attempts: 1, tries: 1 };
  const run = { verdict: 'run', judgement: {}, plan: { effect: 'read', limits: {} } };
  const wrong = [{ what: 'outcome', ok: false }];
  expect(await check([ended(completed)])).toMatchObject(wrong);
  expect(await check([prepared(run), ended(completed)])).toMatchObject(wrong);
  expect(await check([prepared({ ...run, result: { status: 'held' } }), ended(completed)])).toMatchObject(wrong);
  expect(await check([prepared({ ...run, result: { status: 'completed', output: 1 } }), ended(completed)])).toEqual([]);
});
