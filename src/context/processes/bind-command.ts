/**
 * What a shell command would run, apart from its words: programs, folder, environment, and the content of scripts that it names.
 * Found out when a person is asked and again when it runs; both must be the same. What can't be told is said to be unbound, and so is
 * every program that is not known to run nothing but its words.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sha256 } from '../../approval/digest.ts';
import { DEFAULT_SHELL } from '../../policy/settings.ts';
import { runsItsWords } from '../../policy/shell/classify.ts';
import { baseName } from '../../policy/shell/forms.ts';
import { type Part, plainLine, rebuilt } from '../../policy/shell/plain.ts';
import { INTERPRETERS, SHELL_WORDS, WRAPPERS } from '../../policy/shell/programs.ts';
import type { ResolvedSubject } from '../../policy/types.ts';
import type { BoundCommand } from '../../protocol/approval.ts';
import type { Protection } from '../files/beneath.ts';
import { canonicalPath } from '../files/canonical.ts';
import { openReader } from '../files/workspace.ts';
import { type Environment, hostEnvironment, requestedEnvironment, sandboxEnvironment } from './environment.ts';
import { looseWords } from './loose-words.ts';
import { type Program, canWrite, isExecutable, isFile, isSystemProgram, SHEBANG, shebangOf } from './program-files.ts';
import { searchPath } from './sandbox-layout.ts';
import type { SandboxOptions } from './sandbox-status.ts';

export type CommandSubject = Extract<ResolvedSubject, { kind: 'command' }>;

export interface BindOptions {
  /** Canonical workspace. */
  root: string;
  protection: Protection;
  /** Whether sandboxed commands really run in the sandbox here. */
  sandboxed: boolean;
  sandbox: SandboxOptions;
  signal: AbortSignal;
}

/** A script's content as it was read, once: what was hashed is what a copy is made of. */
export interface ScriptFile {
  path: string;
  sha256: string;
  bytes: Uint8Array;
  executable: boolean;
}

export interface CommandBinding {
  bound: BoundCommand;
  /** True where it runs inside of the sandbox. */
  inside: boolean;
  /** Scripts that the command's own words name, in a line that can be rewritten. */
  sealable: ScriptFile[];
  /** The command with each of these scripts replaced by another path. */
  command(pathOf: (script: ScriptFile) => string): string;
}

const MAX_SCRIPTS = 20;
const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const MAX_NOTES = 20;
/** Scripts that scripts name. */
const MAX_NESTING = 2;

export async function bindCommand(subject: CommandSubject, options: BindOptions): Promise<CommandBinding> {
  const inside = subject.sandbox && options.sandboxed;
  const env = environmentOf(subject, inside, options);
  const line = plainLine(subject.command, DEFAULT_SHELL);
  const walk = new Walk(subject.cwd, env, inside, options);
  if (line.plain) await walk.line(line.parts);
  else {
    walk.note(`the command is not plain (${line.why}), so not all that it runs can be told`);
    await walk.loosely(looseWords(subject.command));
  }
  const bound: BoundCommand = {
    executables: walk.executables,
    cwd: subject.cwd,
    envHash: sha256(env),
    scripts: [...walk.scripts.values()].map(({ path, sha256: hash }) => ({ path, sha256: hash })),
    partly: walk.notes.length > 0,
    unbound: walk.notes,
  };
  const parts = line.plain ? line.parts : [];
  return {
    bound,
    inside,
    sealable: [...new Set(walk.sealable.map(({ script }) => script))],
    command: (pathOf) => (walk.sealable.length === 0 ? subject.command : rewritten(parts, walk.sealable, pathOf)),
  };
}

interface Sealable {
  part: number;
  word: number;
  script: ScriptFile;
}

function rewritten(
  parts: readonly Part[],
  places: readonly Sealable[],
  pathOf: (script: ScriptFile) => string,
): string {
  const argvs = parts.map(({ argv }) => [...argv]);
  for (const { part, word, script } of places) {
    const argv = argvs[part];
    if (argv) argv[word] = pathOf(script);
  }
  return rebuilt(parts.map((part, index) => ({ ...part, argv: argvs[index] ?? part.argv })));
}

function environmentOf({ env }: CommandSubject, inside: boolean, { sandbox, root }: BindOptions): Environment {
  const base = inside ? sandboxEnvironment(searchPath(sandbox.readOnly ?? [])) : hostEnvironment(root);
  return { ...base, ...requestedEnvironment(env) };
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words of the shell apart from {@link SHELL_WORDS}, wrappers and those that move: they can change which program a later word names, or how it runs. */
const CHANGING = names(
  'alias unalias bg bind break caller compgen complete compopt continue declare typeset local readonly export unset set shopt disown enable fc fg getopts hash help history let logout mapfile readarray read suspend',
);

/** `printf -v`, its `%n` and `wait -p` set variables; `test -v` and `-R` run what stands in an index: `test -v 'a[$(x)]'`. */
function isHarmless(word: string, rest: readonly string[]): boolean {
  if (word === 'set') return rest.length > 0 && rest.every((one) => /^(-[eux]+o?|-o|pipefail)$/.test(one));
  if (!SHELL_WORDS.has(word)) return false;
  if (word === 'printf') return runsItsWords([word, ...rest]);
  if (word === 'wait') return !rest.some((one) => one.startsWith('-'));
  return !['test', '['].includes(word) || !rest.some((one) => one === '-v' || one === '-R');
}

const MOVES: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);
/** Given a script, they read no other file first (as zsh does), and they read it as the parsers do. */
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash']);
/** They can leave one program in the place of another. */
const REPLACERS = names('cp mv ln rm unlink tee chmod');
const SOURCES: ReadonlySet<string> = new Set(['.', 'source']);
/** Interpreters whose first word that is no option is a script; of the others (git, make, sed) files are what they work on. */
const RUNNERS =
  /^(sh|bash|dash|ash|zsh|ksh|mksh|fish|python|pypy|node|nodejs|bun|tsx|ts-node|perl|ruby|php|lua|luajit|tclsh|expect|pwsh|rscript|julia)[0-9.]*$/;
/** Options after which a word is a program's text, not its file. */
const TEXT_OPTION = /^(-[A-Za-z]*[cepr]|--eval|--print|--command|-m)$/i;
/** Wrappers after which, where no option follows, the command begins: at this word. */
const PREFIXES: ReadonlyMap<string, number> = new Map([
  ...['sudo', 'doas', 'nohup', 'setsid', 'exec', 'command', 'nice', 'env'].map((name) => [name, 0] as const),
  ['timeout', 1] as const,
]);

/** Where a word stands in the line, when it can be rewritten there. */
type Place = { part: number; offset: number } | undefined;

class Walk {
  readonly executables: { name: string; path: string }[] = [];
  readonly scripts = new Map<string, ScriptFile>();
  readonly sealable: Sealable[] = [];
  readonly notes: string[] = [];
  readonly #env: Environment;
  readonly #inside: boolean;
  readonly #options: BindOptions;
  readonly #start: string;
  /** Undefined once the command has moved to another folder. */
  #cwd: string | undefined;
  /** True once a word of the shell may have changed which programs names stand for. */
  #changed = false;
  /** Programs of the system, in the order in which they run; those of a pipe run at the same moment. */
  readonly #ran: { name: string; replaceable: boolean }[] = [];
  #piped = false;
  /** Scripts that were looked into, each by what runs it: the same file may be started in several ways. */
  readonly #walked = new Set<string>();

  constructor(cwd: string, env: Environment, inside: boolean, options: BindOptions) {
    this.#start = cwd;
    this.#cwd = cwd;
    this.#env = env;
    this.#inside = inside;
    this.#options = options;
  }

  note(text: string): void {
    if (this.notes.length < MAX_NOTES && !this.notes.includes(text)) this.notes.push(text);
  }

  async line(parts: readonly Part[]): Promise<void> {
    for (const [part, { argv, operator }] of parts.entries()) {
      this.#piped ||= operator === '|';
      await this.#simple(argv, { part, offset: 0 }, 0);
    }
    this.#noteReplaced();
  }

  /** Words without certainty: nothing is rewritten. */
  async loosely(commands: readonly (readonly string[])[]): Promise<void> {
    for (const argv of commands) await this.#simple(argv, undefined, 0);
  }

  async #simple(argv: readonly string[], place: Place, nesting: number): Promise<void> {
    const [word = '', ...rest] = argv;
    const next = (by: number): Place => place && { ...place, offset: place.offset + by };
    if (word === 'time') return this.#simple(rest, next(1), nesting);
    if (isHarmless(word, rest)) return;
    if (CHANGING.has(word) || SHELL_WORDS.has(word)) {
      this.#changed = true;
      return this.note(`${word} can change what later words run: which programs those are can't be told`);
    }
    if (MOVES.has(word)) {
      this.#cwd = undefined;
      return this.note(`${word} changes the folder: what relative paths name after it can't be told`);
    }
    if (SOURCES.has(word)) return this.#script(rest, next(1), 'bash', nesting);
    const name = baseName(word);
    const found = this.#program(word);
    const program = found?.path;
    const own = program !== undefined && this.#isOwn(program);
    if (program === undefined) this.note(`no program ${JSON.stringify(word.slice(0, 80))} was found`);
    else if (own) await this.#bind(program, place, undefined, nesting);
    else if (!this.#changed && !this.executables.some((one) => one.name === word))
      this.executables.push({ name: word, path: program });
    const known = found !== undefined && this.#isSystems(word, found);
    if (known && runsItsWords([name, ...rest])) return;
    if (RUNNERS.test(name)) {
      if (!known && !own) this.#more(name);
      return this.#script(rest, next(1), name, nesting);
    }
    if (INTERPRETERS.has(name)) return this.note(`${name} runs what its words and the project's own files say`);
    if (WRAPPERS.has(name)) return this.#wrapped(name, rest, next, nesting);
    if (program !== undefined && !own) this.#more(name);
  }

  #more(name: string): void {
    this.note(`${name.slice(0, 80)} may run more than its words say`);
  }

  /** Whether the word stands for a program of the system, by a name of the system's, which is then on record as one that runs. */
  #isSystems(word: string, { at, path }: Program): boolean {
    if (!isSystemProgram(at) || !isSystemProgram(path)) return false;
    this.#ran.push({ name: baseName(word), replaceable: this.#isReplaceable(word, path) });
    return true;
  }

  /** Whether whoever runs the command can have the word stand for another program: in the place of this one, or where it is looked for before. */
  #isReplaceable(word: string, program: string): boolean {
    const searched = word.includes('/') ? [] : (this.#env['PATH'] ?? '').split(':');
    const found = searched.findIndex((folder) => isExecutable(`${folder}/${word}`));
    const places = [...searched.slice(0, found + 1), ...(word.includes('/') ? [dirname(word)] : [])];
    return [...places, dirname(program), program].some((path) => this.#isWritable(path));
  }

  #isWritable(path: string): boolean {
    if (this.#inside) return !this.#isSystemInside(path);
    const { root } = this.#options;
    return !path.startsWith('/') || path.startsWith(`${root}/`) || canWrite(path);
  }

  #noteReplaced(): void {
    for (const [index, { name, replaceable }] of this.#ran.entries()) {
      const others = this.#ran.filter((_, at) => at < index || (this.#piped && at !== index));
      const by = others.find((other) => REPLACERS.has(other.name));
      if (replaceable && by) this.note(`${by.name} may put another program in the place of ${name}`);
    }
  }

  async #wrapped(name: string, rest: readonly string[], next: (by: number) => Place, nesting: number): Promise<void> {
    this.note(`${name} runs other programs, in its own way`);
    const begin = PREFIXES.get(name);
    const first = begin === undefined ? undefined : rest[begin];
    const certain =
      begin !== undefined && first !== undefined && !rest.slice(0, begin + 1).some((word) => /^-|=/.test(word));
    if (certain) return this.#simple(rest.slice(begin), next(begin + 1), nesting);
    // Which word is the command is a guess: files are looked at, and nothing is rewritten.
    const inner = rest.findIndex(
      (word) => RUNNERS.test(baseName(word)) || WRAPPERS.has(baseName(word)) || this.#file(word) !== undefined,
    );
    if (inner >= 0) await this.#simple(rest.slice(inner), undefined, nesting);
  }

  /** What an interpreter is given to run. */
  async #script(words: readonly string[], place: Place, interpreter: string, nesting: number): Promise<void> {
    const at = words.findIndex((word) => this.#file(word) !== undefined);
    const word = words[at];
    const path = word === undefined ? undefined : this.#file(word);
    if (word === undefined || path === undefined) {
      return this.note(`${interpreter} runs what its words and the project's own files say`);
    }
    const harmless = SHELLS.has(interpreter) && words.slice(0, at).every((option) => /^-[euxv]+$/.test(option));
    if (!harmless && at > 0)
      this.note(`${interpreter} has options before its script (${words.slice(0, at).join(' ').slice(0, 80)})`);
    const certain = !words.slice(0, at).some((option) => TEXT_OPTION.test(option));
    await this.#bind(
      path,
      certain && place ? { ...place, offset: place.offset + at } : undefined,
      interpreter,
      nesting,
    );
  }

  /** Takes a file of the workspace in: hashed always, run from a copy where the line can be rewritten. */
  async #bind(path: string, place: Place, interpreter: string | undefined, nesting: number): Promise<void> {
    const shown = path.slice(this.#options.root.length + 1);
    const script = this.scripts.get(path) ?? (await this.#read(path, shown));
    if (!script) return;
    this.scripts.set(path, script);
    if (place) this.sealable.push({ part: place.part, word: place.offset, script });
    else this.note(`${shown} runs from the workspace itself, not from a sealed copy`);
    const way = `${interpreter ?? ''}:${path}`;
    if (this.#walked.has(way)) return;
    this.#walked.add(way);
    const runner = interpreter ?? this.#runnerOf(script, shown);
    if (runner === undefined) return this.#more(shown);
    if (!SHELLS.has(runner)) return this.note(`what ${runner} loads besides ${shown} is not bound`);
    await this.#within(script, shown, nesting);
  }

  /** By what the system runs a script that is started; undefined for a program. */
  #runnerOf({ bytes }: ScriptFile, shown: string): string | undefined {
    const runner = shebangOf(bytes);
    if (runner === undefined || !SHELLS.has(runner.name) || runner.line === '') return runner?.name;
    const [, byName, byPath] = SHEBANG.exec(runner.line) ?? [];
    const word = byName ?? byPath ?? '';
    const shell = this.#program(word);
    if (!shell || !this.#isSystems(word, shell))
      this.note(`${shown} is started by ${runner.line.slice(0, 80)}, which may run more`);
    return runner.name;
  }

  /** What a shell script runs in turn, where it is as simple as a plain command. */
  async #within({ bytes }: ScriptFile, shown: string, nesting: number): Promise<void> {
    const lines = new TextDecoder()
      .decode(bytes)
      .split('\n')
      .filter((one) => !/^[ \t]*(#.*)?$|^[ \t]*set -[euxo]+( pipefail)?[ \t]*$/.test(one));
    if (lines.length === 0) return;
    // Only between lines that are whole is such a line one: it may stand in quotes, or belong to the line before it. Blanks are the shell's.
    const read = lines.map((one) => plainLine(one, DEFAULT_SHELL));
    const line = read.find((one) => !one.plain) ?? plainLine(lines.join('\n'), DEFAULT_SHELL);
    if (!line.plain) return this.note(`${shown} does more than can be told (${line.why})`);
    if (nesting >= MAX_NESTING) return this.note(`${shown} runs scripts of scripts`);
    for (const { argv, operator } of line.parts) {
      this.#piped ||= operator === '|';
      await this.#simple(argv, undefined, nesting + 1);
    }
    // A script that was started has a folder of its own; one that was sourced moves the line's.
    this.#cwd = this.#cwd === undefined ? undefined : this.#start;
  }

  async #read(path: string, shown: string): Promise<ScriptFile | undefined> {
    const { root, protection, signal } = this.#options;
    if (this.scripts.size >= MAX_SCRIPTS) return void this.note(`there are more than ${MAX_SCRIPTS} scripts`);
    try {
      const stats = statSync(path);
      if (stats.size > MAX_SCRIPT_BYTES) return void this.note(`${shown} is larger than ${MAX_SCRIPT_BYTES} bytes`);
      const { bytes } = await openReader({ root, protection, signal }).read(path);
      const hash = createHash('sha256').update(bytes).digest('hex');
      return { path, sha256: hash, bytes, executable: (stats.mode & 0o111) !== 0 };
    } catch {
      return void this.note(`${shown} could not be read`);
    }
  }

  /** Canonical path of a regular file of the workspace that a word names; undefined for any other word. */
  #file(word: string): string | undefined {
    if (word === '' || word.startsWith('-') || word.startsWith('~')) return undefined;
    const path = this.#resolved(word);
    return path !== undefined && this.#isOwn(path) && isFile(path) ? path : undefined;
  }

  #program(word: string): Program | undefined {
    if (word.includes('/')) {
      const path = this.#resolved(word);
      return path !== undefined && isFile(path) ? { at: resolve(this.#cwd ?? '/', word), path } : undefined;
    }
    for (const folder of (this.#env['PATH'] ?? '').split(':')) {
      if (!folder.startsWith('/')) this.note('PATH has a folder that is relative to where the command runs');
      const path = folder.startsWith('/')
        ? `${folder}/${word}`
        : this.#resolved(folder === '' ? word : `${folder}/${word}`);
      if (path !== undefined && this.#isSeen(path) && isExecutable(path))
        return { at: resolve(path), path: canonicalPath(path, '/', true) };
    }
    return undefined;
  }

  #resolved(word: string): string | undefined {
    if (!word.startsWith('/') && this.#cwd === undefined) return undefined;
    try {
      return canonicalPath(word, this.#cwd ?? '/', true);
    } catch {
      return undefined;
    }
  }

  readonly #isOwn = (path: string): boolean => path.startsWith(`${this.#options.root}/`);

  /** The sandbox shows the system and the workspace, nothing else. */
  #isSeen(path: string): boolean {
    return !this.#inside || path.startsWith(`${this.#options.root}/`) || this.#isSystemInside(path);
  }

  #isSystemInside(path: string): boolean {
    const shown = ['/usr', '/bin', '/sbin', ...(this.#options.sandbox.readOnly ?? [])];
    return shown.some((folder) => path === folder || path.startsWith(`${folder}/`));
  }
}
