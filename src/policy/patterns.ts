/** Argument rules: does a pattern match what a call's argument means? Paths are compared canonical, never as the model put them. */
import { isSameJson, type Json } from '../protocol/json.ts';
import { ANY, commandReadings } from './shell/forms.ts';
import { hostMatches, hostOf } from './hosts.ts';
import { isUnder, matchText, occursIn, overlaps, pathGlob, pathGlobBelow, relativeTo, segments } from './paths.ts';
import type { ArgumentPattern, ArgumentRule } from './settings.ts';
import type { CallFacts, ResolvedSubject } from './types.ts';

/** `restrict` for ask and deny: any reading of the argument counts. `permit` for allow: every reading must match. */
export type Sense = 'restrict' | 'permit';
export const senseOf = (effect: ArgumentRule['effect']): Sense => (effect === 'allow' ? 'permit' : 'restrict');

export type CompiledPattern = (call: CallFacts, sense: Sense) => boolean;

export function compilePattern(argument: string, pattern: ArgumentPattern): CompiledPattern {
  if ('exact' in pattern) return exactPattern(argument, pattern.exact);
  if ('host' in pattern)
    return (call, sense) => holds(hostsIn(call, argument), sense, (host) => hostMatches(host, pattern.host));
  if ('under' in pattern) return underPattern(argument, pattern.under);
  return globPattern(argument, pattern.glob);
}

/** Some value must match to restrict; all, and at least one, to permit. */
function holds<Value>(values: readonly Value[], sense: Sense, matches: (value: Value) => boolean): boolean {
  return sense === 'restrict' ? values.some(matches) : values.length > 0 && values.every(matches);
}

const own = (call: CallFacts, argument: string): Json | undefined =>
  Object.hasOwn(call.arguments, argument) ? call.arguments[argument] : undefined;

/** A path that a call touches, or the folder in which a command runs. */
interface Place {
  canonical: string;
  /** From the workspace, where it lies there. */
  relative?: string | undefined;
  /** True where the call takes in all that is below. */
  whole: boolean;
}

/**
 * The places of an argument, from the workspace and from those of the sessions above. Where a command runs is the place of `cwd`, also when
 * the model left it out.
 */
function placesIn(call: CallFacts, argument: string): Place[] {
  const places = call.subjects.flatMap((subject): Place[] => {
    if (subject.kind === 'path' && subject.argument === argument)
      return [{ canonical: subject.canonical, relative: subject.relative, whole: takesWhole(call, subject) }];
    if (subject.kind === 'command' && argument === 'cwd')
      return [{ canonical: subject.cwd, relative: subject.cwdRelative, whole: false }];
    return [];
  });
  const fromAbove = (place: Place): Place[] =>
    (call.above ?? []).map((workspace) => ({ ...place, relative: relativeTo(workspace, place.canonical) }));
  return places.flatMap((place) => [place, ...fromAbove(place)]);
}

/** A folder that is deleted or searched. What may become one until then counts as one. */
const takesWhole = (call: CallFacts, { access, folder }: Extract<ResolvedSubject, { kind: 'path' }>): boolean =>
  (access === 'delete' || call.tool.name === 'search') && (folder !== false || own(call, 'recursive') === true);

/**
 * How a pattern on places is compared: absolute with the canonical path, otherwise with the path from the workspace. To restrict,
 * what lies below counts too where the call takes it in.
 */
function onPlaces(
  written: string,
  matches: (path: readonly string[]) => boolean,
  matchesBelow: (folder: readonly string[]) => boolean,
): (places: readonly Place[], sense: Sense) => boolean {
  const absolute = written.startsWith('/');
  return (places, sense) =>
    holds(places, sense, ({ canonical, relative, whole }) => {
      const form = absolute ? canonical : relative;
      if (form === undefined) return false;
      const path = segments(form);
      return matches(path) || (sense === 'restrict' && whole && matchesBelow(path));
    });
}

function hostsIn(call: CallFacts, argument: string): string[] {
  const subjects = call.subjects.flatMap((one) => (one.kind === 'host' && one.argument === argument ? [one.host] : []));
  if (subjects.length > 0) return subjects;
  // What is no URL has no host, which no pattern but `*` matches.
  return textsIn(call, argument).map((text) => hostOf(text) ?? '');
}

const isSingle = (call: CallFacts, argument: string): boolean =>
  call.subjects.some(
    (subject) => subject.kind === 'command' && subject.argument === argument && subject.single === true,
  );

/** Texts of an argument, each element of a list for itself. */
function textsIn(call: CallFacts, argument: string): string[] {
  const value = own(call, argument);
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
}

function exactPattern(argument: string, wanted: unknown): CompiledPattern {
  const path = typeof wanted === 'string' ? segments(wanted) : [];
  const atPlaces =
    typeof wanted === 'string' &&
    onPlaces(
      wanted,
      (place) => place.length === path.length && isUnder(place, path),
      (folder) => isUnder(path, folder),
    );
  return (call, sense) => {
    const places = placesIn(call, argument);
    if (places.length > 0 && atPlaces) return atPlaces(places, sense);
    const value = own(call, argument);
    if (value !== undefined && isSameJson(value, wanted)) return true;
    if (sense === 'permit' || typeof wanted !== 'string') return false;
    const { forms, open, complete } = commandReadings(call, argument);
    if (forms.includes(wanted) || open.some((form) => overlaps(wanted.toLowerCase(), form, ANY))) return true;
    return !complete && forms.some((form) => form.includes(wanted));
  };
}

function globPattern(argument: string, glob: string): CompiledPattern {
  const atPlaces = onPlaces(glob, pathGlob(glob), pathGlobBelow(glob));
  const folded = glob.toLowerCase();
  return (call, sense) => {
    const places = placesIn(call, argument);
    if (places.length > 0) return atPlaces(places, sense);
    const { forms, folded: readings, open, complete } = commandReadings(call, argument);
    if (forms.length > 0 && sense === 'restrict') {
      if (open.some((form) => overlaps(folded, form, ANY))) return true;
      return readings.some((form) => (complete ? matchText(folded, form) : occursIn(folded, form)));
    }
    // `npm *` must not allow `npm test; rm -rf ~`: the shell layer asks an allow rule about each simple command.
    if (forms.length > 0 && !isSingle(call, argument)) return false;
    return holds(textsIn(call, argument), sense, (text) => matchText(glob, text));
  };
}

function underPattern(argument: string, prefix: string): CompiledPattern {
  const root = segments(prefix);
  const atPlaces = onPlaces(
    prefix,
    (path) => isUnder(path, root),
    (folder) => isUnder(root, folder),
  );
  return (call, sense) => atPlaces(placesIn(call, argument), sense);
}
