/** `countersign approve`: lets a waiting call run. */
import type { Command } from 'commander';
import { sha256 } from '../../approval/digest.ts';
import type { OpenRequest } from '../../client/index.ts';
import { longCode } from '../../protocol/approval.ts';
import { CountersignError } from '../../protocol/errors.ts';
import type { JsonObject } from '../../protocol/json.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import { decide } from '../calls/decide.ts';
import { parseArguments } from '../io/input.ts';
import type { Ended } from '../program.ts';
import type { Status } from '../status.ts';

interface Options extends Common, Signing {
  edit?: string;
  asEdited?: string;
  reason?: string;
  override?: true;
}

const EXAMPLES = `
countersign approve '#K3QF7MXW2PLA7TQB6ZJ9HNVD'
countersign approve '#K3QF7MXW2PLA7TQB6ZJ9HNVD' --reason 'release day'
countersign approve '#K3QF7MXW2PLA7TQB6ZJ9HNVD' --edit '{"command":"git push --dry-run","sandbox":false,"reason":"look first"}'
countersign approve '#K3QF7MXW2PLA7TQB6ZJ9HNVD' --as-edited sha256:…      the arguments that others approve, as countersign show names them
countersign approve call/build-17/push-1                      with a key it shows the request, and asks

What is signed is what was shown: where there is a key, give the code of 24 letters that countersign show prints.
Exit status 5 when the decision was not taken; the answer on stdout says why. Repeating a decision is harmless.`;

export function command(ended: Ended): Command {
  const approve = defineCommand('approve', 'Lets a waiting call run, as shown or with other arguments.', EXAMPLES)
    .argument('<call>', 'its code, or its full name')
    .option('--edit <json>', 'arguments to run in place of those asked for')
    .option('--as-edited <digest>', 'where several have to agree: the edited arguments that the others approve')
    .option('--reason <text>', 'why; kept for audit')
    .option('--override', 'stand in for all approvers that are required; for the role emergency');
  return onAction(signing(approve), ended, run);
}

async function run(reference: string, options: Options): Promise<Status> {
  const { edit, asEdited, reason, override, json, ...who } = options;
  if (edit !== undefined && asEdited !== undefined)
    throw new CountersignError('invalid_usage', 'give --edit or --as-edited: they say different things');
  const edited = edit === undefined ? undefined : parseArguments(edit, '--edit');
  const decider = await deciderOf(who);
  return decide(reference, {
    decision: 'approve',
    json: json === true,
    signed: decider.signer !== undefined,
    question: questionOf(options),
    take: (countersign, request) => {
      const args = asEdited === undefined ? edited : othersEdit(request, asEdited);
      return countersign.approvals.approve(request, {
        ...(args && { arguments: args }),
        ...(reason !== undefined && { reason }),
        ...(override && { override }),
        ...decider,
      });
    },
  });
}

function questionOf({ edit, asEdited }: Options): string {
  if (edit !== undefined) return 'Approve the arguments that you gave, in place of those above?';
  return asEdited === undefined ? 'Approve exactly this?' : 'Approve the arguments that others approve, as above?';
}

/** By the digest that the approver was shown: what others approve may be something else by now. */
function othersEdit(request: OpenRequest | string, digest: string): JsonObject {
  if (typeof request === 'string')
    throw new CountersignError('call_not_found', `Call ${request} waits for no approval.`);
  const edited = request.collected?.at(-1)?.decision.arguments;
  if (edited && sha256(edited) === digest) return edited;
  const message = `Others do not approve that, or no longer: look at it again (countersign show '${longCode(request.request.digest)}') and decide anew.`;
  throw new CountersignError('digest_mismatch', message);
}
