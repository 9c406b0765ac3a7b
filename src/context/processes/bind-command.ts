/**
 * What a shell command would run, apart from its words: programs, folder, environment, and the content of scripts that it names.
 * Found out when a person is asked and again when it runs; both must be the same. What can't be told is said to be unbound.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { sha256 } from '../../approval/digest.ts';
import { DEFAULT_SHELL } from '../../policy/settings.ts';
import { baseName } from '../../policy/shell/forms.ts';
import { type Part, plainLine, rebuilt } from '../../policy/shell/plain.ts';
import { INTERPRETERS, WRAPPERS } from '../../policy/shell/programs.ts';
import type { ResolvedSubject } from '../../policy/types.ts';
import type { BoundCommand } from '../../protocol/approval.ts';
import type { Protection } from '../files/beneath.ts';
import { canonicalPath } from '../files/subjects.ts';
import { openReader } from '../files/workspace.ts';
import { type Environment, hostEnvironment, requestedEnvironment, sandboxEnvironment } from './environment.ts';
import { looseWords } from './loose-words.ts';
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

/** Words of the shell that run no program and change nothing of what stands after them, unless by an option (see {@link isHarmless}). */
const HARMLESS = names(
  'echo printf test [ true false : pwd exit return shift wait umask type jobs kill dirs ulimit times',
);
/** All its other words, apart from wrappers and those that move: they can change which program a later word names, or how it runs. */
const CHANGING = names(
  'alias unalias bg bind break caller compgen complete compopt continue declare typeset local readonly export unset set shopt disown enable fc fg getopts hash help history let logout mapfile readarray read suspend',
);

/** `printf -v` and `wait -p` set variables; `test -v` and `-R` run what stands in an index: `test -v 'a[$(x)]'`. */
function isHarmless(word: string, rest: readonly string[]): boolean {
  if (word === 'set') return rest.length > 0 && rest.every((one) => /^(-[eux]+o?|-o|pipefail)$/.test(one));
  if (!HARMLESS.has(word)) return false;
  if (word === 'printf') return rest[0] === '--' || rest[0]?.startsWith('-') !== true;
  if (word === 'wait') return !rest.some((one) => one.startsWith('-'));
  return !['test', '['].includes(word) || !rest.some((one) => one === '-v' || one === '-R');
}

const MOVES: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh']);
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
    for (const [part, { argv }] of parts.entries()) await this.#simple(argv, { part, offset: 0 }, 0);
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
    if (CHANGING.has(word) || HARMLESS.has(word)) {
      this.#changed = true;
      return this.note(`${word} can change what later words run: which programs those are can't be told`);
    }
    if (MOVES.has(word)) {
      this.#cwd = undefined;
      return this.note(`${word} changes the folder: what relative paths name after it can't be told`);
    }
    if (SOURCES.has(word)) return this.#script(rest, next(1), 'bash', nesting);
    const name = baseName(word);
    const program = this.#program(word);
    if (program === undefined) this.note(`no program ${JSON.stringify(word.slice(0, 80))} was found`);
    else if (this.#isOwn(program)) await this.#bind(program, place, undefined, nesting);
    else if (!this.#changed && !this.executables.some((one) => one.name === word))
      this.executables.push({ name: word, path: program });
    if (RUNNERS.test(name)) return this.#script(rest, next(1), name, nesting);
    if (INTERPRETERS.has(name)) return this.note(`${name} runs what its words and the project's own files say`);
    if (WRAPPERS.has(name)) await this.#wrapped(name, rest, next, nesting);
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
    const known = this.scripts.get(path);
    const script = known ?? (await this.#read(path, shown));
    if (!script) return;
    this.scripts.set(path, script);
    if (place) this.sealable.push({ part: place.part, word: place.offset, script });
    else this.note(`${shown} runs from the workspace itself, not from a sealed copy`);
    if (known) return;
    const runner = interpreter ?? shebangOf(script.bytes);
    if (runner === undefined) return;
    if (!SHELLS.has(runner)) return this.note(`what ${runner} loads besides ${shown} is not bound`);
    await this.#within(script, shown, nesting);
  }

  /** What a shell script runs in turn, where it is as simple as a plain command. */
  async #within({ bytes }: ScriptFile, shown: string, nesting: number): Promise<void> {
    const text = new TextDecoder()
      .decode(bytes)
      .split('\n')
      .filter((line) => !/^\s*(#.*)?$|^\s*set -[euxo]+( pipefail)?\s*$/.test(line))
      .join('\n');
    if (text === '') return;
    const line = plainLine(text, DEFAULT_SHELL);
    if (!line.plain) return this.note(`${shown} does more than can be told (${line.why})`);
    if (nesting >= MAX_NESTING) return this.note(`${shown} runs scripts of scripts`);
    for (const { argv } of line.parts) await this.#simple(argv, undefined, nesting + 1);
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

  #program(word: string): string | undefined {
    if (word.includes('/')) {
      const path = this.#resolved(word);
      return path !== undefined && isFile(path) ? path : undefined;
    }
    for (const folder of (this.#env['PATH'] ?? '').split(':')) {
      if (!folder.startsWith('/')) this.note('PATH has a folder that is relative to where the command runs');
      const path = folder.startsWith('/')
        ? `${folder}/${word}`
        : this.#resolved(folder === '' ? word : `${folder}/${word}`);
      if (path !== undefined && this.#isSeen(path) && isExecutable(path)) return canonicalPath(path, '/', true);
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
    const shown = ['/usr', '/bin', '/sbin', this.#options.root, ...(this.#options.sandbox.readOnly ?? [])];
    return !this.#inside || shown.some((folder) => path.startsWith(`${folder}/`));
  }
}

const isFile = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
};

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

/** The interpreter that a script's first line names; `sh` for text without one, undefined for a binary program. */
function shebangOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 256)).toString('latin1');
  const line = /^#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(head);
  if (line?.[1] === undefined) return head.includes('\0') ? undefined : 'sh';
  const name = baseName(line[1]);
  return name === 'env' ? baseName(line[2] ?? 'env') : name;
}
