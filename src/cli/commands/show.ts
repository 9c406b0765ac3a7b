/** `countersign show`: what a call asks to be approved. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { toTerminal } from '../../approval/render/index.ts';
import { viewOf } from '../calls/request-view.ts';
import { hasColors, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { callReference, withService } from '../service/with-service.ts';

const EXAMPLES = `
countersign show '#K3QF7M'
countersign show '#K3QF7M' --full                      long texts, too, without an end
countersign show call/build-17/push-1 --json

The digest is computed here, from the arguments that are shown, and so is what a command would do; what is decided on is exactly that.
The code of 24 letters in the commands that it prints names this very request: a signed decision needs it.
Characters that a terminal would obey or an eye would not see are shown by their numbers, as ⟨U+202E⟩.`;

export function command(ended: Ended): Command {
  const show = defineCommand(
    'show',
    'Shows what a waiting call asks to be approved, and how to decide on it.',
    EXAMPLES,
  )
    .argument('<call>', 'its full name or code')
    .option('--full', 'every line of long texts; otherwise both ends of each');
  return onAction(show, ended, run);
}

async function run(given: string, { json, full }: Common & { full?: true }): Promise<void> {
  const reference = callReference(given);
  await withService(async (countersign) => {
    const open = await countersign.approvals.show(reference);
    const view = await viewOf(open);
    if (json) return printJson({ id: open.id, ...view });
    const lines = full ? { lines: Infinity } : {};
    print(toTerminal(view, { width: process.stdout.columns ?? 100, color: hasColors(), ...lines }));
  });
}
