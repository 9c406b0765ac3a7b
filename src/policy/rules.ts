/** Rules: settings compiled once, so that judging a call reads no text twice. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { PROFILES } from './catalogue.ts';
import { type Groups, type NameList, nameList } from './names.ts';
import { type CompiledPattern, compilePattern } from './patterns.ts';
import { type ProtectedPaths, protectedPaths } from './protected.ts';
import {
  DEFAULT_SHELL,
  type ArgumentRule,
  type PolicySection,
  type PolicySettings,
  type ShellSettings,
} from './settings.ts';

export interface CompiledRule {
  readonly name: string;
  readonly tool: NameList;
  readonly patterns: readonly CompiledPattern[];
  readonly rule: ArgumentRule;
}

/** One section of the configuration. `path` is its place there, by which traces name its rules: `agents.coder`. */
export interface CompiledSection {
  readonly path: string;
  readonly profile?: { readonly name: string; readonly tools: NameList };
  readonly allow?: NameList;
  readonly ask?: NameList;
  readonly deny?: NameList;
  readonly rules: readonly CompiledRule[];
}

export type Sections = ReadonlyMap<string, CompiledSection>;

export interface CompiledAgent {
  readonly section: CompiledSection;
  readonly providers: Sections;
  readonly subAgents?: CompiledSection;
}

/** A compiled rule set. Immutable: a reload makes another one. */
export interface Rules {
  /** `sha256:` of the settings that made it. */
  readonly hash: string;
  /** The base profile alone. */
  readonly base: CompiledSection;
  readonly global: CompiledSection;
  readonly providers: Sections;
  readonly agents: ReadonlyMap<string, CompiledAgent>;
  readonly channels: Sections;
  readonly conversations: Sections;
  readonly sandbox?: CompiledSection;
  readonly subAgents?: CompiledSection;
  readonly ownerOnly?: NameList;
  readonly owners: ReadonlySet<string>;
  readonly knownHosts?: readonly string[];
  readonly protected: ProtectedPaths;
  readonly shell: ShellSettings;
}

/** Compiles settings that were found valid. */
export function compileRules(settings: PolicySettings): Rules {
  const groups = settings.groups ?? {};
  const section = (one: PolicySection, path: string): CompiledSection => compileSection(one, path, groups);
  const sections = (map: Record<string, PolicySection> | undefined, path: string): Sections =>
    new Map(Object.entries(map ?? {}).map(([name, one]) => [name, section(one, `${path}.${name}`)]));
  const { profile, alsoAllow, ...global } = settings;
  return {
    hash: hashOf(settings),
    base: section({ profile: profile ?? 'full', alsoAllow }, ''),
    global: section(global, ''),
    providers: sections(settings.providers, 'providers'),
    agents: new Map(
      Object.entries(settings.agents ?? {}).map(([name, agent]) => [
        name,
        {
          section: section(agent, `agents.${name}`),
          providers: sections(agent.providers, `agents.${name}.providers`),
          ...(agent.subAgents && { subAgents: section(agent.subAgents, `agents.${name}.subAgents`) }),
        },
      ]),
    ),
    channels: sections(settings.channels, 'channels'),
    conversations: sections(settings.conversations, 'conversations'),
    ...(settings.sandbox && { sandbox: section(settings.sandbox, 'sandbox') }),
    ...(settings.subAgents && { subAgents: section(settings.subAgents, 'subAgents') }),
    ...(settings.ownerOnly && { ownerOnly: nameList(settings.ownerOnly, groups) }),
    owners: new Set(settings.owners ?? []),
    ...(settings.knownHosts && { knownHosts: settings.knownHosts }),
    protected: protectedPaths(settings.protect),
    shell: shellSettings(settings.shell),
  };
}

/** The rules that hold where nothing is configured. */
export const defaultRules = (): Rules => compileRules({});

function compileSection(section: PolicySection, path: string, groups: Groups): CompiledSection {
  const place = path === '' ? '' : `${path}.`;
  return {
    path,
    ...(section.profile && {
      profile: {
        name: section.profile,
        tools: nameList([...PROFILES[section.profile], ...(section.alsoAllow ?? [])], groups),
      },
    }),
    ...(section.allow && { allow: nameList(section.allow, groups) }),
    ...(section.ask && { ask: nameList(section.ask, groups) }),
    ...(section.deny && { deny: nameList(section.deny, groups) }),
    rules: (section.rules ?? []).map((rule, index) => ({
      name: rule.name === undefined ? `${place}rules[${index}]` : `${place}rules "${rule.name}"`,
      tool: nameList([rule.tool], groups),
      patterns: Object.entries(rule.when ?? {}).map(([argument, pattern]) => compilePattern(argument, pattern)),
      rule,
    })),
  };
}

function shellSettings(given: PolicySettings['shell'] = {}): ShellSettings {
  return {
    backend: given.backend ?? DEFAULT_SHELL.backend,
    security: given.security ?? DEFAULT_SHELL.security,
    approval: given.approval ?? DEFAULT_SHELL.approval,
    safeBins: given.safeBins ?? DEFAULT_SHELL.safeBins,
    maxLength: given.maxLength ?? DEFAULT_SHELL.maxLength,
    maxParts: given.maxParts ?? DEFAULT_SHELL.maxParts,
  };
}

/** Hash of canonical JSON (RFC 8785), so that layout and comments of the file do not count. */
export const hashOf = (settings: object): string =>
  `sha256:${createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(settings))) ?? '')
    .digest('hex')}`;
