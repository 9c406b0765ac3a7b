/** What is signed is what was shown: what is said where that cannot be told. */
import { type Decision, longCode } from '../protocol/approval.ts';
import { CountersignError } from '../protocol/errors.ts';

/** A name says only where a request stands, and another may have been put there since it was looked at; so it is with a short code. */
export function notSeen(call: string, decision: Decision['decision']): CountersignError {
  const command = decision === 'approve' ? "countersign approve '#…'" : "countersign deny '#…' --reason '…'";
  return new CountersignError(
    'invalid_usage',
    `A signed decision says which request was seen, and ${call} does not. Look at it: countersign show '${call}'. Then decide by the code of 24 letters that it prints: ${command}. In a program: give what approvals.show gave.`,
  );
}

/** Whoever runs the call's workflow, perhaps a stranger, shows what cannot be. */
export const lies = (id: string): CountersignError =>
  new CountersignError('digest_mismatch', `What call ${id} shows is not what it asks for. Do not decide on it.`);

/** What waits has another code than the one that was read. */
export function isAnother(
  code: string,
  { id, request }: { id: string; request: { digest: string } },
): CountersignError {
  const now = longCode(request.digest);
  return new CountersignError(
    'digest_mismatch',
    `${id} no longer waits with ${code}, but with ${now}: look at it again (countersign show '${now}') and decide anew.`,
  );
}
