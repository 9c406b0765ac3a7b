/** `countersign tools`: what a session's model may call, and what is missing and why. */
import { type Command, Option } from 'commander';
import { toolsPrompt } from '../../policy/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { folderFacts, localJudge, schemaOf } from '../judge/local-judge.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { table } from '../render/table.ts';
import { sessionKnown } from '../sessions/find-session.ts';
import { type OfferedTool, TOOL_FORMATS, type ToolFormat, formatTools } from '../judge/tool-formats.ts';

interface Options extends Common {
  session?: string;
  format?: ToolFormat;
  config?: string;
  prompt?: true;
}

const EXAMPLES = `
countersign tools
countersign tools --session build-17 --format anthropic > tools.json
countersign tools --prompt > tools.md          the same as text, for a model's system prompt

Without --session no service is needed: the list is that of a main session of this folder, by this folder’s
configuration, else by that of the service that runs on this machine, else by the user’s.`;

export function command(ended: Ended): Command {
  const tools = defineCommand(
    'tools',
    'Lists what the model of a session may call, and what is missing and why.',
    EXAMPLES,
  )
    .option('--session <id>', 'the session')
    .option('--config <file>', 'the configuration to go by')
    .option('--prompt', 'print the text that tells a model of these tools')
    .addOption(
      new Option('--format <format>', 'print the list as a provider’s interface takes it').choices(TOOL_FORMATS),
    );
  return onAction(tools, ended, run);
}

async function run({ session, format, config, prompt, json }: Options): Promise<void> {
  if (prompt && format !== undefined)
    throw new CountersignError('invalid_usage', 'give --prompt or --format: a prompt is text');
  const judge = await localJudge(config);
  const facts = session === undefined ? await folderFacts('.') : (await sessionKnown(session)).facts;
  const { offered, missing } = judge.tools(facts);
  const tools: OfferedTool[] = offered.map((tool) => {
    const { name, label, description, tier, effect } = tool;
    return { name, label, description, tier, effect, parameters: schemaOf(tool) };
  });
  if (prompt) {
    const text = toolsPrompt(offered.map((tool) => ({ ...tool, parameters: schemaOf(tool) })));
    return json ? printJson({ ...(session !== undefined && { session }), prompt: text }) : print(text.trimEnd());
  }
  if (format !== undefined && format !== 'json') return printJson(formatTools(tools, format));
  if (json || format === 'json') return printJson({ ...(session !== undefined && { session }), tools, missing });
  const rows = tools.map(({ name, tier, effect, description }) => [name, tier, effect, firstSentence(description)]);
  for (const line of table(['TOOL', 'TIER', 'EFFECT', 'DOES'], rows)) print(line);
  if (missing.length > 0) print('\nNot offered:');
  for (const { name, reason } of missing) print(`  ${name}: ${safeLine(reason)}`);
}

const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '') ?? text;
