/** A configuration as places with their values, so that two of them can be compared in words. */
import { createHash } from 'node:crypto';
import type { ConfigPlaces } from '../protocol/config-change.ts';
import type { Config } from './defaults.ts';

/** Longer values are cut, and told apart by a digest. */
const VALUE_LENGTH = 200;
/** All of it goes into a workflow's history; past this only the sections are told apart. */
const MOST_BYTES = 100_000;

/**
 * `deny` → `shell, write`; `agents.coder.profile` → `coding`; `rules "no secrets"` → the rule as JSON. Notifiers are told apart by digest
 * alone: their addresses are for those who have the file.
 */
export function configPlaces(config: Config): ConfigPlaces {
  const places: Record<string, string> = {};
  for (const [section, value] of Object.entries(config)) addPlaces(places, section, value);
  return Buffer.byteLength(JSON.stringify(places)) <= MOST_BYTES ? places : sectionDigests(config);
}

function addPlaces(places: Record<string, string>, place: string, value: unknown): void {
  if (value === undefined) return;
  if (place.endsWith('.notify')) places[place] = digest(JSON.stringify(value));
  else if (Array.isArray(value)) addList(places, place, value);
  else if (typeof value !== 'object' || value === null) places[place] = short(textOf(value));
  else if (Object.keys(value).length === 0) places[place] = '{}';
  else for (const [name, one] of Object.entries(value)) addPlaces(places, `${place}.${name}`, one);
}

/** Names stand in one line; of rules and approvers each has a place, by name, so that their order does not count. */
function addList(places: Record<string, string>, place: string, list: readonly unknown[]): void {
  if (list.every((one) => typeof one !== 'object')) {
    places[place] = short(list.map(textOf).join(', '));
    return;
  }
  for (const one of list) {
    const text = JSON.stringify(one);
    const { name } = one as { name?: unknown };
    const at = typeof name === 'string' ? `${place} "${name}"` : `${place} ${short(text)}`;
    places[Object.hasOwn(places, at) ? `${at} ${digest(text)}` : at] = short(text);
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const sectionDigests = (config: Config): ConfigPlaces =>
  Object.fromEntries(
    Object.entries(config).flatMap(([section, value]) =>
      value === undefined ? [] : [[section, digest(JSON.stringify(value))]],
    ),
  );

const short = (text: string): string =>
  text.length <= VALUE_LENGTH ? text : `${text.slice(0, VALUE_LENGTH)}… (${digest(text)})`;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
