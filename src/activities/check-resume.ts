/** Whether a resume may end a halt: the first of two looks, for who asks is answered by it. What workers believe is up to halt-watch.ts. */
import { type ResumeCheck, verifyResume } from '../approval/resume.ts';
import { wayOut } from '../approval/verify.ts';
import type { Halt, Resume } from '../protocol/control.ts';
import type { Dependencies } from './dependencies.ts';

export function checkResume(
  { client, settings, log }: Dependencies,
  { halt, resume }: { halt: Halt; resume: Resume },
): ResumeCheck {
  const { namespace } = client.options;
  const { approvals } = settings().config;
  // Also of one that is not signed: whoever says which halt they saw ends no other.
  if (resume.halt !== undefined && resume.halt !== halt.id)
    return {
      ok: false,
      code: 'bad_signature',
      reason: 'The resume is for another halt: see countersign halt --status.',
    };
  const checked = verifyResume(resume, { halt, namespace }, approvals, Date.now());
  if (checked.ok) return checked;
  log.warn({ halt, by: resume.by, reason: checked.reason }, 'a resume was refused; the service stays halted');
  return { ...checked, reason: `${checked.reason}${wayOut(checked, approvals.signatures === 'optional')}` };
}
