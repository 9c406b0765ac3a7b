/** A command line taken apart for people: its simple commands in order, how they are joined, and what each does. */
import { forEachChild, parse, type Command, type SyntaxNode } from 'unbash';
import type { CommandStep, Deed, Joint } from '../protocol/preview.ts';
import { DEFAULT_SHELL } from '../policy/settings.ts';
import { plainLine } from '../policy/shell/plain.ts';
import { deedsOf } from './deeds.ts';

export interface CommandSteps {
  steps: CommandStep[];
  /** False where the steps are a guess, because words are expanded or two parsers read them differently. */
  plain: boolean;
}

/** Past it a line is not taken apart. */
const MAX_LENGTH = 32_000;
const MAX_STEPS = 200;
const MAX_NESTING = 3;

export function commandSteps(line: string): CommandSteps {
  const { plain } = plainLine(line, DEFAULT_SHELL);
  const { steps }: Reader = { steps: [] };
  if (line.length <= MAX_LENGTH) readLine({ steps }, line, { plain, depth: 0, nesting: 0 });
  return { steps, plain: plain && steps.length <= MAX_STEPS };
}

/** Of words that a shell expands nobody can say that they are harmless. */
const unproven = (deed: Deed): Deed => (deed === 'harmless' ? 'looks' : deed);

interface Reader {
  steps: CommandStep[];
}

/** Where a node stands. */
interface Place {
  source: string;
  /** False where the words of the line can't be relied on. */
  plain: boolean;
  depth: number;
  nesting: number;
  joint?: Joint;
}

function readLine(reader: Reader, source: string, place: Omit<Place, 'source'>): void {
  try {
    read(reader, parse(source), { source, ...place });
  } catch {
    // What can't be parsed has no steps; the line itself is shown among the arguments.
  }
}

function read(reader: Reader, node: SyntaxNode, place: Place): void {
  if (reader.steps.length > MAX_STEPS) return;
  const { joint: _, ...here } = place;
  switch (node.type) {
    case 'Script':
    case 'CompoundList': {
      const source = node.type === 'Script' ? (node.source ?? here.source) : here.source;
      node.commands.forEach((statement, i) => {
        const before = node.commands[i - 1];
        const joint = before === undefined ? place.joint : before.background ? '&' : ';';
        read(reader, statement.command, { ...here, source, ...(joint !== undefined && { joint }) });
      });
      return;
    }
    case 'AndOr':
    case 'Pipeline':
      node.commands.forEach((command, i) => {
        const operator = i === 0 ? place.joint : node.operators[i - 1];
        const joint = operator === '|&' ? '|' : operator;
        read(reader, command, { ...here, ...(joint !== undefined && { joint }) });
      });
      return;
    case 'Command':
      return readCommand(reader, node, place);
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      if (node.script)
        read(reader, node.script, { ...here, source: node.script.source ?? here.source, depth: here.depth + 1 });
      return;
    default:
      forEachChild(node, (child) => read(reader, child, here));
  }
}

/** Shells that run their `-c` argument as a line. */
const SHELLS = /^(?:.*\/)?(?:sh|bash|dash|zsh|ksh)$/;

function readCommand(reader: Reader, node: Command, { source, plain, depth, nesting, joint }: Place): void {
  const words = [node.name, ...node.suffix].flatMap((word) => (word?.type === 'Word' ? [word.value] : []));
  const deeds = words.length === 0 ? ['variables' as const] : deedsOf(words, { plain });
  const writes = node.redirects.some(
    (one) =>
      one.type === 'Redirect' && /^(>|>>|>\||&>|&>>|<>)$/.test(one.operator) && one.target?.value !== '/dev/null',
  );
  // Harmless is said of what changes nothing, and a file that is written is changed.
  const all = writes ? [...deeds.filter((deed) => deed !== 'harmless'), 'writes_output' as const] : deeds;
  reader.steps.push({
    ...(joint !== undefined && { joint }),
    text: source.slice(node.pos, node.end),
    deeds: plain ? all : all.map(unproven),
    depth,
  });
  forEachChild(node, (child) => read(reader, child, { source, plain, depth, nesting }));
  const script = SHELLS.test(words[0] ?? '') && /^-[a-z]*c[a-z]*$/.test(words[1] ?? '') ? words[2] : undefined;
  if (script === undefined || nesting >= MAX_NESTING) return;
  const within = plain && plainLine(script, DEFAULT_SHELL).plain;
  readLine(reader, script, { plain: within, depth: depth + 1, nesting: nesting + 1 });
}
