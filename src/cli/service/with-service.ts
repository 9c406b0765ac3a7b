/** The connection that a command uses, for as long as it needs it. */
import type { Countersign } from '../../client/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';

/** Tool names come from the command line, so no tool's type is known. */
export type AnyCountersign = Countersign<object>;

/** @throws CountersignError `no_service` */
export async function withService<T>(work: (countersign: AnyCountersign) => Promise<T>): Promise<T> {
  const { Countersign } = await import('../../client/index.ts');
  const countersign = await Countersign.connect<object>();
  try {
    return await work(countersign);
  } finally {
    await countersign.close();
  }
}

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
