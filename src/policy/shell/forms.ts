/**
 * The readings of a command line that restricting rules are held against: as written, and every simple command in it, also
 * inside of substitutions, wrappers and nested shells. A rule against `rm *` finds `sudo \rm x`, `sh -c "rm x"` and `$(rm x)`.
 * A reading too many denies too much, which is the right side to be wrong on; what only running would tell can't be read.
 */
import { type Command, type Redirection, type SyntaxNode, type Word, type WordPart, forEachChild } from 'unbash';
import type { CallFacts, ResolvedSubject } from '../types.ts';
import { parsed } from './parse.ts';
import { WRAPPERS } from './programs.ts';

type CommandSubject = Extract<ResolvedSubject, { kind: 'command' }>;

/** Characters that are parsed in all, nested lines included. */
const PARSED_LENGTH = 65_536;
const MAX_NESTING = 4;
/**
 * The parser reads what a substitution holds once more for each level around it, and here-documents once for each that waits. Openings times characters bound that;
 * they are counted as text, because quotes can hide a closing bracket, so nothing is taken off for those that are closed.
 */
const OPENINGS = /[$<>=]\(|\$[{[]|<<|`/g;
const PARSED_WORK = 2_000_000;

export type Words = readonly string[];

export interface Readings {
  /** The line as written, and each simple command with its words joined by spaces and its program by name alone. */
  forms: readonly string[];
  /** The same in lower case: a file system may not tell `RM` from `rm`. */
  folded: readonly string[];
  /** Simple commands whose program is a glob, a brace or partly an expansion, in lower case; {@link ANY} stands for what can't be told. */
  open: readonly string[];
  /** Words of each simple command. */
  commands: readonly Words[];
  /** Which of them get what others print: the stages of each pipe, and what stands in a command's substitutions before the command itself. */
  flows: readonly (readonly (readonly Words[])[])[];
  /** False where something could not be read: rules then hold wherever their text occurs. */
  complete: boolean;
  /** True where that is because it was too long or too deeply nested to be parsed at all. */
  cut: boolean;
}

const known = new WeakMap<CommandSubject, Readings>();
const NOTHING: Readings = {
  forms: [],
  folded: [],
  open: [],
  commands: [],
  flows: [],
  complete: true,
  cut: false,
};

/** Readings of the command that an argument holds; none where the argument is no command. */
export function commandReadings(call: CallFacts, argument: string): Readings {
  const subject = call.subjects.find((one) => one.kind === 'command' && one.argument === argument);
  if (subject?.kind !== 'command') return NOTHING;
  const before = known.get(subject);
  if (before !== undefined) return before;
  const readings = readingsOf(subject.command);
  known.set(subject, readings);
  return readings;
}

export function readingsOf(command: string): Readings {
  const reader: Reader = {
    left: PARSED_LENGTH,
    work: PARSED_WORK,
    complete: true,
    cut: false,
    open: [],
    commands: [],
    flows: [],
  };
  readLine(reader, command, 0);
  const forms = [...new Set([command, command.trim(), ...reader.commands.map((words) => words.join(' '))])];
  // What is put together from pieces elsewhere in the line stands there with other signs around it: `X=rm; $X a`.
  if (!reader.complete) forms.push(command.replace(/[\s{}(),'"\\$=;&|<>`]+/g, ' '));
  return {
    forms,
    folded: forms.map((form) => form.toLowerCase()),
    open: reader.open.map((form) => form.toLowerCase()),
    commands: reader.commands,
    flows: reader.flows,
    complete: reader.complete,
    cut: reader.cut,
  };
}

interface Reader {
  /** Characters that may still be read: wrappers can be stacked so that reading them all would never end. */
  left: number;
  /** Openings times characters that may still be parsed. */
  work: number;
  complete: boolean;
  cut: boolean;
  open: string[];
  commands: Words[];
  flows: Words[][][];
}

function readLine(reader: Reader, line: string, nesting: number): void {
  reader.left -= line.length + 1;
  if (reader.left >= 0) reader.work -= (line.match(OPENINGS)?.length ?? 0) * line.length;
  if (reader.left < 0 || reader.work < 0) reader.cut = true;
  if (reader.cut || nesting > MAX_NESTING) {
    reader.complete = false;
    return;
  }
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Pipeline') {
      const stages = node.commands.map((stage) => commandsFoundBy(reader, () => visit(stage)));
      reader.flows.push(stages);
      // Its lines come from the stage before: `echo rm x | sh`.
      if (
        stages
          .slice(1)
          .flat()
          .some(([program = '']) => READS_LINES.has(program))
      )
        reader.complete = false;
    } else if (node.type === 'Command') {
      const own = commandsFoundBy(reader, () => readSimple(reader, node, nesting));
      const inner = commandsFoundBy(reader, () => forEachChild(node, (child) => visit(child)));
      if (inner.length > 0) reader.flows.push([inner, own]);
    } else {
      forEachChild(node, (child) => visit(child));
    }
  };
  try {
    const script = parsed(line);
    if (script.errors !== undefined && script.errors.length > 0) reader.complete = false;
    visit(script);
  } catch {
    reader.complete = false;
  }
}

function readSimple(reader: Reader, { name, suffix, redirects }: Command, nesting: number): void {
  const written = [name, ...suffix].filter((word) => word?.type === 'Word');
  const words = written.map((word) => word.value);
  if (words.length > 0) readCommand(reader, words, nesting);
  readOpen(reader, written.map(outline));
  // What a shell is given to read is a line too: `sh <<< "rm x"`.
  if (READS_SCRIPT.has(baseName(words[0] ?? ''))) {
    for (const given of redirects) readLine(reader, scriptIn(given), nesting + 1);
  }
}

function commandsFoundBy(reader: Reader, read: () => void): Words[] {
  const before = reader.commands.length;
  read();
  return reader.commands.slice(before);
}

const scriptIn = (redirection: Redirection): string =>
  redirection.type === 'HereDoc'
    ? redirection.body.text
    : redirection.type === 'HereString'
      ? (redirection.target?.value ?? '')
      : '';

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Wrappers that take a script, not a program and its words. */
const TAKES_SCRIPT = set('eval source . at batch crontab trap');
/** Programs that run what stands after them. */
const RUNS_REST: ReadonlySet<string> = new Set([
  ...[...WRAPPERS].filter((name) => !TAKES_SCRIPT.has(name)),
  ...set('ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1'),
]);
/** Programs that read a script from an argument or from their input. */
const READS_SCRIPT = set(
  'sh bash rbash dash ash zsh ksh mksh csh tcsh fish eval trap . source su sg runuser ssh watch script flock parallel env busybox tmux screen unbuffer capsh mapfile readarray compgen complete fc at batch',
);

/** Those of them that run what they read from their input, and what else does. */
const READS_LINES = set('sh bash rbash dash ash zsh ksh mksh csh tcsh fish . source parallel at batch');

/** Wrappers that add words from their input to their program's. */
const ADDS_WORDS = set('xargs parallel');
/** Words of the shell after which a name stands for something else. */
const RENAMES = set('hash alias enable');

/** Any text: what a glob or a brace makes, or an expansion beside letters that are certain. */
export const ANY = '\uE000';
/** What an expansion makes. */
const UNTOLD = '\uE001';
/** Characters of an open command that are compared. */
const OPEN_LENGTH = 512;

/** A word with placeholders for what the shell would put into it. */
const outline = (word: Word): string => (word.parts === undefined ? word.value : partsOutline(word.parts));

const partsOutline = (parts: readonly WordPart[]): string =>
  parts
    .map((part) => {
      if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return partsOutline(part.parts);
      if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return part.value;
      return part.type === 'Glob' || part.type === 'BraceExpansion' || part.type === 'ExtendedGlob' ? ANY : UNTOLD;
    })
    .join('');

/** Programs that are not named by literal words: `/bin/r? x`, `{rm,x}`, `r$@m x`, `sudo r* x`. What is an expansion alone only running would tell. */
function readOpen(reader: Reader, words: readonly string[]): void {
  const wrapper = RUNS_REST.has(baseName(words[0] ?? ''));
  const starts = wrapper ? Math.min(words.length, WRAPPER_WORDS + 1) : 1;
  for (let start = 0; start < starts; start += 1) {
    const name = outlineName(words[start] ?? '');
    if (!name.includes(ANY) && !name.includes(UNTOLD)) continue;
    reader.complete = false;
    // Behind a wrapper `*` is most often a file.
    if (name.replaceAll(UNTOLD, '') === '' || (start > 0 && /^[\uE000\uE001]+$/.test(name))) continue;
    const form = [name, ...words.slice(start + 1)].join(' ').replaceAll(UNTOLD, ANY);
    reader.open.push(form.length > OPEN_LENGTH ? form.slice(0, OPEN_LENGTH) + ANY : form);
  }
}

/**
 * The base name of an outline. What an expansion makes may be split into words, so a `/` behind letters and an expansion may stand in an
 * argument: `rm${IFS}src/a`. Behind an expansion alone it is taken for the path that it most often is: `$HOME/bin/x`.
 */
function outlineName(word: string): string {
  const split = /[^\uE001/]\uE001/.exec(word)?.index;
  return split === undefined ? baseName(word) : word.slice(word.lastIndexOf('/', split) + 1);
}

/** Words after a wrapper's name among which its program is looked for. */
const WRAPPER_WORDS = 20;

/** The command itself and what it would run in turn. */
function readCommand(reader: Reader, words: readonly string[], nesting: number): void {
  const [program = '', ...rest] = words;
  const name = baseName(program);
  reader.commands.push([name, ...rest]);
  if (RENAMES.has(name)) reader.complete = false;
  if (RUNS_REST.has(name)) {
    if (rest.length > WRAPPER_WORDS) reader.complete = false;
    // Which of the words is the program depends on options; each is taken for it.
    for (let start = 0; start < Math.min(rest.length, WRAPPER_WORDS); start += 1) {
      const inner = [baseName(rest[start] ?? ''), ...rest.slice(start + 1)];
      if (!spend(reader, inner)) return;
      reader.commands.push(ADDS_WORDS.has(name) ? [...inner, ''] : inner);
    }
    const inner = rest.findIndex((word) => READS_SCRIPT.has(baseName(word)) || RUNS_REST.has(baseName(word)));
    if (inner >= 0 && nesting > 2 * MAX_NESTING) reader.complete = false;
    else if (inner >= 0 && spend(reader, rest)) readCommand(reader, rest.slice(inner), nesting + 1);
  }
  if (READS_SCRIPT.has(name)) {
    for (const word of [...rest.flatMap(linesIn), rest.join(' ')]) readLine(reader, word, nesting + 1);
  }
}

/** A word as a line, and what an option has with it: `-S"rm x"`, `-c'rm x'`, `--split-string='rm x'`. */
function linesIn(word: string): string[] {
  const attached = /^(?:-[A-Za-z0]*?[Sc]|--[a-z-]+=)(.+)$/s.exec(word)?.[1];
  return attached === undefined ? [word] : [word, attached];
}

/** Takes the characters of some words from what may still be read; false when that is too little. */
function spend(reader: Reader, words: readonly string[]): boolean {
  reader.left -= words.reduce((sum, word) => sum + word.length + 1, 0);
  if (reader.left < 0) {
    reader.cut = true;
    reader.complete = false;
  }
  return reader.left >= 0;
}

/** `/usr/bin/rm` → `rm`. */
export const baseName = (program: string): string => program.slice(program.lastIndexOf('/') + 1);
