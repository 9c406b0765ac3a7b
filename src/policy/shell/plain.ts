/**
 * Plain command lines: simple commands of literal words, joined by `|`, `&&`, `||`, `;` or a new line. Nothing else can be
 * judged by its words. Two parsers and the grammar of literal words below have to read a line alike, or it is not plain.
 */
import type { Command, PipelineNode, Statement, Word } from 'unbash';
import { parsed, remembered } from './parse.ts';
import { secondReading } from './second-parser.ts';

export type Operator = '|' | '&&' | '||' | ';';

/** One simple command of a line, and what joins it to the one before. */
export interface Part {
  /** Absent for the first. */
  operator?: Operator;
  argv: readonly string[];
}

export type PlainLine = { plain: true; parts: readonly Part[] } | { plain: false; why: string };

export interface ShellLimits {
  maxLength: number;
  maxParts: number;
}

/** A part with its words as they were written. */
interface Written extends Part {
  words: string[];
}

/** Why a line is not plain; thrown inside of this file only. */
class NotPlain extends Error {}

/** Reads a command line, or says why its words can't be relied on. */
export function plainLine(command: string, { maxLength, maxParts }: ShellLimits): PlainLine {
  if (command.length > maxLength) return { plain: false, why: `it has more than ${maxLength} characters` };
  const line = readLine(command);
  if (line.plain && line.parts.length > maxParts) return { plain: false, why: `it has more than ${maxParts} commands` };
  return line;
}

const readLine = remembered((command: string): PlainLine => {
  try {
    // Control characters and invisible ones make what a person sees differ from what a shell reads.
    if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2028\u2029]/u.test(command.replace(/[\t\n]/g, ' '))) {
      throw new NotPlain('it has control or invisible characters');
    }
    const script = parsed(command);
    if (script.errors !== undefined && script.errors.length > 0) throw new NotPlain('it is no valid shell command');
    if (script.commands.length === 0 || script.shebang !== undefined) throw new NotPlain('it has no command');
    const parts = script.commands.flatMap((statement, index) =>
      statementParts(statement, index === 0 ? undefined : ';'),
    );
    if (secondReading(command) !== writtenForm(parts)) throw new NotPlain('two shell parsers read it differently');
    return { plain: true, parts: parts.map(({ words: _, ...part }) => part) };
  } catch (error) {
    if (error instanceof NotPlain) return { plain: false, why: error.message };
    return { plain: false, why: 'it could not be parsed' };
  }
});

/** The parts as the second parser prints a line: words untouched, one space or operator between. */
const writtenForm = (parts: readonly Written[]): string =>
  parts.map(({ operator, words }) => join(operator) + words.join(' ')).join('');

const join = (operator: Operator | undefined): string =>
  operator === undefined ? '' : operator === ';' ? '; ' : ` ${operator} `;

function statementParts(statement: Statement, before: Operator | undefined): Written[] {
  if (statement.background) throw new NotPlain('it leaves something running in the background');
  const { command } = statement;
  if (command.type !== 'AndOr') return pipelineParts(command, before);
  return command.commands.flatMap((node, index) =>
    pipelineParts(node, index === 0 ? before : command.operators[index - 1]),
  );
}

function pipelineParts(node: PipelineNode, before: Operator | undefined): Written[] {
  if (node.type !== 'Pipeline') return [simple(node, before)];
  const timed = node.prefixes.length === 1 && node.prefixes[0]?.type === 'Time' && node.prefixes[0].posix === undefined;
  if (node.prefixes.length > 0 && !timed) throw new NotPlain('it negates or times a pipeline');
  return node.commands.map((command, index) => {
    const operator = index === 0 ? before : node.operators[index - 1];
    if (operator === '|&') throw new NotPlain('it joins error output into a pipe');
    const part = simple(command, operator);
    return timed && index === 0 ? { ...part, argv: ['time', ...part.argv], words: ['time', ...part.words] } : part;
  });
}

function simple(node: PipelineNode, operator: Operator | undefined): Written {
  if (node.type !== 'Command') throw new NotPlain(`it has more than simple commands (${node.type})`);
  const { name, prefix, suffix } = node satisfies Command;
  if (prefix.some((one) => one.type === 'Assignment')) throw new NotPlain('it sets variables');
  if (node.redirects.length > 0) throw new NotPlain('it redirects input or output');
  if (name === undefined || prefix.length > 0) throw new NotPlain('it has a command without a name');
  const words = [name, ...suffix].map((word) => {
    if (word.type !== 'Word') throw new NotPlain('it sets variables or redirects');
    return word;
  });
  const argv = words.map(literal);
  return { ...(operator !== undefined && { operator }), argv, words: words.map((word) => word.text) };
}

/**
 * Text that stands for itself in any shell: bare safe characters, single quotes, double quotes without anything that is
 * expanded in them, and a backslash before a printable character.
 */
const PIECE = /([A-Za-z0-9_@%+:,./-]+|(?<!^)=)|'([^']*)'|"((?:[^"$`\\!]|\\["\\$`])*)"|\\([!-~])/y;

/** The value of a literal word; both this grammar and the first parser must agree on it. */
function literal(word: Word): string {
  let value = '';
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < word.text.length) {
    const piece = PIECE.exec(word.text);
    if (piece === null) throw new NotPlain(`it has words that a shell expands (${excerpt(word.text)})`);
    const [, bare, single, double, escaped] = piece;
    value += bare ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '';
  }
  if (value !== word.value) throw new NotPlain('two readings of a word differ');
  return value;
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** One word in single quotes, whatever is in it. */
export const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * The line written anew with every word quoted: nothing in it can be expanded, not even a reserved word or an alias. `time` alone
 * stays bare, because it is a word of the shell and on many machines no program.
 */
export const rebuilt = (parts: readonly Part[]): string =>
  parts
    .map(
      ({ operator, argv }) =>
        join(operator) + argv.map((word, at) => (at === 0 && word === 'time' ? word : quote(word))).join(' '),
    )
    .join('');
