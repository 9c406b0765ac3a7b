/** Checks of what a schema can't say: that tools, groups and profiles exist, and that settings agree with each other. */
import { foldedName } from '../approval/approvers.ts';
import { parsePublicKey } from '../approval/public-key.ts';
import { BUILT_IN_GROUPS, BUILT_IN_TOOLS, isOriginName } from '../policy/catalogue.ts';
import { nameList } from '../policy/names.ts';
import { matchText } from '../policy/paths.ts';
import { builtInTools } from '../tools/index.ts';
import type { ConfigFile } from './schema.ts';
import { didYouMean } from './diagnose.ts';

export interface Problem {
  path: (string | number)[];
  message: string;
}

/** Every name in the file that means nothing. */
export function unknownNames(file: ConfigFile): Problem[] {
  const known = [
    ...BUILT_IN_TOOLS,
    ...builtInTools.flatMap(({ name, groups }) => [name, ...groups]),
    ...Object.keys(BUILT_IN_GROUPS),
    ...Object.keys(file.groups ?? {}),
  ];
  return toolNames(file).flatMap(({ path, name }) => {
    const matches = name.includes('*') ? known.some((one) => matchText(name, one)) : known.includes(name);
    if (matches || isOriginName(name)) return [];
    const what = name.startsWith('group:') ? 'group' : 'tool';
    return [{ path, message: `unknown ${what} ${JSON.stringify(name)}${didYouMean(name, known)}` }];
  });
}

/** Arguments in rules that none of the tools meant has, and paths that can never match: such a deny rule would deny nothing. */
export function deafRules(file: ConfigFile): Problem[] {
  return rulesIn(file).flatMap(({ path, rule }) => {
    const tools = builtInTools.filter(
      ({ name, groups }) =>
        nameList([rule.tool], file.groups).permits({ name, groups, tier: 'read_only', effect: 'read', needs: [] }) !==
        undefined,
    );
    const known = tools.flatMap(({ parameters }) => Object.keys(parameters.properties));
    return Object.entries(rule.when ?? {}).flatMap(([argument, pattern]) => {
      const at = [...path, 'when', argument];
      if (tools.length > 0 && !isOriginName(rule.tool) && !rule.tool.includes('*') && !known.includes(argument)) {
        return [
          {
            path: at,
            message: `${rule.tool} has no argument ${JSON.stringify(argument)}${didYouMean(argument, known)}`,
          },
        ];
      }
      const place = 'under' in pattern ? pattern.under : 'glob' in pattern && argument === 'path' ? pattern.glob : '';
      const far = place.startsWith('~') || place.split('/').includes('..');
      return far
        ? [{ path: at, message: `${JSON.stringify(place)} matches nothing: paths have no ~ and no .. here` }]
        : [];
    });
  });
}

/** Settings that can't both hold. */
export function conflicts(file: ConfigFile): Problem[] {
  const both = file.approvals?.timeout !== undefined && file.approvals.timeoutMs !== undefined;
  return [
    ...(both ? [{ path: ['approvals', 'timeoutMs'], message: 'give timeout or timeoutMs, not both' }] : []),
    ...unfitApprovers(file.approvals ?? {}),
  ];
}

/** Keys that are none, names and keys that two approvers share, and signatures required of nobody who could sign. */
function unfitApprovers({
  approvers = [],
  signatures,
  required = 1,
  requiredFor = {},
}: NonNullable<ConfigFile['approvals']>): Problem[] {
  const path = (index: number, field: string) => ['approvals', 'approvers', index, field];
  const problems = approvers.flatMap(({ name, publicKey, until }, index) => [
    ...(approvers.findIndex((one) => foldedName(one.name) === foldedName(name)) < index
      ? [{ path: path(index, 'name'), message: `${JSON.stringify(name)} reads like the name of another approver` }]
      : []),
    ...(until !== undefined && Number.isNaN(Date.parse(until))
      ? [{ path: path(index, 'until'), message: `${JSON.stringify(until)} is no date` }]
      : []),
    ...(publicKey !== undefined && parsePublicKey(publicKey) === undefined
      ? [
          {
            path: path(index, 'publicKey'),
            message: 'is no Ed25519 public key in the form that countersign approver init prints',
          },
        ]
      : []),
    ...(publicKey !== undefined && approvers.findIndex((one) => one.publicKey === publicKey) < index
      ? [{ path: path(index, 'publicKey'), message: 'is the key of another approver; each has one of their own' }]
      : []),
  ]);
  const able =
    signatures === 'required' ? approvers.filter(({ publicKey }) => publicKey !== undefined).length : approvers.length;
  const needed = Math.max(required, ...Object.values(requiredFor));
  if (signatures === 'required' && able === 0) {
    problems.push({
      path: ['approvals', 'signatures'],
      message: 'is required, and no approver has a publicKey: nobody could approve anything',
    });
  } else if ((signatures === 'required' || approvers.length > 0) && able < needed) {
    problems.push({
      path: ['approvals', 'required'],
      message: `${needed} approvers have to agree, and only ${able} could`,
    });
  }
  return problems;
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
function toolNames(section: Section, path: (string | number)[] = []): { path: (string | number)[]; name: string }[] {
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
