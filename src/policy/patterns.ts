/** Argument rules: does a pattern match what a call's argument means? Paths are compared canonical, never as the model put them. */
import type { Json } from '../protocol/json.ts';
import { ANY, commandReadings } from './shell/forms.ts';
import { hostMatches, hostOf } from './hosts.ts';
import { isUnder, matchText, occursIn, overlaps, pathGlob, segments } from './paths.ts';
import type { ArgumentPattern, ArgumentRule } from './settings.ts';
import type { CallFacts, ResolvedSubject } from './types.ts';

type PathSubject = Extract<ResolvedSubject, { kind: 'path' }>;

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

const pathsIn = (call: CallFacts, argument: string): PathSubject[] =>
  call.subjects.filter((subject): subject is PathSubject => subject.kind === 'path' && subject.argument === argument);

/** The canonical path and, inside the workspace, the path from there. */
const pathForms = (subject: PathSubject): string[] =>
  subject.relative === undefined ? [subject.canonical] : [subject.canonical, subject.relative];

/** Where a command runs, when the rule is about `cwd`: also when the model left it out. */
function cwdIn(call: CallFacts, argument: string): string[] {
  if (argument !== 'cwd') return [];
  return call.subjects.flatMap((subject) => (subject.kind === 'command' ? [subject.cwd] : []));
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
  const canonical = JSON.stringify(wanted);
  return (call, sense) => {
    const paths = pathsIn(call, argument);
    if (paths.length > 0 && typeof wanted === 'string') {
      const target = segments(wanted).join('/');
      return holds(paths, sense, (path) => pathForms(path).some((form) => segments(form).join('/') === target));
    }
    const value = own(call, argument);
    if (value !== undefined && JSON.stringify(value) === canonical) return true;
    if (sense === 'permit' || typeof wanted !== 'string') return false;
    const { forms, open, complete } = commandReadings(call, argument);
    if (forms.includes(wanted) || open.some((form) => overlaps(wanted.toLowerCase(), form, ANY))) return true;
    return !complete && forms.some((form) => form.includes(wanted));
  };
}

function globPattern(argument: string, glob: string): CompiledPattern {
  const byPath = pathGlob(glob);
  const absolute = glob.startsWith('/');
  const folded = glob.toLowerCase();
  return (call, sense) => {
    const paths = pathsIn(call, argument);
    if (paths.length > 0) {
      return holds(paths, sense, (path) => {
        const form = absolute ? path.canonical : path.relative;
        return form !== undefined && byPath(segments(form));
      });
    }
    const cwd = cwdIn(call, argument);
    if (cwd.length > 0) return holds(cwd, sense, (path) => byPath(segments(path)));
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
  const absolute = prefix.startsWith('/');
  return (call, sense) => {
    const paths = pathsIn(call, argument);
    if (paths.length > 0) {
      return holds(paths, sense, (path) => {
        const form = absolute ? path.canonical : path.relative;
        if (form === undefined) return false;
        const place = segments(form);
        // What a call takes in as a whole (a deleted folder, a searched one) includes what a rule names inside of it.
        return isUnder(place, root) || (sense === 'restrict' && takesWhole(call, path) && isUnder(root, place));
      });
    }
    return absolute && holds(cwdIn(call, argument), sense, (cwd) => isUnder(segments(cwd), root));
  };
}

const takesWhole = (call: CallFacts, path: PathSubject): boolean =>
  path.access === 'delete' || call.tool.name === 'search';
