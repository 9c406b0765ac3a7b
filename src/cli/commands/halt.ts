/** `countersign halt`: the emergency stop. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { haltedBy } from '../render/halted.ts';
import { withService } from '../service/with-service.ts';

interface Options extends Common {
  reason?: string;
  by?: string;
  status?: true;
}

const EXAMPLES = `
countersign halt --reason 'the agent is deleting the wrong things'
countersign halt --status
countersign resume --reason 'fixed'

While the service is halted nothing new runs. What runs goes on (countersign cancel ends it), what waits goes on waiting, decisions
are taken, and calls that were let through are held until it is resumed, for a day at most.`;

export function command(ended: Ended): Command {
  const halt = defineCommand('halt', 'Halts the service: nothing new runs until it is resumed.', EXAMPLES)
    .option('--reason <text>', 'why; callers are told, and it is kept for audit')
    .option('--by <name>', 'who halts (default: your name on this machine); it is not verified')
    .option('--status', 'only say whether it is halted');
  return onAction(halt, ended, run);
}

async function run({ reason, by, status, json }: Options): Promise<void> {
  if (status) {
    if (reason !== undefined || by !== undefined)
      throw new CountersignError('invalid_usage', '--status changes nothing; leave out --reason and --by');
    return report(json === true);
  }
  if (reason === undefined || reason.trim() === '')
    throw new CountersignError('invalid_usage', `say why: countersign halt --reason '…'`);
  checkControlRequest(reason, by);
  await withService(async ({ control }) => {
    const halt = await control.halt({ reason, ...(by !== undefined && { by }) });
    // The first halt stands, whoever comes after; only its own words tell it from this one.
    const stood = halt.reason !== reason || halt.by !== (by ?? userInfo().username);
    if (json)
      return printJson({
        halted: true,
        ...halt,
        at: new Date(halt.at).toISOString(),
        ...(stood && { alreadyHalted: true }),
      });
    print(`${paint(['red', 'bold'], 'halted')} ${haltedBy(halt)}`);
    if (stood) print('  It was halted already: that halt stands, and this one, with its reason, is not on record.');
    print(`  Calls run again after: countersign resume --reason '…'`);
  });
}

async function report(json: boolean): Promise<void> {
  await withService(async ({ control }) => {
    const halt = await control.halted();
    if (json) printJson({ halted: halt !== undefined, ...(halt && { ...halt, at: new Date(halt.at).toISOString() }) });
    else if (halt) print(`${paint(['red', 'bold'], 'halted')} ${haltedBy(halt)}`);
    else print(`${paint(['green', 'bold'], 'running')}  Calls run.`);
  });
}

/** The limits of the wire, said before anything is sent. */
export function checkControlRequest(reason: string, by: string | undefined): void {
  if (reason.length > 1_000) throw new CountersignError('invalid_usage', 'a reason has at most 1,000 characters');
  if (by !== undefined && (by.trim() === '' || by.length > 200))
    throw new CountersignError('invalid_usage', 'a name has 1 to 200 characters');
}
