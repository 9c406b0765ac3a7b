/** The connection that a command uses, for as long as it needs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Countersign } from '../../client/index.ts';
import { isCode } from '../../protocol/approval.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';
import { TASK_QUEUE } from '../../protocol/names.ts';
import { CLEAR_LINE, note } from '../io/output.ts';

/** Tool names come from the command line, so no tool's type is known. */
export type AnyCountersign = Countersign<object>;

/** A server that is gone is given up after this, in milliseconds; whoever wants to wait longer calls again. */
const PATIENCE_MS = 8_000;

/** @throws CountersignError `no_service` */
export async function withService<T>(work: (countersign: AnyCountersign) => Promise<T>): Promise<T> {
  const { Countersign } = await import('../../client/index.ts');
  const slow = setTimeout(() => say('Waits for the Temporal server to answer …'), SLOW_MS);
  const countersign = await Countersign.connect<object>({ patienceMs: PATIENCE_MS }).finally(() => clearTimeout(slow));
  const over = new AbortController();
  void watch(countersign, over.signal);
  try {
    return await work(countersign);
  } finally {
    over.abort();
    await countersign.close();
  }
}

/** What takes longer is said to take long; most commands are over by then. */
const SLOW_MS = 1_200;
const LOOK_EVERY_MS = 2_000;
/** A look that takes longer is as good as none. */
const LOOK_MS = 1_500;

/** While a command takes long: says when the server stops answering and when it answers again, and once that no worker takes calls. */
async function watch({ temporal }: AnyCountersign, signal: AbortSignal): Promise<void> {
  const { namespace } = temporal.options;
  let [away, idle] = [false, false];
  for (let wait = SLOW_MS; await passed(wait, signal); wait = away ? LOOK_MS : LOOK_EVERY_MS) {
    // Only a courtesy: whoever waits hears of what is wrong with the server from the request itself.
    const queue = await temporal
      .withDeadline(Date.now() + LOOK_MS, () =>
        temporal.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: TASK_QUEUE },
          taskQueueType: WORKFLOW_TASKS,
        }),
      )
      .catch(() => undefined);
    if (signal.aborted) return;
    if (!queue && !away) say('The Temporal server does not answer. It is asked again for a few seconds …');
    if (queue && away) say('The Temporal server answers again.');
    away = !queue;
    // A server without a worker takes calls and does nothing about them.
    if (queue?.pollers?.length === 0 && !idle) {
      idle = true;
      say(
        `No worker takes calls from namespace ${namespace}. Start one: countersign start (with TEMPORAL_ADDRESS for a server of your own).`,
      );
    }
  }
}

/** False when there is no need to wait any longer. */
const passed = (ms: number, signal: AbortSignal): Promise<boolean> => sleep(ms, true, { signal }).catch(() => false);

/** On a line of its own, also where a spinner moves. */
const say = (text: string): void => note(`${process.stderr.isTTY ? CLEAR_LINE : ''}${text}`);

/** From temporal.api.enums.v1.TaskQueueType. */
const WORKFLOW_TASKS = 1;

/** True for what can name a call: `call/<session>/<call id>` or a code. */
export const isCallReference = (text: string): boolean => isCode(text) || parseCallWorkflowId(text) !== undefined;

/** The full name of the call that a person means, by its code, too. Throws `invalid_usage`, `call_not_found`, `ambiguous_name`. */
export const callNamed = async (countersign: AnyCountersign, text: string): Promise<string> =>
  countersign.approvals.find(callReference(text));

/** A letter of a code; what has others is no code whose # was left out, but a slip. */
const BARE_CODE = /^[A-HJ-NP-Z2-9]+$/i;

/** What is meant by a call's reference on the command line; a code may stand there without its #. Throws `invalid_usage`. */
export function callReference(text: string): string {
  if (isCallReference(text)) return text;
  if (BARE_CODE.test(text) && isCode(`#${text}`)) return `#${text}`;
  throw new CountersignError(
    'invalid_usage',
    `${JSON.stringify(text.slice(0, 200))} names no call. Use its full name, call/<session>/<call id>, or its code in quotes: '#K3QF7M'`,
  );
}
