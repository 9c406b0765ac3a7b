/** `countersign resume`: the end of an emergency stop. */
import type { Command } from 'commander';
import { safeText } from '../../approval/render/safe-text.ts';
import { CountersignError, isCountersignError } from '../../protocol/errors.ts';
import { canAsk, confirmed } from '../io/confirm.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { haltedBy } from '../render/halted.ts';
import { STATUS, type Status } from '../status.ts';
import { withService } from '../service/with-service.ts';
import { checkControlRequest } from './halt.ts';

interface Options extends Common, Signing {
  reason: string;
}

const EXAMPLES = `
countersign resume --reason 'the rule is fixed'

Calls that were held go on by themselves within half a minute. To resume a service that runs is harmless. Where the configuration asks
for signatures it takes the key of an approver who may; status 5 where it does not hold. On a terminal, whoever signs is shown the halt and
asked.`;

export function command(ended: Ended): Command {
  const resume = defineCommand('resume', 'Lets calls run again after a halt.', EXAMPLES).requiredOption(
    '--reason <text>',
    'why; kept for audit',
  );
  return onAction(signing(resume), ended, run);
}

async function run({ reason, json, ...who }: Options): Promise<Status> {
  if (reason.trim() === '') throw new CountersignError('invalid_usage', `say why: countersign resume --reason '…'`);
  checkControlRequest(reason, who.as);
  const { approver: by, signer } = await deciderOf(who);
  return withService(async ({ control }) => {
    const before = await control.halted();
    if (before && signer && !json && canAsk()) {
      note(`The service is halted ${haltedBy(before)}.`);
      if (!(await confirmed('End exactly this halt?'))) {
        note('Nothing was decided. The halt stands.');
        return STATUS.undecided;
      }
    }
    try {
      await control.resume({ reason, by, ...(signer && { signer }), ...(before && { halt: before }) });
    } catch (error) {
      if (!isCountersignError(error) || error.code !== 'bad_signature') throw error;
      if (json) printJson({ halted: true, answer: error.code, message: error.message });
      else print(`${paint(['red', 'bold'], error.code)}  ${safeText(error.message)}`);
      return STATUS.undecided;
    }
    if (json) printJson({ halted: false, was: before ? { ...before, at: new Date(before.at).toISOString() } : null });
    else {
      print(`${paint(['green', 'bold'], 'running')}  Calls run${before ? ' again' : '; the service was not halted'}.`);
      if (before) print(paint('dim', `  It was halted ${haltedBy(before)}`));
    }
    return STATUS.done;
  });
}
