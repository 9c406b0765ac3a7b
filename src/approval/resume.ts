/** Whether somebody may end a halt. To halt is the safe side, and anybody's; to resume lets all that was held run. */
import type { Halt, Resume } from '../protocol/control.ts';
import { approverNamed, hasEnded, mayResume } from './approvers.ts';
import { resumePayload } from './payload.ts';
import { isSignature, parsePublicKey } from './public-key.ts';
import { CLOCK_SKEW_MS, type Refused, type SignatureSettings, notListed } from './verify.ts';

export type ResumeCheck = { ok: true; verified: boolean } | Refused;

/**
 * Checks what is to end this halt in this namespace. One that is signed must be well signed, whatever the settings; one that is not
 * counts only where signatures are optional. Never throws, whatever it is given.
 */
export function verifyResume(
  resume: Resume,
  { halt, namespace }: { halt: Halt; namespace: string },
  { signatures, approvers }: SignatureSettings,
  now: number,
): ResumeCheck {
  const bad = (reason: string): ResumeCheck => ({ ok: false, code: 'bad_signature', reason });
  const { by, at, signature } = resume;
  if (signature === undefined) {
    return signatures === 'required'
      ? bad('The configuration asks for a signed resume: countersign resume, with an approver’s key.')
      : { ok: true, verified: false };
  }
  try {
    const approver = approverNamed(approvers, by);
    if (!approver) return notListed(by, approvers);
    if (hasEnded(approver, now)) return bad(`${JSON.stringify(by)} was an approver until ${approver.until ?? ''}.`);
    if (!mayResume(approver)) return bad(`${JSON.stringify(by)} may not resume: "may" does not say "control:resume".`);
    if (resume.halt !== halt.id) return bad('The resume is for another halt.');
    if (at === undefined || at > now + CLOCK_SKEW_MS || at < halt.at - CLOCK_SKEW_MS)
      return bad('The resume says that it was made before the halt, or in the future.');
    const key = approver.publicKey === undefined ? undefined : parsePublicKey(approver.publicKey);
    return key !== undefined && isSignature(key, resumePayload(resume, halt, namespace), signature)
      ? { ok: true, verified: true }
      : bad(`The signature is not that of ${JSON.stringify(by)} on the end of this halt.`);
  } catch {
    return bad('The resume could not be read.');
  }
}
