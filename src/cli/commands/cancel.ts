/** `countersign cancel`: ends a call. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { followCall } from '../calls/follow-call.ts';
import { duration } from '../io/options.ts';
import { outcomeLine } from '../calls/outcome-line.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { outcomeText } from '../render/outcome.ts';
import { withSpinner } from '../render/spinner.ts';
import { callNamed, callReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

interface Options extends Common {
  wait: number;
}

const EXAMPLES = `
countersign cancel call/build-17/test-3
countersign cancel '#K3QF7M'

A running tool is stopped with everything that it started. Exit status 0 when the call has ended cancelled,
1 when it had ended otherwise before, 4 when it still runs.`;

export function command(ended: Ended): Command {
  const cancel = defineCommand('cancel', 'Ends a call, and says how it has ended.', EXAMPLES)
    .argument('<call>', 'its full name or short code')
    .option('--wait <duration>', 'how long to wait for its end', duration, 30_000);
  return onAction(cancel, ended, run);
}

async function run(given: string, { wait, json }: Options): Promise<Status> {
  const reference = callReference(given);
  return withService(async (countersign) => {
    const call = countersign.call(await callNamed(countersign, reference));
    const { tool } = await call.input();
    const since = performance.now();
    await call.cancel();
    const progress = await withSpinner(`cancel ${tool}`, () =>
      followCall(call, wait, { seen: Number.MAX_SAFE_INTEGER }),
    );
    const line = outcomeLine(call, tool, progress, Math.round(performance.now() - since));
    if (json) printJson(line);
    else print(outcomeText(line));
    if (line.status === 'cancelled') return STATUS.done;
    return progress.state === 'done' ? STATUS.otherwise : STATUS.waiting;
  });
}
