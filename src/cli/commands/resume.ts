/** `countersign resume`: the end of an emergency stop. */
import type { Command } from 'commander';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { haltedBy } from '../render/halted.ts';
import { withService } from '../service/with-service.ts';
import { checkControlRequest } from './halt.ts';

interface Options extends Common {
  reason: string;
  by?: string;
}

const EXAMPLES = `
countersign resume --reason 'the rule is fixed'

Calls that were held go on by themselves within half a minute. To resume a service that runs is harmless.`;

export function command(ended: Ended): Command {
  const resume = defineCommand('resume', 'Lets calls run again after a halt.', EXAMPLES)
    .requiredOption('--reason <text>', 'why; kept for audit')
    .option('--by <name>', 'who resumes (default: your name on this machine); it is not verified');
  return onAction(resume, ended, run);
}

async function run({ reason, by, json }: Options): Promise<void> {
  if (reason.trim() === '') throw new CountersignError('invalid_usage', `say why: countersign resume --reason '…'`);
  checkControlRequest(reason, by);
  await withService(async ({ control }) => {
    const before = await control.halted();
    await control.resume({ reason, ...(by !== undefined && { by }) });
    if (json)
      return printJson({ halted: false, was: before ? { ...before, at: new Date(before.at).toISOString() } : null });
    print(`${paint(['green', 'bold'], 'running')}  Calls run${before ? ' again' : '; the service was not halted'}.`);
    if (before) print(paint('dim', `  It was halted ${haltedBy(before)}`));
  });
}
