/** `countersign deny`: refuses a waiting call. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import { decide } from '../calls/decide.ts';
import type { Ended } from '../program.ts';
import type { Status } from '../status.ts';

interface Options extends Common, Signing {
  reason: string;
}

const EXAMPLES = `
countersign deny '#K3QF7MXW2PLA7TQB6ZJ9HNVD' --reason 'not on a Friday'

The model is told the reason. Exit status 5 when the decision was not taken.`;

export function command(ended: Ended): Command {
  const deny = defineCommand('deny', 'Refuses a waiting call; it ends as denied.', EXAMPLES)
    .argument('<call>', 'its code, or its full name')
    .requiredOption('--reason <text>', 'why; the model is told, and it is kept for audit');
  return onAction(signing(deny), ended, run);
}

async function run(reference: string, { reason, json, ...who }: Options): Promise<Status> {
  const decider = await deciderOf(who);
  return decide(reference, {
    decision: 'deny',
    json: json === true,
    signed: decider.signer !== undefined,
    question: 'Deny this?',
    take: (countersign, request) => countersign.approvals.deny(request, { reason, ...decider }),
  });
}
