/**
 * The readings of a command line that restricting rules are held against: as written, and every simple command in it, also
 * inside of substitutions, wrappers and nested shells. A rule against `rm *` finds `sudo \rm x`, `sh -c "rm x"` and `$(rm x)`.
 * A reading too many denies too much, which is the right side to be wrong on; what only running would tell can't be read.
 */
import { type Redirection, type SyntaxNode, forEachChild } from 'unbash';
import type { CallFacts, ResolvedSubject } from '../types.ts';
import { parsed } from './parse.ts';

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

export interface Readings {
  /** The line as written, and each simple command with its words joined by spaces and its program by name alone. */
  forms: readonly string[];
  /** The same in lower case: a file system may not tell `RM` from `rm`. */
  folded: readonly string[];
  /** Words of each simple command. */
  commands: readonly (readonly string[])[];
  /** False where something could not be read: rules then hold wherever their text occurs. */
  complete: boolean;
  /** True where that is because it was too long or too deeply nested to be parsed at all. */
  cut: boolean;
}

const known = new WeakMap<CommandSubject, Readings>();
const NOTHING: Readings = { forms: [], folded: [], commands: [], complete: true, cut: false };

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
    commands: [],
  };
  readLine(reader, command, 0);
  const forms = [...new Set([command, command.trim(), ...reader.commands.map((words) => words.join(' '))])];
  return {
    forms,
    folded: forms.map((form) => form.toLowerCase()),
    commands: reader.commands,
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
  commands: string[][];
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
    if (node.type === 'Command') {
      const words = [node.name, ...node.suffix].flatMap((word) => (word?.type === 'Word' ? [word.value] : []));
      if (words.length > 0) readCommand(reader, words, nesting);
      // What a shell is given to read is a line too: `sh <<< "rm x"`.
      if (READS_SCRIPT.has(baseName(words[0] ?? ''))) {
        for (const given of node.redirects) readLine(reader, scriptIn(given), nesting + 1);
      }
    }
    forEachChild(node, (child) => visit(child));
  };
  try {
    const script = parsed(line);
    if (script.errors !== undefined && script.errors.length > 0) reader.complete = false;
    visit(script);
  } catch {
    reader.complete = false;
  }
}

const scriptIn = (redirection: Redirection): string =>
  redirection.type === 'HereDoc'
    ? redirection.body.text
    : redirection.type === 'HereString'
      ? (redirection.target?.value ?? '')
      : '';

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Programs that run what stands after them. */
const RUNS_REST = set(
  'sudo doas su env nice ionice timeout time nohup setsid stdbuf command builtin exec xargs parallel watch chroot unshare ' +
    'nsenter strace ltrace flock taskset chrt setarch busybox toybox find fd ssh script systemd-run pkexec runuser firejail bwrap',
);
/** Programs that read a script from an argument or from their input. */
const READS_SCRIPT = set('sh bash dash ash zsh ksh mksh fish eval trap su ssh watch script flock parallel env busybox');

/** Words after a wrapper's name among which its program is looked for. */
const WRAPPER_WORDS = 20;

/** The command itself and what it would run in turn. */
function readCommand(reader: Reader, words: readonly string[], nesting: number): void {
  const [program = '', ...rest] = words;
  const name = baseName(program);
  reader.commands.push([name, ...rest]);
  if (RUNS_REST.has(name)) {
    if (rest.length > WRAPPER_WORDS) reader.complete = false;
    // Which of the words is the program depends on options; each is taken for it.
    for (let start = 0; start < Math.min(rest.length, WRAPPER_WORDS); start += 1) {
      const inner = [baseName(rest[start] ?? ''), ...rest.slice(start + 1)];
      if (!spend(reader, inner)) return;
      reader.commands.push(inner);
    }
    const inner = rest.findIndex((word) => READS_SCRIPT.has(baseName(word)) || RUNS_REST.has(baseName(word)));
    if (inner >= 0 && nesting > 2 * MAX_NESTING) reader.complete = false;
    else if (inner >= 0 && spend(reader, rest)) readCommand(reader, rest.slice(inner), nesting + 1);
  }
  if (READS_SCRIPT.has(name)) {
    for (const word of [...rest, rest.join(' ')]) readLine(reader, word, nesting + 1);
  }
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
