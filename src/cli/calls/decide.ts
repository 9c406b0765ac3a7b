/** What approve and deny have in common: find the request, decide on exactly that, tell the answer. */
import type { DecisionAnswer, OpenRequest } from '../../client/index.ts';
import { isCountersignError } from '../../protocol/errors.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import { safeLine, safeText } from '../../approval/render/safe-text.ts';
import { type AnyCountersign, checkCallReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

/** `request` is the open request where there is one; else the name, for a decision that repeats an earlier one. */
type Decide = (countersign: AnyCountersign, request: OpenRequest | string) => Promise<DecisionAnswer>;

export async function decide(reference: string, json: boolean, take: Decide): Promise<Status> {
  checkCallReference(reference);
  return withService(async (countersign) => {
    const { answer, open } = await answerOf(countersign, reference, take);
    const taken = answer.answer === 'accepted' || answer.answer === 'already_decided';
    if (json) printJson({ ...answer, call: open?.id ?? reference });
    else {
      print(`${paint([taken ? 'green' : 'red', 'bold'], answer.answer)}  ${safeText(answer.message)}`);
      if (open) note(paint('dim', `  ${safeLine(open.request.tool)}  ${open.id}`, process.stderr));
    }
    return taken ? STATUS.done : STATUS.undecided;
  });
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
