/**
 * Matching of names in rules. Names are exact; only where a rule restricts are letters compared without case, so that a
 * tool that differs from a denied one by case alone is denied with it.
 */
import { BUILT_IN_GROUPS, originGroup } from './catalogue.ts';
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

const fold = (name: string): string => name.toLowerCase().replaceAll('-', '_');
const same = (name: string): string => name;

export function nameList(entries: readonly string[], userGroups: Groups = {}): NameList {
  const expanded = expand(entries, userGroups);
  const matcher = (form: (name: string) => string) => {
    const patterns = expanded.map(({ entry, pattern }) => ({ entry, pattern: form(pattern), group: pattern.startsWith('group:') }));
    return (tool: ToolFacts): string | undefined => {
      const name = form(tool.name);
      const groups = groupsOf(tool, form);
      return patterns.find((one) => (one.group ? groups.some((group) => matchText(one.pattern, group)) : matchText(one.pattern, name)))
        ?.entry;
    };
  };
  return { entries, permits: matcher(same), restricts: matcher(fold) };
}

/** The groups of a tool: its own file's, the catalogue's and that of where it came from. */
function groupsOf(tool: ToolFacts, form: (name: string) => string): string[] {
  const name = form(tool.name);
  const found = new Set(tool.groups.map(form));
  for (const [group, members] of Object.entries(BUILT_IN_GROUPS)) {
    if (members.some((member) => form(member) === name)) found.add(form(group));
  }
  const origin = originGroup(tool.name);
  if (origin !== undefined) found.add(form(origin));
  return [...found];
}

/** Adds the members of groups that users named; groups may name groups, each is gone into once. */
function expand(entries: readonly string[], userGroups: Groups): { entry: string; pattern: string }[] {
  const out: { entry: string; pattern: string }[] = [];
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
