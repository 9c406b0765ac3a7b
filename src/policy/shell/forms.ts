/**
 * The readings of a command line that restricting rules are held against: as written, and every simple command in it, also
 * inside of substitutions, wrappers and nested shells. A rule against `rm *` finds `sudo \rm x`, `sh -c "rm x"` and `$(rm x)`.
 * A reading too many denies too much, which is the right side to be wrong on; what only running would tell can't be read.
 */
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import type { CallFacts, ResolvedSubject } from '../types.ts';

type CommandSubject = Extract<ResolvedSubject, { kind: 'command' }>;

/** Past this many characters a line is cut at its operators instead of parsed. */
const PARSED_LENGTH = 16_384;
const MAX_NESTING = 4;
const MAX_FORMS = 2_000;

const known = new WeakMap<CommandSubject, readonly string[]>();

/** Readings of the commands that an argument holds; empty where the argument is no command. */
export function commandForms(call: CallFacts, argument: string): string[] {
  return call.subjects.flatMap((subject) => (subject.kind === 'command' && subject.argument === argument ? formsOf(subject) : []));
}

function formsOf(subject: CommandSubject): readonly string[] {
  const before = known.get(subject);
  if (before !== undefined) return before;
  const { command } = subject;
  const argvs = simpleCommands(command);
  const forms = [...new Set([command, command.trim(), ...argvs.map((argv) => argv.join(' ')), ...pieces(command)])];
  known.set(subject, forms);
  return forms;
}

/** What a line falls into at shell operators, whatever is quoted; only for lines that no parser was asked about. */
const pieces = (command: string): string[] =>
  command.length <= PARSED_LENGTH ? [] : command.split(/[;&|\n(){}`]+/, MAX_FORMS).map((piece) => piece.trim().replace(/\s+/g, ' '));

/** Words of every simple command in a line, at any depth; the program by its name alone. Parts that can't be read are left out. */
export function simpleCommands(command: string, nesting = 0): string[][] {
  if (command.length > PARSED_LENGTH || nesting > MAX_NESTING) return [];
  const found: string[][] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name !== undefined && found.length < MAX_FORMS) {
      const words = [node.name, ...node.suffix].flatMap((word) => (word.type === 'Word' ? [word.value] : []));
      found.push(...wrapped(words, nesting));
    }
    forEachChild(node, (child) => visit(child));
  };
  try {
    visit(parse(command));
  } catch {
    return found;
  }
  return found;
}

/** Programs that run what stands after them. */
const RUNS_REST = new Set(
  'sudo doas su env nice ionice timeout time nohup setsid stdbuf command builtin exec xargs parallel watch chroot unshare nsenter strace ltrace flock taskset chrt setarch busybox toybox find fd ssh script systemd-run pkexec runuser firejail bwrap'.split(
    ' ',
  ),
);
/** Programs that read a script from an argument. */
const READS_SCRIPT = new Set('sh bash dash ash zsh ksh mksh fish eval trap su ssh watch script flock parallel env busybox'.split(' '));

/** The command itself and what it would run in turn. */
function wrapped(words: readonly string[], nesting: number): string[][] {
  const [program = '', ...rest] = words;
  const name = baseName(program);
  const out = [[name, ...rest]];
  if (nesting > MAX_NESTING) return out;
  if (RUNS_REST.has(name)) {
    // Which of the words is the program depends on options; each is taken for it.
    for (let start = 0; start < Math.min(rest.length, 20); start += 1) out.push([baseName(rest[start] ?? ''), ...rest.slice(start + 1)]);
    const inner = rest.findIndex((word) => READS_SCRIPT.has(baseName(word)) || RUNS_REST.has(baseName(word)));
    if (inner >= 0) out.push(...wrapped(rest.slice(inner), nesting + 1));
  }
  if (READS_SCRIPT.has(name)) {
    for (const word of [...rest, rest.join(' ')]) out.push(...simpleCommands(word, nesting + 1));
  }
  return out;
}

/** `/usr/bin/rm` → `rm`. */
export const baseName = (program: string): string => program.slice(program.lastIndexOf('/') + 1);
