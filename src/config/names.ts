/** Checks of what a schema can't say: that tools and groups exist, and that settings agree with each other. */
import { BUILT_IN_GROUPS, BUILT_IN_TOOLS, isOriginName } from '../policy/catalogue.ts';
import { matchText } from '../policy/paths.ts';
import { TIERS } from '../protocol/tool.ts';
import { type Tool, builtInTools } from '../tools/index.ts';
import { approverProblems } from './approvers.ts';
import type { ConfigFile } from './schema.ts';
import { didYouMean } from './diagnose.ts';

export interface Problem {
  path: (string | number)[];
  message: string;
}

/** A tool as far as names go. */
export type KnownTool = Pick<Tool, 'name' | 'groups' | 'parameters'>;

/** Every name in the file that means nothing. */
export function unknownNames(file: ConfigFile, tools: readonly KnownTool[] = builtInTools): Problem[] {
  const known = [
    ...BUILT_IN_TOOLS,
    ...tools.flatMap(({ name, groups }) => [name, ...groups]),
    ...Object.keys(BUILT_IN_GROUPS),
    ...Object.keys(file.groups ?? {}),
  ];
  const tiers = [...TIERS, ...known];
  const agents = ['default', ...Object.keys(file.agents ?? {})].map((agent) => `agent:${agent}`);
  const check =
    (what: string, names: readonly string[]) =>
    ({ path, name }: NamePlace): Problem[] => {
      const matches = name.includes('*') ? known.some((one) => matchText(name, one)) : names.includes(name);
      if (matches || isOriginName(name)) return [];
      const sort = /^(group|agent|control):/.exec(name)?.[1] ?? what;
      return [{ path, message: `unknown ${sort} ${JSON.stringify(name)}${didYouMean(name, names)}` }];
    };
  return [
    ...toolNames(file).flatMap(check('tool', known)),
    ...quorumNames(file).flatMap(check('tier or tool', tiers)),
    ...approverNames(file).flatMap(check('tier or tool', [...tiers, ...agents, 'control:resume'])),
  ];
}

interface NamePlace {
  path: (string | number)[];
  name: string;
}

const quorumNames = ({ approvals }: ConfigFile): NamePlace[] =>
  Object.keys(approvals?.requiredFor ?? {}).map((name) => ({ path: ['approvals', 'requiredFor', name], name }));

const approverNames = ({ approvals }: ConfigFile): NamePlace[] =>
  (approvals?.approvers ?? []).flatMap(({ may = [] }, at) =>
    may.map((name, index) => ({ path: ['approvals', 'approvers', at, 'may', index], name })),
  );

/** Settings that can't both hold. */
export function conflicts(file: ConfigFile): Problem[] {
  const both = file.approvals?.timeout !== undefined && file.approvals.timeoutMs !== undefined;
  return [
    ...(both ? [{ path: ['approvals', 'timeoutMs'], message: 'give timeout or timeoutMs, not both' }] : []),
    ...approverProblems(file.approvals ?? {}),
  ];
}

const LISTS = ['allow', 'alsoAllow', 'ask', 'deny', 'ownerOnly'] as const;
const MAPS = ['providers', 'agents', 'channels', 'conversations'] as const;
const SECTIONS = ['sandbox', 'subAgents'] as const;

/** A section as far as names go; the schema has seen to its form. */
interface Section {
  [key: string]: unknown;
}
const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** Every place where the file names a tool or a group, in sections of sections too. */
function toolNames(section: Section, path: (string | number)[] = []): NamePlace[] {
  const lists = LISTS.flatMap((list) =>
    texts(section[list]).map((name, index) => ({ path: [...path, list, index], name })),
  );
  const rules = (Array.isArray(section['rules']) ? section['rules'] : []).flatMap((rule: unknown, index) =>
    isSection(rule) && typeof rule['tool'] === 'string'
      ? [{ path: [...path, 'rules', index, 'tool'], name: rule['tool'] }]
      : [],
  );
  const groups = isSection(section['groups'])
    ? Object.entries(section['groups']).flatMap(([group, members]) =>
        texts(members).map((name, index) => ({ path: [...path, 'groups', group, index], name })),
      )
    : [];
  const below = [
    ...SECTIONS.map((key) => [[key], section[key]] as const),
    ...MAPS.flatMap((map) =>
      Object.entries(isSection(section[map]) ? section[map] : {}).map(([key, value]) => [[map, key], value] as const),
    ),
  ].flatMap(([keys, value]) => (isSection(value) ? toolNames(value, [...path, ...keys]) : []));
  return [...lists, ...rules, ...groups, ...below];
}
