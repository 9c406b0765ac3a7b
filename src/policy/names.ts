/**
 * Matching of names in rules. Names are exact; only where a rule restricts are letters compared without case, so that a
 * tool that differs from a denied one by case alone is denied with it.
 */
import { BUILT_IN_GROUPS, originGroups } from './catalogue.ts';
import { matchText } from './paths.ts';
import type { ToolFacts } from './types.ts';

/** Anything else in a name (other scripts, spaces, invisible characters) makes the tool unusable: nothing can look like a known name. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;
export const isPlainName = (name: string): boolean => PLAIN_NAME.test(name);

export type Groups = Readonly<Record<string, readonly string[]>>;

/** A list of tool names, groups and `*` patterns, ready to be asked. Answers with the entry that matched, as written. */
export interface NameList {
  readonly entries: readonly string[];
  /** For lists that let through: exact. */
  permits(tool: ToolFacts): string | undefined;
  /** For lists that restrict: without case, and with `-` and `_` alike. */
  restricts(tool: ToolFacts): string | undefined;
}

/** One way of comparing names, with the built-in groups of every built-in tool in it. */
interface Comparison {
  form(name: string): string;
  /** The groups of what a tool came from. */
  origins(name: string): readonly string[];
  groups: ReadonlyMap<string, readonly string[]>;
}

const folded = (name: string): string => name.toLowerCase().replaceAll('-', '_');

const EXACT = comparison(
  (name) => name,
  (name) => originGroups(name).slice(0, 1),
);
const FOLDED = comparison(folded, (name) => originGroups(folded(name)));

function comparison(form: Comparison['form'], origins: Comparison['origins']): Comparison {
  const groups = new Map<string, string[]>();
  for (const [group, members] of Object.entries(BUILT_IN_GROUPS)) {
    for (const member of members) groups.set(form(member), [...(groups.get(form(member)) ?? []), form(group)]);
  }
  return { form, origins, groups };
}

export function nameList(entries: readonly string[], userGroups: Groups = {}): NameList {
  const expanded = expand(entries, userGroups);
  return { entries, permits: matcher(expanded, EXACT), restricts: matcher(expanded, FOLDED) };
}

function matcher(expanded: readonly Entry[], comparing: Comparison): (tool: ToolFacts) => string | undefined {
  const patterns = expanded.map(({ entry, pattern }) => ({ entry, pattern: comparing.form(pattern) }));
  const names = patterns.filter(({ pattern }) => !pattern.startsWith('group:'));
  const groups = patterns.filter(({ pattern }) => pattern.startsWith('group:'));
  return (tool) => {
    const name = comparing.form(tool.name);
    const byName = names.find(({ pattern }) => matchText(pattern, name));
    if (byName !== undefined || groups.length === 0) return byName?.entry;
    const memberships = groupsOf(tool, comparing);
    return groups.find(({ pattern }) => memberships.some((group) => matchText(pattern, group)))?.entry;
  };
}

/** The groups of a tool: its own file's, the catalogue's and that of where it came from. */
const groupsOf = (tool: ToolFacts, { form, origins, groups }: Comparison): string[] => [
  ...tool.groups.map(form),
  ...(groups.get(form(tool.name)) ?? []),
  ...origins(tool.name),
];

interface Entry {
  entry: string;
  pattern: string;
}

/** Adds the members of groups that users named; groups may name groups, each is gone into once. */
function expand(entries: readonly string[], userGroups: Groups): Entry[] {
  const out: Entry[] = [];
  const visit = (entry: string, pattern: string, seen: ReadonlySet<string>): void => {
    out.push({ entry, pattern });
    if (!pattern.startsWith('group:')) return;
    for (const [group, members] of Object.entries(userGroups)) {
      if (seen.has(group) || !matchText(pattern, group)) continue;
      for (const member of members) visit(entry, member, new Set([...seen, group]));
    }
  };
  for (const entry of entries) visit(entry, entry, new Set());
  return out;
}
