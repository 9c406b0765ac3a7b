/** `countersign inbox`: a live screen of what waits for a person, where they look and decide. */
import type { Command } from 'commander';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import type { Actions } from '../inbox/actions.ts';
import type { Aside } from '../inbox/run.ts';
import { hasColors } from '../io/output.ts';
import { askPassphrase } from '../io/passphrase.ts';
import type { Ended } from '../program.ts';
import type { Status } from '../status.ts';

const EXAMPLES = `
countersign inbox

Keys: ↑ ↓ Enter to look at a request; there y approves, n denies, e changes the arguments in your editor; ? says more, q quits.
It needs a terminal. In scripts: countersign pending, show, approve, deny.`;

export function command(ended: Ended): Command {
  const inbox = defineCommand('inbox', 'Shows what waits for an approval, live, and takes decisions.', EXAMPLES);
  return onAction(signing(inbox), ended, run);
}

async function run({ json, ...who }: Common & Signing): Promise<Status> {
  const { stdin: input, stdout: output } = process;
  if (json || !input.isTTY || !output.isTTY) {
    throw new CountersignError(
      'invalid_usage',
      'The inbox is a screen and needs a terminal. In scripts: countersign pending (--json), show, approve, deny.',
    );
  }
  const [{ Countersign }, { runInbox }, { actionsOf }] = await Promise.all([
    import('../../client/index.ts'),
    import('../inbox/run.ts'),
    import('../inbox/actions.ts'),
  ]);
  // Not withService: what that says on stderr would land in the middle of the screen.
  await using countersign = await Countersign.connect<object>();
  const actions = (aside: Aside): Actions =>
    actionsOf(countersign, () => deciderOf(who, (question) => aside(() => askPassphrase(question))));
  return await runInbox(actions, { input, output }, { color: hasColors() });
}
