/** Which sections of the configuration speak of a session, in which layer, and in which order. */
import type { CompiledAgent, CompiledSection, Rules, Sections } from './rules.ts';
import type { JudgedSession } from './types.ts';
import type { SessionFacts } from '../protocol/session.ts';

export const LAYERS = [
  'profile',
  'provider profile',
  'global',
  'global by provider',
  'agent',
  'agent by provider',
  'group',
  'sandbox',
  'sub-agent',
] as const;
export type Layer = (typeof LAYERS)[number];

/** A section that speaks in a layer: its profile, its lists and rules, or all of it. */
export interface Speaker {
  layer: Layer;
  section: CompiledSection;
  part: 'profile' | 'lists' | 'all';
  /** Whether its allow rules count: where it speaks of some sessions of the line alone, it only narrows. */
  permits: boolean;
}

/**
 * The speakers for a session. A child is held to what holds for every session above it: its main session's channel, whatever
 * agent it works as, and so on; the sessions above speak first. What lets a command or host through counts only where it holds for all of
 * them, so that nobody has a child do what it may not do itself.
 */
export function speakersFor(session: JudgedSession, rules: Rules): Speaker[] {
  const line = [...(session.above ?? [])].reverse().concat(session);
  const each = (
    layer: Layer,
    part: Speaker['part'],
    of: (facts: SessionFacts) => readonly (CompiledSection | undefined)[],
  ): Speaker[] => {
    const perSession = line.map((facts) => new Set(of(facts).filter((section) => section !== undefined)));
    // Each section once, where it first spoke.
    return [...new Set(perSession.flatMap((sections) => [...sections]))].map((section) => ({
      layer,
      section,
      part,
      permits: layer !== 'sub-agent' && perSession.every((sections) => sections.has(section)),
    }));
  };
  const agent = (facts: SessionFacts): CompiledAgent | undefined => rules.agents.get(facts.agent);
  const sandboxed = rules.shell.backend === 'sandbox';
  const below = session.depth > 0 || session.kind !== 'main';
  return [
    ...each('profile', 'profile', () => [rules.base]),
    ...each('provider profile', 'profile', (facts) => sectionsFor(rules.providers, facts.provider)),
    ...each('global', 'lists', () => [rules.global]),
    ...each('global by provider', 'lists', (facts) => sectionsFor(rules.providers, facts.provider)),
    ...each('agent', 'all', (facts) => [agent(facts)?.section]),
    ...each('agent by provider', 'all', (facts) => sectionsFor(agent(facts)?.providers, facts.provider)),
    ...each('group', 'all', (facts) => [
      ...sectionsFor(rules.channels, facts.channel ?? undefined),
      ...sectionsFor(rules.conversations, facts.group),
    ]),
    ...(sandboxed ? each('sandbox', 'all', () => [rules.sandbox]) : []),
    ...(below ? each('sub-agent', 'all', (facts) => [rules.subAgents, agent(facts)?.subAgents]) : []),
  ];
}

/**
 * Sections of a map that hold for a name. Sections only narrow, so a name that differs by case alone is held to the same one.
 * `anthropic` holds for `anthropic/some-model` too; the wider name speaks first. `*` holds for every name that is known.
 */
function sectionsFor(sections: Sections | undefined, name: string | undefined): CompiledSection[] {
  if (sections === undefined || name === undefined || sections.size === 0) return [];
  const folded = name.toLowerCase();
  return [...sections]
    .filter(([key]) => key === '*' || folded === key.toLowerCase() || folded.startsWith(`${key.toLowerCase()}/`))
    .sort(([a], [b]) => a.length - b.length)
    .map(([, section]) => section);
}
