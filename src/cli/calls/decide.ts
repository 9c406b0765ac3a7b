/** What approve and deny have in common: find the request, decide on exactly that, tell the answer. */
import type { Decision, DecisionAnswer, Halt, OpenRequest } from '../../client/index.ts';
import { notSeen } from '../../client/seen.ts';
import { isLongCode } from '../../protocol/approval.ts';
import { isCountersignError } from '../../protocol/errors.ts';
import { canAsk, confirmed } from '../io/confirm.ts';
import { hasColors, note, paint, print, printJson } from '../io/output.ts';
import { safeLine, safeText } from '../../approval/render/safe-text.ts';
import { heldField } from './outcome-line.ts';
import { heldLines } from '../render/halted.ts';
import { type AnyCountersign, callReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

export interface Deciding {
  decision: Decision['decision'];
  json: boolean;
  /** Whether the decision will be signed. */
  signed: boolean;
  /** What a person on a terminal is asked, below the request, where a signed decision does not say which request was seen. */
  question: string;
  /** `request` is the open request where there is one; else the name, for a decision that repeats an earlier one. */
  take: (countersign: AnyCountersign, request: OpenRequest | string) => Promise<DecisionAnswer>;
}

/** @throws CountersignError `invalid_usage` for a signature on what was not seen, where there is no terminal to show it on */
export async function decide(given: string, deciding: Deciding): Promise<Status> {
  const reference = callReference(given);
  const { decision, json } = deciding;
  return withService(async (countersign) => {
    const decided = await answerOf(countersign, reference, deciding);
    if (!decided) {
      note('Nothing was decided. The request still waits.');
      return STATUS.undecided;
    }
    const { answer, open } = decided;
    // Only a courtesy: the decision is taken.
    const halt = letsRun(decision, answer) ? await countersign.control.halted().catch(() => undefined) : undefined;
    tell(answer, { reference, decision, json, ...(open && { open }), ...(halt && { halt }) });
    return isTaken(answer) ? STATUS.done : STATUS.undecided;
  });
}

const isTaken = ({ answer }: DecisionAnswer): boolean => answer === 'accepted' || answer === 'already_decided';

/** One that was decided before may have run before the halt. */
const letsRun = (decision: Decision['decision'], { answer, agreed }: DecisionAnswer): boolean =>
  decision === 'approve' && answer === 'accepted' && agreed === undefined;

interface Telling extends Pick<Deciding, 'decision' | 'json'> {
  reference: string;
  open?: OpenRequest;
  halt?: Halt;
}

function tell(answer: DecisionAnswer, { reference, decision, json, open, halt }: Telling): void {
  if (json) return printJson({ ...answer, call: open?.id ?? reference, ...(halt && { held: heldField(halt) }) });
  print(`${paint([isTaken(answer) ? 'green' : 'red', 'bold'], answer.answer)}  ${safeText(answer.message)}`);
  if (halt) heldLines(halt).forEach((line) => print(line));
  else if (open && letsRun(decision, answer)) print(`  See what came of it: countersign result ${open.id}`);
  if (open) note(paint('dim', `  ${safeLine(open.request.tool)}  ${open.id}`, process.stderr));
}

/** Undefined where the person who was asked did not agree. */
async function answerOf(
  countersign: AnyCountersign,
  reference: string,
  deciding: Deciding,
): Promise<{ answer: DecisionAnswer; open?: OpenRequest } | undefined> {
  let open: OpenRequest | undefined;
  try {
    open = await countersign.approvals.show(reference);
    if (deciding.signed && !isLongCode(reference) && !(await isSeen(open, reference, deciding))) return undefined;
    return { answer: await deciding.take(countersign, open), open };
  } catch (error) {
    if (isCountersignError(error) && error.code === 'digest_mismatch')
      return { answer: { answer: 'digest_mismatch', message: error.message } };
    if (!isCountersignError(error) || error.code !== 'call_not_found' || open) throw error;
    return { answer: await repeated(countersign, reference, { ...deciding, none: error.message }) };
  }
}

/** A name or a short code stands for whatever waits under it now, so that its content is shown here. */
async function isSeen(open: OpenRequest, reference: string, { decision, json, question }: Deciding): Promise<boolean> {
  if (json || !canAsk()) throw notSeen(reference, decision);
  // Only what is shown is worked out: most decisions need none of the policy that reads a command.
  const [{ toTerminal }, { viewOf }] = await Promise.all([
    import('../../approval/render/index.ts'),
    import('./request-view.ts'),
  ]);
  note(toTerminal(await viewOf(open), { width: process.stderr.columns ?? 100, color: hasColors(process.stderr) }));
  return confirmed(question);
}

/** Nothing waits under that name, as `none` says: a decision that was taken before is answered as such, any other is on nothing. */
async function repeated(
  countersign: AnyCountersign,
  reference: string,
  { take, none }: Deciding & { none: string },
): Promise<DecisionAnswer> {
  try {
    return await take(countersign, reference);
  } catch (error) {
    if (isCountersignError(error) && error.code === 'call_not_found') return { answer: 'not_pending', message: none };
    throw error;
  }
}
