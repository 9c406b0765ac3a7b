/** `countersign call`: runs one call and says how it ended, or what it waits for. */
import type { Command } from 'commander';
import { callSummary } from '../../client/summary.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { longCode } from '../../protocol/approval.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { type Wait, followCall } from '../calls/follow-call.ts';
import { readArguments } from '../io/input.ts';
import { mainSession } from '../sessions/main-session.ts';
import { outcomeLine, statusOfLine } from '../calls/outcome-line.ts';
import { concurrency, duration } from '../io/options.ts';
import { note, onInterrupt, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { heldBy } from '../render/halted.ts';
import { outcomeText } from '../render/outcome.ts';
import { withSpinner } from '../render/spinner.ts';
import { withService } from '../service/with-service.ts';
import type { Status } from '../status.ts';
import { showProgress } from '../calls/show-progress.ts';

interface Options extends Common {
  session?: string;
  callId?: string;
  /** Milliseconds; false with --no-wait; true by default. */
  wait?: number | boolean;
  jsonl?: true;
  concurrency: number;
}

const EXAMPLES = `
countersign call list
countersign call read '{"path":"README.md"}'
countersign call shell '{"command":"npm test"}' --wait 10m    waits that long, for a person's decision too
jq -n '{path:"a.txt",content:"hi"}' | countersign call write - --session build-17
countersign call --jsonl --concurrency 4 < calls.jsonl        one {"session"?,"callId"?,"tool","arguments"} a line

Ctrl-C stops the waiting, not the call: countersign cancel CALL ends it. The same --call-id again is the same call.
With --no-wait, countersign result CALL says later what came of it.
With --jsonl the exit status is 0 when every line got an answer line: each answer says how its own call ended.`;

export function command(ended: Ended): Command {
  const call = defineCommand(
    'call',
    'Runs one tool call, in the main session of this folder unless --session names another.',
    EXAMPLES,
  )
    .argument('[tool]', 'the tool (countersign tools lists them)')
    .argument('[arguments]', 'its arguments as JSON; - reads them from standard input')
    .option('--session <id>', 'the session that calls')
    .option('--call-id <id>', 'the call’s id; made up unless given')
    .option(
      '--wait <duration>',
      'how long to wait, as 30s or 10m (default: until it is done or needs somebody)',
      duration,
    )
    .option('--no-wait', 'start it only')
    .option('--jsonl', 'read calls from standard input, one JSON object a line; print one outcome a line')
    .option('--concurrency <n>', 'calls at a time with --jsonl', concurrency, 20);
  return onAction(call, ended, run);
}

export const waitOf = (wait: number | boolean | undefined): Wait =>
  wait === false ? 'none' : typeof wait === 'number' ? wait : 'settle';

async function run(tool: string | undefined, args: string | undefined, options: Options): Promise<Status> {
  if (options.jsonl) {
    if (tool !== undefined)
      throw new CountersignError(
        'invalid_usage',
        '--jsonl reads tools and arguments from standard input; leave them out',
      );
    if (options.callId !== undefined)
      throw new CountersignError(
        'invalid_usage',
        'with --jsonl each line has a callId of its own; leave out --call-id',
      );
    const { callLines } = await import('../calls/call-lines.ts');
    return callLines({
      wait: waitOf(options.wait),
      concurrency: options.concurrency,
      ...(options.session !== undefined && { session: options.session }),
    });
  }
  if (tool === undefined)
    throw new CountersignError(
      'invalid_usage',
      'name a tool, as in: countersign call list (countersign tools lists them)',
    );
  return callOnce(tool, args, options);
}

async function callOnce(
  tool: string,
  given: string | undefined,
  { session: id, callId, wait: asked, json }: Options,
): Promise<Status> {
  const args = await readArguments(given);
  const wait = waitOf(asked);
  return withService(async (countersign) => {
    const session = id === undefined ? await mainSession(countersign) : await countersign.session(id);
    const since = performance.now();
    const call = await session.startUntyped(tool, args, callId === undefined ? {} : { callId });
    const forget = onInterrupt(() => note(`\nThe call goes on. End it: countersign cancel ${call.id}`));
    const progress = await withSpinner(callSummary(tool, args), (spinner) =>
      showProgress(call, spinner, () =>
        followCall(call, wait, {
          onWaiting: ({ waiting }) => {
            if (waiting.for === 'approval')
              spinner.note(`Waits for approval: countersign show '${longCode(waiting.request.digest)}'`);
          },
          onHeld: (halt) => spinner.note(heldBy(halt)),
        }),
      ),
    );
    forget();
    const line = outcomeLine(call, tool, progress, Math.round(performance.now() - since));
    if (json) printJson(line);
    else print(outcomeText(line));
    return statusOfLine(line, { waited: wait !== 'none' });
  });
}
