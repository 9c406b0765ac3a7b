/** What approve and deny have in common: find the request, decide on exactly that, tell the answer. */
import type { Decision, DecisionAnswer, Halt, OpenRequest } from '../../client/index.ts';
import { isCountersignError } from '../../protocol/errors.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import { safeLine, safeText } from '../../approval/render/safe-text.ts';
import { heldField } from './outcome-line.ts';
import { heldLines } from '../render/halted.ts';
import { type AnyCountersign, checkCallReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

/** `request` is the open request where there is one; else the name, for a decision that repeats an earlier one. */
type Decide = (countersign: AnyCountersign, request: OpenRequest | string) => Promise<DecisionAnswer>;

export async function decide(
  decision: Decision['decision'],
  reference: string,
  json: boolean,
  take: Decide,
): Promise<Status> {
  checkCallReference(reference);
  return withService(async (countersign) => {
    const { answer, open } = await answerOf(countersign, reference, take);
    // Only a courtesy: the decision is taken.
    const halt = letsRun(decision, answer) ? await countersign.control.halted().catch(() => undefined) : undefined;
    tell(answer, { reference, json, ...(open && { open }), ...(halt && { halt }) });
    return isTaken(answer) ? STATUS.done : STATUS.undecided;
  });
}

const isTaken = ({ answer }: DecisionAnswer): boolean => answer === 'accepted' || answer === 'already_decided';

/** One that was decided before may have run before the halt. */
const letsRun = (decision: Decision['decision'], { answer, agreed }: DecisionAnswer): boolean =>
  decision === 'approve' && answer === 'accepted' && agreed === undefined;

interface Telling {
  reference: string;
  json: boolean;
  open?: OpenRequest;
  halt?: Halt;
}

function tell(answer: DecisionAnswer, { reference, json, open, halt }: Telling): void {
  if (json) return printJson({ ...answer, call: open?.id ?? reference, ...(halt && { held: heldField(halt) }) });
  print(`${paint([isTaken(answer) ? 'green' : 'red', 'bold'], answer.answer)}  ${safeText(answer.message)}`);
  if (halt) heldLines(halt).forEach((line) => print(line));
  if (open) note(paint('dim', `  ${safeLine(open.request.tool)}  ${open.id}`, process.stderr));
}

async function answerOf(
  countersign: AnyCountersign,
  reference: string,
  take: Decide,
): Promise<{ answer: DecisionAnswer; open?: OpenRequest }> {
  let open: OpenRequest | undefined;
  try {
    open = await countersign.approvals.show(reference);
    // The code was read somewhere; what waits now may have another digest.
    if (reference.startsWith('#') && open.code !== reference.toUpperCase()) {
      const message = `What waits is now ${open.code}: look at it again (countersign show '${open.code}') and decide anew.`;
      return { answer: { answer: 'digest_mismatch', message }, open };
    }
    return { answer: await take(countersign, open), open };
  } catch (error) {
    if (isCountersignError(error) && error.code === 'digest_mismatch')
      return { answer: { answer: 'digest_mismatch', message: error.message } };
    if (!isCountersignError(error) || error.code !== 'call_not_found' || open) throw error;
    return { answer: await repeated(countersign, reference, take) };
  }
}

/** Nothing waits under that name: a decision that was taken before is answered as such, any other is on nothing. */
async function repeated(countersign: AnyCountersign, reference: string, take: Decide): Promise<DecisionAnswer> {
  try {
    return await take(countersign, reference);
  } catch (error) {
    if (isCountersignError(error) && error.code === 'call_not_found')
      return { answer: 'not_pending', message: error.message };
    throw error;
  }
}
