/** Which sections of a map (by provider, channel, conversation) hold for a name. */
import type { CompiledSection, Sections } from './rules.ts';

/** Sections only narrow, so a name that differs by case alone is held to the same one. */
export const foldKey = (name: string): string => name.toLowerCase();

/** `anthropic` holds for `anthropic/some-model` too; the wider name speaks first. `*` holds for every name that is known. */
export function sectionsFor(sections: Sections, name: string | undefined): CompiledSection[] {
  if (name === undefined || sections.size === 0) return [];
  const folded = foldKey(name);
  return [...sections]
    .filter(([key]) => key === '*' || folded === foldKey(key) || folded.startsWith(`${foldKey(key)}/`))
    .sort(([a], [b]) => a.length - b.length)
    .map(([, section]) => section);
}
