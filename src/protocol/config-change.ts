/**
 * Changes of the configuration, as the control workflow's history keeps them: which worker took up which rules, and when.
 * The hash is the one that every judgement carries (`policy`), so a verdict can be traced to the change that brought its rules.
 */

import { fieldsOf, isString, isText, isTime } from './forms.ts';

/** Update of the control workflow: a worker says what became of its configuration. */
export const CONFIG_CHANGED = 'configChanged';
/** Type of the failure that says: this is on record already. */
export const CONFIG_KNOWN = 'config_known';

/** Place in the configuration (`agents.coder.deny`) → its value as text, cut where it is long. */
export type ConfigPlaces = Readonly<Record<string, string>>;

interface Reported {
  /** Identity of the worker, `process@host`; unverified. */
  worker: string;
  /** Absolute path on the worker's machine, of what was loaded or refused; null where there is no file and the defaults hold. */
  file: string | null;
  /** `sha256:` of the configuration in force. */
  hash: string;
}

/** What a worker says: what it has loaded, or that it was given a file that it refused. */
export type ConfigReport = Reported &
  ({ kind: 'loaded'; on: 'start' | 'reload'; places: ConfigPlaces } | { kind: 'refused'; error: string });

export interface PlaceChange {
  place: string;
  /** Absent where the place is new. */
  before?: string;
  /** Absent where the place is gone. */
  after?: string;
}

/** What is on record. The answer to the update, so that it stands in history. */
export type ConfigRecord = Reported & {
  /** Milliseconds since the epoch. */
  at: number;
} & (
    | {
        kind: 'changed';
        on: 'start' | 'reload';
        /** The hash that was on record before; null for the first. */
        before: string | null;
        /** By place, {@link MOST_CHANGES} at most; none for the first record. */
        changes: PlaceChange[];
        /** How many more there were. */
        more: number;
      }
    | { kind: 'refused'; error: string }
  );

/** What was said last; carried along when the control workflow continues as new. */
export interface ConfigKnown {
  hash: string | null;
  places: ConfigPlaces;
  /** Why a file was refused since. */
  refused?: string;
}

export const NOTHING_KNOWN: ConfigKnown = { hash: null, places: {} };

const MOST_CHANGES = 200;

/** True for what is on record already: workers that see the same file say the same. */
export const isKnown = (report: ConfigReport, known: ConfigKnown): boolean =>
  report.kind === 'loaded' ? report.hash === known.hash : report.error === known.refused;

/** The record that a report makes, and what is known then. */
export function recordOf(
  report: ConfigReport,
  known: ConfigKnown,
  at: number,
): { record: ConfigRecord; known: ConfigKnown } {
  const { worker, file, hash } = report;
  const reported = { at, worker, file, hash };
  if (report.kind === 'refused') {
    const { error } = report;
    return { record: { ...reported, kind: 'refused', error }, known: { ...known, refused: error } };
  }
  const { on, places } = report;
  const all = known.hash === null ? [] : changesBetween(known.places, places);
  const changes = all.slice(0, MOST_CHANGES);
  const more = all.length - changes.length;
  return {
    record: { ...reported, kind: 'changed', on, before: known.hash, changes, more },
    known: { hash, places },
  };
}

/** By place, in the order of their names. */
export function changesBetween(before: ConfigPlaces, after: ConfigPlaces): PlaceChange[] {
  const places = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return places.flatMap((place): PlaceChange[] => {
    const [was, is] = [valueAt(before, place), valueAt(after, place)];
    if (was === is) return [];
    return [{ place, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
  });
}

const valueAt = (places: ConfigPlaces, place: string): string | undefined =>
  Object.hasOwn(places, place) ? places[place] : undefined;

/** What a report and a record have in common; of a refusal, all of it. */
function isReported(value: unknown): boolean {
  const { worker, file, hash, kind, on, error } = fieldsOf(value);
  if (!isText(worker, 500) || !isText(hash, 100) || !(file === null || isText(file, 4_096))) return false;
  return kind === 'refused' ? isText(error, 2_000) : on === 'start' || on === 'reload';
}

/** Anyone in the namespace can send anything. */
export function isConfigReport(value: unknown): value is ConfigReport {
  const { kind, places } = fieldsOf(value);
  if (!isReported(value)) return false;
  if (kind === 'refused') return true;
  if (kind !== 'loaded') return false;
  if (typeof places !== 'object' || places === null) return false;
  return Object.values(places).every((one) => isText(one, 1_000)) && JSON.stringify(places).length <= MOST_PLACES;
}

/** Characters of all places: the control workflow carries them along when it continues as new, in two million bytes at most. */
const MOST_PLACES = 600_000;

/** As a control workflow answers, which anybody in the namespace may have started. */
export function isConfigRecord(value: unknown): value is ConfigRecord {
  const { at, kind, before, changes, more } = fieldsOf(value);
  if (!isTime(at) || !isReported(value)) return false;
  if (kind === 'refused') return true;
  if (kind !== 'changed' || !(before === null || isText(before, 100))) return false;
  return Array.isArray(changes) && changes.every(isChange) && Number.isSafeInteger(more);
}

function isChange(value: unknown): value is PlaceChange {
  const { place, before, after } = fieldsOf(value);
  return [place, before ?? '', after ?? ''].every(isString);
}
