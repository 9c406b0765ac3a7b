/** `countersign amend`: other arguments for a call whose own were invalid. */
import type { Command } from 'commander';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { followCall } from '../calls/follow-call.ts';
import { readArguments } from '../io/input.ts';
import { duration } from '../io/options.ts';
import { outcomeLine, statusOfLine } from '../calls/outcome-line.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { outcomeText } from '../render/outcome.ts';
import { withSpinner } from '../render/spinner.ts';
import { callReference, withService } from '../service/with-service.ts';
import { showProgress } from '../calls/show-progress.ts';
import type { Status } from '../status.ts';
import { waitOf } from './call.ts';

interface Options extends Common {
  wait?: number | boolean;
}

const EXAMPLES = `
countersign amend call/build-17/write-1 '{"path":"a.txt","content":"hi"}'
countersign amend call/build-17/write-1 - < arguments.json

A call takes three sets of arguments in all. It then goes on as if it had begun with these.`;

export function command(ended: Ended): Command {
  const amend = defineCommand(
    'amend',
    'Gives a call that waits for a correction other arguments, and says how it goes on.',
    EXAMPLES,
  )
    .argument('<call>', 'its full name: call/<session>/<call id>')
    .argument('<arguments>', 'all its arguments as JSON; - reads them from standard input')
    .option(
      '--wait <duration>',
      'how long to wait, as 30s or 10m (default: until it is done or needs somebody)',
      duration,
    )
    .option('--no-wait', 'hand them over only');
  return onAction(amend, ended, run);
}

async function run(id: string, given: string, { wait: asked, json }: Options): Promise<Status> {
  callReference(id);
  const args = await readArguments(given);
  const wait = waitOf(asked);
  return withService(async (countersign) => {
    const call = countersign.call(id);
    const since = performance.now();
    const waiting = await call.waiting();
    const attempt = waiting?.for === 'correction' ? waiting.attempt : 0;
    const answer = await call.amend(args, attempt);
    if (answer.answer !== 'accepted') throw new CountersignError('not_waiting_for_correction', answer.message);
    const tool = waiting?.tool ?? '';
    const progress = await withSpinner(tool, (spinner) =>
      showProgress(call, spinner, () => followCall(call, wait, { seen: attempt })),
    );
    const line = outcomeLine(call, tool, progress, Math.round(performance.now() - since));
    if (json) printJson(line);
    else print(outcomeText(line));
    return statusOfLine(line, { waited: wait !== 'none' });
  });
}
