/** The tools there are, found by the names that models write. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Tool } from './define-tool.ts';
import { deleteTool } from './delete.ts';
import { editTool } from './edit.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { shellTool } from './shell.ts';
import { statTool } from './stat.ts';
import { writeTool } from './write.ts';

export interface Catalogue {
  /** The tool of exactly this name; inherited property names are no tools. */
  get(name: string): Tool | undefined;
  /** In the order in which they were given. */
  names(): string[];
  /** Up to three names that the given one may have been meant for, best first. */
  nearest(name: string): string[];
}

/** The tools that come with Countersign. */
export const builtInTools: readonly Tool[] = [
  readTool,
  writeTool,
  editTool,
  listTool,
  statTool,
  searchTool,
  shellTool,
  deleteTool,
];

/** Throws on two tools of one name: which of them would run is no matter for chance. */
export function createCatalogue(tools: readonly Tool[] = builtInTools): Catalogue {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`two tools are called "${tool.name}"; rename one`);
    byName.set(tool.name, tool);
  }
  return {
    get: (name) => byName.get(name),
    names: () => [...byName.keys()],
    nearest: (name) => nearestNames(name, [...byName.keys()]),
  };
}

const fingerprints = new WeakMap<Tool, string>();

/** `sha256:` over the tool's name, schema and version (RFC 8785): what an approval binds the tool by. */
export function fingerprint(tool: Tool): string {
  let known = fingerprints.get(tool);
  if (known === undefined) {
    const content = canonicalize({ name: tool.name, parameters: tool.parameters, version: tool.version }) ?? '';
    known = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    fingerprints.set(tool, known);
  }
  return known;
}

/** What tools are called elsewhere. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    shell: 'bash sh exec execute run terminal command',
    read: 'cat view open',
    write: 'create save',
    edit: 'replace patch',
    list: 'ls dir',
    search: 'grep rg find',
    delete: 'rm remove unlink',
  }).flatMap(([name, others]) => others.split(' ').map((other) => [other, name] as const)),
);

/**
 * At most three names that may have been meant, best first: those that the given one has as a word of its own (`delete_file`, `fs` for `group:fs`)
 * or by what such tools are called elsewhere (`bash`); then those within a third of its length (at least two edits) by Levenshtein distance.
 */
export function nearestNames(name: string, names: readonly string[]): string[] {
  // A model's slip is short; distance to a name of any length would cost its square.
  const wanted = name.slice(0, 64).toLowerCase();
  const words = wanted.split(/[^a-z0-9]+/).flatMap((word) => [word, ELSEWHERE.get(word) ?? word]);
  const reach = Math.max(2, Math.floor(wanted.length / 3));
  return names
    .map((candidate) => {
      const own = candidate.slice(candidate.lastIndexOf(':') + 1).toLowerCase();
      const distance = editDistance(wanted, candidate.slice(0, 64).toLowerCase());
      return { candidate, distance: distance > 1 && words.includes(own) ? 1 : distance };
    })
    .filter(({ candidate, distance }) => distance <= reach && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
