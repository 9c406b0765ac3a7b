/** The text that tells a model which tools it has, made of the same facts that judge its calls: `countersign tools --prompt`. */
import type { Tier } from '../protocol/tool.ts';
import type { Rules } from './rules.ts';

/** What is said of a tool; the catalogue's tools have all of it. */
export interface PromptTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: object;
  tier: Tier;
}

const TIER_NOTES: Readonly<Record<Tier, string>> = {
  read_only: 'Changes nothing.',
  workspace: 'Changes files in the workspace.',
  system: 'Runs programs or reaches other systems.',
  elevated: 'Waits for a person to approve each call.',
};

const ON_HOST =
  'Here commands run on the host, outside of any sandbox: they have network and the whole machine, whatever the following says of one.';

/** A tool's description for models, where these rules hold: a tool says of itself what it does in the sandbox. */
export const describedFor = (
  { shell }: Pick<Rules, 'shell'>,
  { description, needs }: { description: string; needs: readonly string[] },
): string => (shell.backend === 'host' && needs.includes('shell') ? `${ON_HOST} ${description}` : description);

/** One section a tool, in the order given; ends with what holds for all. */
export function toolsPrompt(tools: readonly PromptTool[]): string {
  if (tools.length === 0) return 'You have no tools in this session.\n';
  const sections = tools.map((tool) =>
    [`## ${tool.name}`, '', tool.description.trim(), TIER_NOTES[tool.tier], ...argumentLines(tool)].join('\n'),
  );
  const end = [
    '## What happens to a call',
    '',
    'Arguments that do not fit come back with the failing field and the schema; correct them, at most twice.',
    'A call that needs an approval waits for a person; go on with other work meanwhile. A denied call stays denied: do not repeat it in other words.',
  ].join('\n');
  return `# Tools\n\n${[...sections, end].join('\n\n')}\n`;
}

function argumentLines({ parameters }: PromptTool): string[] {
  const schema = object(parameters);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const lines = Object.entries(object(schema['properties'])).map(([name, property]) => {
    const { description } = object(property);
    const notes = `${typeName(property)}${required.has(name) ? '' : ', optional'}`;
    return `- \`${name}\` (${notes})${typeof description === 'string' ? `: ${description}` : ''}`;
  });
  return lines.length === 0 ? ['', 'No arguments.'] : ['', 'Arguments:', ...lines];
}

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function typeName(property: unknown): string {
  const { type, enum: values, const: only, anyOf } = object(property);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (Array.isArray(anyOf)) return anyOf.map(typeName).join(' or ');
  if (type === 'array') return `list of ${typeName(object(property)['items'])}`;
  return typeof type === 'string' ? type : 'any';
}
