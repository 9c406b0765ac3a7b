/** One simple command: is it known to be harmless, and which files would it open? */
import { baseName } from './forms.ts';
import { type Part, plainLine, rebuilt, type ShellLimits } from './plain.ts';
import { INTERPRETERS, PROGRAMS, type Program, SHELL_WORDS, WRAPPERS, WRITERS } from './programs.ts';
import type { SafeBin } from '../settings.ts';

export type Classified =
  | {
      safe: true;
      /** What runs, which for `sh -c` is the inner line rebuilt. */
      argv: readonly string[];
      /** Words that the program would open as files. */
      files: string[];
    }
  | {
      safe: false;
      why: string;
      /** False for interpreters and wrappers: approving one says nothing about the next. */
      rememberable: boolean;
    };

export interface SafeList {
  bins: Readonly<Record<string, SafeBin>>;
  limits: ShellLimits;
}

const no = (why: string, rememberable = true): Classified => ({
  safe: false,
  why: why.length > 200 ? `${why.slice(0, 200)}…` : why,
  rememberable,
});
const MAX_NESTING = 3;

/** Judges the words of one simple command by the table of programs, the configured additions and what wrappers run. */
export function classify(argv: readonly string[], list: SafeList, nesting = 0): Classified {
  const [program = '', ...rest] = argv;
  if (program.includes('/'))
    return no(`${program} is named by its path; only programs found by name are known`, !isOpaque(baseName(program)));
  if (Object.hasOwn(WRAPPED, program)) return WRAPPED[program]?.(argv, list, nesting) ?? no(`${program} is not known`);
  const added = Object.hasOwn(list.bins, program) ? list.bins[program] : undefined;
  const known =
    added === undefined ? (Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined) : asProgram(added);
  if (known === undefined) {
    const what = INTERPRETERS.has(program)
      ? 'runs whatever it is given'
      : WRAPPERS.has(program)
        ? 'runs other programs'
        : 'is not on the safe list';
    return no(`${program} ${what}`, !isOpaque(program));
  }
  const first = rest[0];
  if (added?.subcommands !== undefined && (first === undefined || !added.subcommands.includes(first))) {
    return no(`${program} is allowed with ${added.subcommands.join(', ')} only`);
  }
  const opened = readOptions(program, known, added?.subcommands === undefined ? rest : rest.slice(1));
  return 'why' in opened ? no(opened.why) : { safe: true, argv, files: opened.files };
}

/** Whether a simple command is known to run nothing but what its words say, be it harmless or not. Its program is taken for the one that its name stands for. */
export function runsItsWords([program = '', ...rest]: readonly string[]): boolean {
  const table = ALONE.get(program);
  return table !== undefined && 'files' in readOptions(program, table, rest);
}

/** `egrep` and `fgrep` may be scripts that look for `grep` by its name. */
const ALONE: ReadonlyMap<string, Program> = new Map(
  Object.entries({ ...PROGRAMS, ...WRITERS }).filter(([program]) => program !== 'egrep' && program !== 'fgrep'),
);

/** Whether there are words that a program, or word of the shell, is known to run nothing but. */
export const canRunItsWords = (program: string): boolean => ALONE.has(baseName(program)) || SHELL_WORDS.has(program);

const isOpaque = (program: string): boolean =>
  INTERPRETERS.has(program) || WRAPPERS.has(program) || /^(python|perl|ruby|lua|php|node)[0-9.]*$/.test(program);

/** A program that the configuration adds. Its options are matched whole; letters are not taken apart. */
function asProgram(bin: SafeBin): Program {
  return {
    words: true,
    long: bin.options ?? [],
    longValues: bin.valueOptions ?? [],
    operands: bin.operands ?? 'files',
  };
}

interface Reading {
  files: string[];
  texts: string[];
  seen: Set<string>;
}

/** Walks the options by the table; what is left are operands. */
function readOptions(program: string, table: Program, args: readonly string[]): { files: string[] } | { why: string } {
  const reading: Reading = { files: [], texts: [], seen: new Set() };
  let optionsEnded = false;
  const operands: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (table.anyOptions === true || optionsEnded || word === '-' || !word.startsWith('-')) {
      operands.push(word);
      continue;
    }
    if (word === '--') {
      optionsEnded = true;
      continue;
    }
    const taken = readOption(table, word, args[index + 1], reading);
    if (taken === undefined) return { why: `${program} ${word} is not among the options known to be harmless` };
    index += taken;
  }
  return readOperands(program, table, operands, reading);
}

/** How many further words an option takes, or undefined where it is not known. */
function readOption(table: Program, word: string, next: string | undefined, { seen }: Reading): 0 | 1 | undefined {
  const [name = '', ...inline] = word.split('=');
  const hasInline = inline.length > 0;
  if (table.words === true || word.startsWith('--')) {
    if (!hasInline && table.long?.includes(name) === true) return mark(seen, name, 0);
    if (table.longValues?.includes(name) !== true) return undefined;
    if (hasInline) return mark(seen, name, 0);
    // GNU's `--color` and `--sort` may stand without a value; taking the next word for it would hide a file.
    return OPTIONAL_VALUE.has(name) ? mark(seen, name, 0) : next === undefined ? undefined : mark(seen, name, 1);
  }
  if (table.number === true && /^-[0-9]{1,9}$/.test(word)) return 0;
  const letters = [...word.slice(1)];
  for (const [index, letter] of letters.entries()) {
    if (table.flags?.includes(letter) === true) seen.add(`-${letter}`);
    else if (table.values?.includes(letter) === true) {
      seen.add(`-${letter}`);
      if (index < letters.length - 1) return 0;
      return next === undefined ? undefined : 1;
    } else return undefined;
  }
  return 0;
}

const OPTIONAL_VALUE = new Set(['--color', '--colour', '--iso-8601']);

function mark<Taken extends 0 | 1>(seen: Set<string>, name: string, taken: Taken): Taken {
  seen.add(name);
  return taken;
}

function readOperands(
  program: string,
  table: Program,
  operands: readonly string[],
  { seen }: Reading,
): { files: string[] } | { why: string } {
  if (table.requires !== undefined && !seen.has(`-${table.requires}`))
    return { why: `${program} is known only with -${table.requires}` };
  if (table.operands === 'none' && operands.length > 0) return { why: `${program} takes no words here` };
  if (operands.length > (table.most ?? Infinity)) return { why: `${program} takes at most ${table.most} words here` };
  const hasPattern = table.operands === 'pattern' && table.patternOptions?.some((option) => seen.has(option)) !== true;
  const checked = table.operands === 'pattern' ? operands.slice(0, 1) : operands;
  const odd = table.only === undefined ? undefined : checked.find((word) => table.only?.test(word) !== true);
  if (odd !== undefined) return { why: `${program} ${odd} is not known to be harmless` };
  if (table.operands === 'none' || table.operands === 'text') return { files: [] };
  if (table.words === true && operands.some((word) => /^[(),!]/.test(word)))
    return { why: `${program} with an expression in brackets is not known to be harmless` };
  return { files: operands.slice(hasPattern ? 1 : 0).filter((word) => word !== '-') };
}

type WrapperJudge = (argv: readonly string[], list: SafeList, nesting: number) => Classified;

/** Wrappers that are judged by what they run, with the options that leave that to their last words. */
const WRAPPED: Readonly<Record<string, WrapperJudge>> = {
  env: (argv, list, nesting) => after(argv, 1, list, nesting),
  command: (argv, list, nesting) => after(argv, 1, list, nesting),
  time: (argv, list, nesting) => after(argv, 1, list, nesting),
  nice: (argv, list, nesting) =>
    after(argv, argv[1] === '-n' && /^[0-9]{1,2}$/.test(argv[2] ?? '') ? 3 : 1, list, nesting),
  timeout: (argv, list, nesting) =>
    /^[0-9.]{1,9}[smhd]?$/.test(argv[1] ?? '')
      ? after(argv, 2, list, nesting)
      : no('timeout is known only as timeout DURATION COMMAND', false),
  xargs: (argv, list, nesting) => {
    const inner = after(argv, argv[1] === '-0' ? 2 : 1, list, nesting);
    // Words from standard input become options and files of the program: only one for which any word is text can take them.
    return inner.safe && PROGRAMS[inner.argv.at(argv[1] === '-0' ? 2 : 1) ?? '']?.anyOptions !== true
      ? no('xargs adds words that are not known yet', false)
      : inner;
  },
  sh: shellLine,
  bash: shellLine,
  dash: shellLine,
};

/** The command that starts at word `from`. */
function after(argv: readonly string[], from: number, list: SafeList, nesting: number): Classified {
  const inner = argv.slice(from);
  const [program = ''] = inner;
  if (nesting >= MAX_NESTING) return no('commands are wrapped too deeply', false);
  // Without a command `env` shows the environment; an assignment or an option changes what runs.
  if (program === '' || program.startsWith('-') || program.includes('='))
    return no(`${argv[0]} is not followed by a plain command`, false);
  const judged = classify(inner, list, nesting + 1);
  return judged.safe ? { ...judged, argv: [...argv.slice(0, from), ...judged.argv] } : judged;
}

/** `sh -c LINE`: the line is judged as a line, and rebuilt. */
function shellLine(argv: readonly string[], list: SafeList, nesting: number): Classified {
  const [program = '', option, line] = argv;
  if (option !== '-c' || line === undefined || argv.length > 3)
    return no(`${program} runs whatever it is given`, false);
  if (nesting >= MAX_NESTING) return no('commands are wrapped too deeply', false);
  const inner = plainLine(line, list.limits);
  if (!inner.plain) return no(`what ${program} would run is not plain: ${inner.why}`, false);
  const parts: Part[] = [];
  const files: string[] = [];
  for (const part of inner.parts) {
    const judged = classify(part.argv, list, nesting + 1);
    if (!judged.safe) return judged;
    parts.push({ ...part, argv: judged.argv });
    files.push(...judged.files);
  }
  return { safe: true, argv: [program, '-c', rebuilt(parts)], files };
}
