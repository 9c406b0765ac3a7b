/** `countersign audit`: the story of a call or a session. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { auditText } from '../render/audit.ts';
import { withSpinner } from '../render/spinner.ts';
import { callNamed, isCallReference, withService } from '../service/with-service.ts';

interface Options extends Common {
  trace?: true;
}

const EXAMPLES = `
countersign audit call/build-17/push-1
countersign audit call/build-17/push-1 --trace      every rule that had something to say
countersign audit build-17                          a session: its children, its calls, the decisions

It is told from Temporal's own history. What looks like a secret is shown as …`;

export function command(ended: Ended): Command {
  const audit = defineCommand(
    'audit',
    'Tells who asked for what, which rule or person let it, what ran, and how it ended.',
    EXAMPLES,
  )
    .argument('<name>', 'a call’s full name or short code, or a session’s id')
    .option('--trace', 'every rule that had something to say');
  return onAction(audit, ended, run);
}

async function run(name: string, { trace, json }: Options): Promise<void> {
  await withService(async (countersign) => {
    const story = await withSpinner(`audit ${name}`, async () =>
      countersign.audit(isCallReference(name) ? await callNamed(countersign, name) : name),
    );
    if (json) printJson(story);
    else print(auditText(story, { trace: trace === true }));
  });
}
