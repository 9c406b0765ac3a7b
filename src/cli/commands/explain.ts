/** `countersign explain`: what policy makes of a call, and why, without running it. */
import type { Command } from 'commander';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { readArguments } from '../io/input.ts';
import { withExplainer } from '../judge/explainer.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { explanationText } from '../render/explanation.ts';

interface Options extends Common {
  session?: string;
  workspace?: string;
  config?: string;
  jsonl?: true;
}

const EXAMPLES = `
countersign explain shell '{"command":"rm -rf build"}'
countersign explain write '{"path":"/etc/passwd","content":""}' --workspace ~/projects/website
countersign explain shell '{"command":"npm test"}' --config strict.jsonc --json
countersign explain --jsonl < calls.jsonl          one {"session"?,"tool","arguments"} a line

With --session the worker explains, by the rules it has now; with --config too, this command, by that file.
Without --session no service is needed: the call is judged as one of a main session of the folder, by the configuration found here.`;

export function command(ended: Ended): Command {
  const explain = defineCommand(
    'explain',
    'Says whether a call would run, be asked about or be refused, and which rules said so.',
    EXAMPLES,
  )
    .argument('[tool]', 'the tool')
    .argument('[arguments]', 'its arguments as JSON; - reads them from standard input')
    .option('--session <id>', 'the session that would call')
    .option('--workspace <dir>', 'the folder of a main session that would call (default: this one)')
    .option('--config <file>', 'the configuration to judge by')
    .option('--jsonl', 'read calls from standard input, one JSON object a line; print one answer a line');
  return onAction(explain, ended, run);
}

async function run(tool: string | undefined, args: string | undefined, options: Options): Promise<void> {
  const { session, workspace, config, jsonl, json } = options;
  if (session !== undefined && workspace !== undefined)
    throw new CountersignError('invalid_usage', 'give --session or --workspace: a session has its workspace');
  if (jsonl && tool !== undefined)
    throw new CountersignError(
      'invalid_usage',
      '--jsonl reads tools and arguments from standard input; leave them out',
    );
  if (!jsonl && tool === undefined)
    throw new CountersignError(
      'invalid_usage',
      `name a tool and its arguments, as in: countersign explain shell '{"command":"npm test"}'`,
    );
  const given = {
    ...(session !== undefined && { session }),
    ...(workspace !== undefined && { workspace }),
    ...(config !== undefined && { config }),
  };
  await withExplainer(given, async (explain) => {
    if (tool === undefined) return (await import('../judge/explain-lines.ts')).explainLines(explain);
    const explanation = await explain({ tool, arguments: await readArguments(args) });
    if (json) printJson(explanation);
    else print(explanationText(tool, explanation));
  });
}
