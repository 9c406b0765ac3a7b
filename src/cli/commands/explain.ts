/** `countersign explain`: what policy makes of a call, and why, without running it. */
import { type Command, Option } from 'commander';
import type { CaseSession } from '../../policy/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { SESSION_KINDS, type SessionKind } from '../../protocol/session.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { readArguments } from '../io/input.ts';
import { withExplainer } from '../judge/explainer.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { explanationText } from '../render/explanation.ts';

interface Options extends Common {
  session?: string;
  workspace?: string;
  agent?: string;
  channel?: string;
  kind?: SessionKind;
  provider?: string;
  group?: string;
  owner?: string;
  config?: string;
  jsonl?: true;
}

/** What a session that is named has of its own. */
const OF_A_SESSION = ['workspace', 'agent', 'channel', 'kind', 'provider', 'group', 'owner'] as const;

const EXAMPLES = `
countersign explain shell '{"command":"rm -rf build"}'
countersign explain write '{"path":"/etc/passwd","content":""}' --workspace ~/projects/website
countersign explain shell '{"command":"npm test"}' --config strict.jsonc --json
countersign explain delete '{"path":"a"}' --agent coder --kind branch
countersign explain --jsonl < calls.jsonl          one {"session"?,"tool","arguments"} a line

With --session the worker explains, by the rules it has now; with --config too, this command, by that file.
Without --session no service is needed: the call is judged as one of a main session of the folder, or of the session that --agent, --kind and
the like describe, by this folder’s configuration, else by that of the service that runs on this machine, else by the user’s. Agent,
channel and owner must be declared there, as a service wants it.

Grants are left out: a call that one covers is explained as asked about, and runs (countersign grant list).`;

export function command(ended: Ended): Command {
  const explain = defineCommand(
    'explain',
    'Says whether a call would run, be asked about or be refused, and which rules said so.',
    EXAMPLES,
  )
    .argument('[tool]', 'the tool')
    .argument('[arguments]', 'its arguments as JSON; - reads them from standard input')
    .option('--session <id>', 'the session that would call')
    .option('--workspace <dir>', 'the folder of the session that would call (default: this one)')
    .option('--agent <id>', 'its agent (default: default)')
    .addOption(new Option('--kind <kind>', 'what it is (default: main)').choices(SESSION_KINDS))
    .option('--channel <name>', 'the channel of its main session; none: it has none (default: inbox)')
    .option('--provider <name>', 'the provider of its model')
    .option('--group <name>', 'the conversation that it belongs to')
    .option('--owner <name>', 'the sender that it acts for')
    .option('--config <file>', 'the configuration to judge by')
    .option('--jsonl', 'read calls from standard input, one JSON object a line; print one answer a line');
  return onAction(explain, ended, run);
}

async function run(tool: string | undefined, args: string | undefined, options: Options): Promise<void> {
  const { session, workspace, config, jsonl, json } = options;
  const own = OF_A_SESSION.find((name) => options[name] !== undefined);
  if (session !== undefined && own !== undefined)
    throw new CountersignError('invalid_usage', `give --session or --${own}: a session has its ${own}`);
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
    said: saidOf(options),
  };
  await withExplainer(given, async (explain) => {
    if (tool === undefined) return (await import('../judge/explain-lines.ts')).explainLines(explain);
    const { explanation, by } = await explain({ tool, arguments: await readArguments(args) });
    if (json) printJson(explanation);
    else {
      print(explanationText(tool, explanation));
      print(`\n  ${paint('dim', `judged by ${safeLine(by)}`)}`);
    }
  });
}

function saidOf({ agent, channel, kind, provider, group, owner }: Options): CaseSession {
  return {
    ...(agent !== undefined && { agent }),
    ...(channel !== undefined && { channel: channel === 'none' ? null : channel }),
    ...(kind !== undefined && { kind }),
    ...(provider !== undefined && { provider }),
    ...(group !== undefined && { group }),
    ...(owner !== undefined && { owner }),
  };
}
