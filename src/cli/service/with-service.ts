/** The connection that a command uses, for as long as it needs it. */
import type { Countersign } from '../../client/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';
import { TASK_QUEUE } from '../../protocol/names.ts';
import { note } from '../io/output.ts';

/** Tool names come from the command line, so no tool's type is known. */
export type AnyCountersign = Countersign<object>;

/** @throws CountersignError `no_service` */
export async function withService<T>(work: (countersign: AnyCountersign) => Promise<T>): Promise<T> {
  const { Countersign } = await import('../../client/index.ts');
  const countersign = await Countersign.connect<object>();
  const timer = setTimeout(() => void warnIfIdle(countersign), NO_WORKER_AFTER_MS);
  try {
    return await work(countersign);
  } finally {
    clearTimeout(timer);
    await countersign.close();
  }
}

/** With a worker an answer, if only that a call waits, comes long before; a tool that runs for minutes has one. */
const NO_WORKER_AFTER_MS = 5_000;

/** A Temporal server without a worker takes calls and does nothing about them. */
async function warnIfIdle({ temporal }: AnyCountersign): Promise<void> {
  const { namespace } = temporal.options;
  // Only a courtesy: whoever waits hears of what is wrong with the server from the request itself.
  const queue = await temporal.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: WORKFLOW_TASKS })
    .catch(() => undefined);
  if (queue?.pollers?.length !== 0) return;
  note(
    `No worker takes calls from namespace ${namespace}. Start one: countersign start (with TEMPORAL_ADDRESS for a server of your own).`,
  );
}

/** From temporal.api.enums.v1.TaskQueueType. */
const WORKFLOW_TASKS = 1;

const SHORT_CODE = /^#[A-Za-z0-9]{6}$/;

/** True for what can name a call: `call/<session>/<call id>` or `#` and six letters. */
export const isCallReference = (text: string): boolean =>
  SHORT_CODE.test(text) || parseCallWorkflowId(text) !== undefined;

/** The full name of the call that a person means. Short codes are looked up among the calls that wait for approval. */
export async function callNamed(countersign: AnyCountersign, text: string): Promise<string> {
  checkCallReference(text);
  return text.startsWith('#') ? (await countersign.approvals.show(text)).id : text;
}

export function checkCallReference(text: string): void {
  if (isCallReference(text)) return;
  throw new CountersignError(
    'invalid_usage',
    `${JSON.stringify(text.slice(0, 200))} names no call. Use its full name, call/<session>/<call id>, or its short code in quotes: '#K3QF7M'`,
  );
}
