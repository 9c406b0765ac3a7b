/** `countersign approve`: lets a waiting call run. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import { decide } from '../calls/decide.ts';
import { parseArguments } from '../io/input.ts';
import type { Ended } from '../program.ts';
import type { Status } from '../status.ts';

interface Options extends Common, Signing {
  edit?: string;
  reason?: string;
  override?: true;
}

const EXAMPLES = `
countersign approve '#K3QF7M'
countersign approve call/build-17/push-1 --reason 'release day'
countersign approve '#K3QF7M' --edit '{"command":"git push --dry-run","sandbox":false,"reason":"look first"}'

Exit status 5 when the decision was not taken; the answer on stdout says why. Repeating a decision is harmless.`;

export function command(ended: Ended): Command {
  const approve = defineCommand('approve', 'Lets a waiting call run, as shown or with other arguments.', EXAMPLES)
    .argument('<call>', 'its full name or short code')
    .option('--edit <json>', 'arguments to run in place of those asked for')
    .option('--reason <text>', 'why; kept for audit')
    .option('--override', 'stand in for all approvers that are required; for the role emergency');
  return onAction(signing(approve), ended, run);
}

async function run(reference: string, { edit, reason, override, json, ...who }: Options): Promise<Status> {
  const edited = edit === undefined ? undefined : parseArguments(edit, '--edit');
  const decider = await deciderOf(who);
  return decide(reference, json === true, (countersign, request) =>
    countersign.approvals.approve(request, {
      ...(edited && { arguments: edited }),
      ...(reason !== undefined && { reason }),
      ...(override && { override }),
      ...decider,
    }),
  );
}
