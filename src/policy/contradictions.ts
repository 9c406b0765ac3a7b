/** Settings that are valid but can't do what they seem to say; `countersign doctor` reports them. */
import { BUILT_IN_TOOLS } from './catalogue.ts';
import { nameList } from './names.ts';
import { INTERPRETERS, WRAPPERS } from './shell/programs.ts';
import type { ArgumentRule, PolicySection, PolicySettings } from './settings.ts';
import type { ToolFacts } from './types.ts';

export interface Contradiction {
  /** JSON pointer into the configuration. */
  field: string;
  message: string;
}

type Groups = NonNullable<PolicySettings['groups']>;

/** What of a valid configuration has no effect, or the opposite of the one it seems to have. */
export function contradictions(settings: PolicySettings): Contradiction[] {
  const groups = settings.groups ?? {};
  return [
    ...sectionsIn(settings).flatMap(({ field, section }) => inSection(field, section, groups)),
    ...sectionsIn(settings).flatMap(({ field, section }) =>
      field === '' ? [] : againstGlobal(field, section, settings, groups),
    ),
    ...ownerProblems(settings),
    ...shellProblems(settings),
    ...sameButForCase(settings),
  ];
}

/** Every section with its place; the whole configuration is the first. */
function sectionsIn(settings: PolicySettings): { field: string; section: PolicySection }[] {
  const out: { field: string; section: PolicySection }[] = [{ field: '', section: settings }];
  const add = (field: string, section: PolicySection | undefined): void => {
    if (section !== undefined) out.push({ field, section });
  };
  for (const map of ['providers', 'channels', 'conversations'] as const) {
    for (const [name, section] of Object.entries(settings[map] ?? {})) add(`/${map}/${name}`, section);
  }
  for (const [name, agent] of Object.entries(settings.agents ?? {})) {
    add(`/agents/${name}`, agent);
    for (const [provider, section] of Object.entries(agent.providers ?? {}))
      add(`/agents/${name}/providers/${provider}`, section);
    add(`/agents/${name}/subAgents`, agent.subAgents);
  }
  add('/sandbox', settings.sandbox);
  add('/subAgents', settings.subAgents);
  return out;
}

/** A tool of this name, of which nothing else is known. */
const named = (name: string): ToolFacts => ({ name, tier: 'read_only', effect: 'read', groups: [], needs: [] });

/** Built-in tools that a list means, and names in it that are no built-in tools. */
function meant(list: readonly string[], groups: Groups): string[] {
  const names = nameList(list, groups);
  const others = list.filter((name) => !name.includes('*') && !name.startsWith('group:'));
  return [...new Set([...BUILT_IN_TOOLS, ...others])].filter((tool) => names.permits(named(tool)) !== undefined);
}

function inSection(field: string, section: PolicySection, groups: Groups): Contradiction[] {
  const { allow, alsoAllow, ask, deny, profile, rules = [] } = section;
  const denied = nameList(deny ?? [], groups);
  const out: Contradiction[] = [];
  for (const key of ['allow', 'alsoAllow', 'ask'] as const) {
    (section[key] ?? []).forEach((entry, index) => {
      const tools = meant([entry], groups);
      if (tools.length > 0 && tools.every((tool) => denied.restricts(named(tool)) !== undefined)) {
        out.push({ field: `${field}/${key}/${index}`, message: `${entry} is also denied here; deny wins` });
      }
    });
  }
  if (allow?.length === 0) out.push({ field: `${field}/allow`, message: 'an empty allow list lets no tool through' });
  if (alsoAllow !== undefined && (profile ?? 'full') === 'full' && (field === '' || profile !== undefined)) {
    out.push({ field: `${field}/alsoAllow`, message: 'the profile full has every tool already' });
  } else if (alsoAllow !== undefined && profile === undefined) {
    out.push({ field: `${field}/alsoAllow`, message: 'it adds to the profile of this section, which has none' });
  }
  if (allow !== undefined && ask !== undefined) {
    const allowed = nameList(allow, groups);
    ask.forEach((entry, index) => {
      const tools = meant([entry], groups);
      if (tools.length > 0 && tools.every((tool) => allowed.permits(named(tool)) === undefined)) {
        out.push({
          field: `${field}/ask/${index}`,
          message: `${entry} is not on the allow list, so it is denied before anybody is asked`,
        });
      }
    });
  }
  return [...out, ...ruleProblems(field, rules), ...(field.endsWith('/subAgents') ? uselessPermits(field, rules) : [])];
}

/** What only sub-agents are allowed, their main session is not; a child gets no more. */
function uselessPermits(field: string, rules: readonly ArgumentRule[]): Contradiction[] {
  return rules.flatMap(({ effect }, index) =>
    effect === 'allow'
      ? [
          {
            field: `${field}/rules/${index}`,
            message:
              'an allow rule for sub-agents alone lets nothing through; allow it where their main session is meant too',
          },
        ]
      : [],
  );
}

/** Two rules about the same calls, of which only the stricter is ever heard. */
function ruleProblems(field: string, rules: readonly ArgumentRule[]): Contradiction[] {
  const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
  return rules.flatMap((rule, index) => {
    const about = JSON.stringify([rule.tool, Object.entries(rule.when ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))]);
    const stricter = rules.findIndex(
      (other) =>
        STRICTNESS[other.effect] > STRICTNESS[rule.effect] &&
        JSON.stringify([other.tool, Object.entries(other.when ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))]) === about,
    );
    return stricter < 0
      ? []
      : [
          {
            field: `${field}/rules/${index}`,
            message: `rule ${stricter} says ${rules[stricter]?.effect} of the same calls and wins`,
          },
        ];
  });
}

/** What a section lets through that the whole configuration does not. */
function againstGlobal(
  field: string,
  section: PolicySection,
  settings: PolicySettings,
  groups: Groups,
): Contradiction[] {
  const denied = nameList(settings.deny ?? [], groups);
  const allowed = settings.allow === undefined ? undefined : nameList(settings.allow, groups);
  return (['allow', 'alsoAllow'] as const).flatMap((key) =>
    (section[key] ?? []).flatMap((entry, index) => {
      const tools = meant([entry], groups);
      if (tools.length === 0) return [];
      const place = `${field}/${key}/${index}`;
      if (tools.every((tool) => denied.restricts(named(tool)) !== undefined))
        return [{ field: place, message: `${entry} is denied for everybody; a section can only narrow` }];
      if (allowed !== undefined && tools.every((tool) => allowed.permits(named(tool)) === undefined)) {
        return [{ field: place, message: `${entry} is not on the global allow list; a section can only narrow` }];
      }
      return [];
    }),
  );
}

function ownerProblems({ ownerOnly, owners }: PolicySettings): Contradiction[] {
  if (ownerOnly === undefined || ownerOnly.length === 0 || (owners ?? []).length > 0) return [];
  return [{ field: '/ownerOnly', message: 'no owners are declared, so nobody may use these tools' }];
}

function shellProblems({ shell = {} }: PolicySettings): Contradiction[] {
  const out: Contradiction[] = [];
  if (shell.approval === 'auto' && (shell.backend ?? 'sandbox') === 'sandbox') {
    out.push({
      field: '/shell/approval',
      message: 'auto has no effect with the sandbox: inside nothing asks, outside is elevated, which always asks',
    });
  }
  if (shell.security === 'full' && (shell.backend ?? 'sandbox') === 'sandbox') {
    out.push({
      field: '/shell/security',
      message: 'full has no effect with the sandbox: commands outside of it stay elevated',
    });
  }
  for (const [program, bin] of Object.entries(shell.safeBins ?? {})) {
    const field = `/shell/safeBins/${program}`;
    if (shell.security === 'paranoid' || shell.security === 'full')
      out.push({ field, message: `safeBins are not used with security ${shell.security}` });
    if (bin.subcommands === undefined && (INTERPRETERS.has(program) || WRAPPERS.has(program))) {
      out.push({ field, message: `${program} runs whatever it is given; name its subcommands` });
    }
  }
  return out;
}

/** Names of sections that differ by case alone: both hold, which is seldom meant. */
function sameButForCase(settings: PolicySettings): Contradiction[] {
  return (['providers', 'channels', 'conversations', 'agents'] as const).flatMap((map) => {
    const keys = Object.keys(settings[map] ?? {});
    return keys
      .filter((key, index) => keys.findIndex((other) => other.toLowerCase() === key.toLowerCase()) !== index)
      .map((key) => ({ field: `/${map}/${key}`, message: 'another one differs from it by case alone' }));
  });
}
