/** Rules by arguments that could never be heard. A deny rule among them would deny nothing, and look as if it did. */
import { isOriginName } from '../policy/catalogue.ts';
import { nameList } from '../policy/names.ts';
import { builtInTools } from '../tools/index.ts';
import { didYouMean } from './diagnose.ts';
import type { KnownTool, Problem } from './names.ts';
import type { ConfigFile } from './schema.ts';

type Rule = NonNullable<ConfigFile['rules']>[number];
type Sections = { rules?: Rule[] | undefined } | undefined;

/** Arguments that none of the tools meant has, patterns that no value of theirs matches, and paths that no canonical path does. */
export function deafRules(file: ConfigFile, catalogue: readonly KnownTool[] = builtInTools): Problem[] {
  return rulesIn(file).flatMap(({ path, rule }) => {
    const named = nameList([rule.tool], file.groups);
    const tools = catalogue.filter(
      ({ name, groups }) => named.permits({ name, groups, tier: 'read_only', effect: 'read', needs: [] }) !== undefined,
    );
    // Tools that are not known here may have other arguments.
    const known = isOriginName(rule.tool) || rule.tool.includes('*') ? [] : tools;
    return Object.entries(rule.when ?? {}).flatMap(([argument, pattern]) => {
      const why =
        unknownArgument(rule.tool, argument, known) ?? deafness(argument, pattern, known) ?? farPath(argument, pattern);
      return why === undefined ? [] : [{ path: [...path, 'when', argument], message: why }];
    });
  });
}

function unknownArgument(tool: string, argument: string, tools: readonly KnownTool[]): string | undefined {
  const names = tools.flatMap(({ parameters }) => Object.keys(parameters.properties));
  if (tools.length === 0 || names.includes(argument)) return undefined;
  return `${tool} has no argument ${JSON.stringify(argument)}${didYouMean(argument, names)}`;
}

type Pattern = NonNullable<Rule['when']>[string];

const isPlace = (argument: string): boolean => argument === 'path' || argument === 'cwd';

/** What an argument is → the patterns that can match it. Of a tool that is not built in, a text may be a path. */
const HEARD: Readonly<Record<string, readonly string[]>> = {
  path: ['exact', 'glob', 'under'],
  command: ['exact', 'glob'],
  text: ['exact', 'glob', 'host'],
  string: ['exact', 'glob', 'host', 'under'],
  array: ['exact', 'glob', 'host'],
  number: ['exact'],
  integer: ['exact'],
  boolean: ['exact'],
  object: ['exact'],
};

/** Why the pattern matches in none of these tools. */
function deafness(argument: string, pattern: Pattern, tools: readonly KnownTool[]): string | undefined {
  const whys = tools
    .filter(({ parameters }) => Object.hasOwn(parameters.properties, argument))
    .map((tool) => whyDeaf(argument, pattern, tool));
  return whys.every((why) => why !== undefined) ? whys[0] : undefined;
}

function whyDeaf(argument: string, pattern: Pattern, tool: KnownTool): string | undefined {
  const { type } = tool.parameters.properties[argument] as { type?: unknown };
  if (typeof type !== 'string') return undefined;
  if ('exact' in pattern && !isOfType(pattern.exact, type))
    return `${argument} is of type ${type}, and ${JSON.stringify(pattern.exact)} is not`;
  const text = isPlace(argument) ? 'path' : argument === 'command' ? 'command' : 'text';
  const what = type === 'string' && builtInTools.some(({ name }) => name === tool.name) ? text : type;
  const heard = HEARD[what] ?? Object.keys(pattern);
  return Object.keys(pattern).every((kind) => heard.includes(kind))
    ? undefined
    : `${argument} is of type ${what}, which ${Object.keys(pattern).join()} never matches; use ${heard.join(' or ')}`;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** Paths are compared as they resolve. */
function farPath(argument: string, pattern: Pattern): string | undefined {
  const { under, glob, exact } = pattern as { under?: string; glob?: string; exact?: unknown };
  const place = under ?? (isPlace(argument) ? (glob ?? exact) : undefined);
  if (typeof place !== 'string' || !(/^~(\/|$)/.test(place) || place.split('/').includes('..'))) return undefined;
  return `${JSON.stringify(place)} matches nothing: paths have no ~ and no .. here`;
}

/** Every rule by arguments with its place. */
export function rulesIn(file: ConfigFile): { path: (string | number)[]; rule: Rule }[] {
  const of = (path: (string | number)[], section: Sections) =>
    (section?.rules ?? []).map((rule, index) => ({ path: [...path, 'rules', index], rule }));
  const each = (path: string[], map: Record<string, Sections> | undefined) =>
    Object.entries(map ?? {}).flatMap(([name, section]) => of([...path, name], section));
  return [
    ...of([], file),
    ...each(['providers'], file.providers),
    ...each(['agents'], file.agents),
    ...Object.entries(file.agents ?? {}).flatMap(([name, agent]) => [
      ...each(['agents', name, 'providers'], agent.providers),
      ...of(['agents', name, 'subAgents'], agent.subAgents),
    ]),
    ...each(['channels'], file.channels),
    ...each(['conversations'], file.conversations),
    ...of(['sandbox'], file.sandbox),
    ...of(['subAgents'], file.subAgents),
  ];
}
