/** `countersign result`: how a call stands, or how it ended and what it gave back. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { followCall, standingOf } from '../calls/follow-call.ts';
import { outcomeLine, statusOfLine } from '../calls/outcome-line.ts';
import { showProgress } from '../calls/show-progress.ts';
import { duration } from '../io/options.ts';
import { note, onInterrupt, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { outcomeText } from '../render/outcome.ts';
import { withSpinner } from '../render/spinner.ts';
import { callNamed, callReference, withService } from '../service/with-service.ts';
import type { Status } from '../status.ts';

interface Options extends Common {
  /** Milliseconds. */
  wait?: number;
}

const EXAMPLES = `
countersign result call/build-17/push-1
countersign result '#K3QF7M'                           of a request that is decided, too
countersign result call/build-17/push-1 --wait 10m     waits that long for its end, for a person's decision too

It prints what countersign call prints, and its exit status is the same: 0 completed, 1 ended otherwise, 4 not ended yet.`;

export function command(ended: Ended): Command {
  const result = defineCommand('result', 'Says how a call ended and what it gave back, or how it stands.', EXAMPLES)
    .argument('<call>', 'its full name or code')
    .option('--wait <duration>', 'how long to wait for its end, as 30s or 10m (default: not at all)', duration);
  return onAction(result, ended, run);
}

async function run(given: string, { wait, json }: Options): Promise<Status> {
  const reference = callReference(given);
  return withService(async (countersign) => {
    const call = countersign.call(await callNamed(countersign, reference));
    const { tool } = await call.input();
    const forget = onInterrupt(() => note(`\nThe call goes on. End it: countersign cancel ${call.id}`));
    const progress = await withSpinner(`result of ${call.id}`, (spinner) =>
      showProgress(call, spinner, () => (wait === undefined ? standingOf(call) : followCall(call, wait))),
    );
    forget();
    const { startTime, closeTime } = await call.times();
    const line = outcomeLine(call, tool, progress, (closeTime?.getTime() ?? Date.now()) - startTime.getTime());
    if (json) printJson(line);
    else print(outcomeText(line));
    return statusOfLine(line, { waited: true });
  });
}
