/**
 * Resolution of a path beneath a root, one component at a time, each held by a descriptor of its own.
 *
 * No step follows a symbolic link in the kernel: every component is opened with O_NOFOLLOW relative to the descriptor of the folder
 * before it (through /proc/self/fd, which is openat), links are read and resolved here, and `..` goes back to a descriptor that is
 * already held. What was judged is therefore what is used, however the tree is changed meanwhile. It is the method of Go's os.Root.
 * It allows what openat2's RESOLVE_BENEATH refuses and people have: absolute links that stay inside.
 *
 * Elsewhere than on Linux there is no such door to openat in Node: components are then opened by name, which a process that
 * swaps folders at the right moment can beat, and paths with links in them are refused.
 */
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import { isErrno } from '../../common/errno.ts';

/** Opens for nothing but to hold: no device wakes, no FIFO blocks. Linux only; Node has no name for it. */
export const O_PATH = process.platform === 'linux' ? 0o10_000_000 : 0;
const HOLD = O_PATH | constants.O_NOFOLLOW | (constants.O_NONBLOCK ?? 0);
const HOLD_DIRECTORY = HOLD | constants.O_DIRECTORY;

/** Linux itself gives up after 40. */
const MAX_LINKS = 40;
const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;

/** Paths that no session may touch. `identities` are `dev:ino` of those that exist. */
export interface Protection {
  paths: readonly string[];
  identities: ReadonlySet<string>;
}

export const NOTHING_PROTECTED: Protection = { paths: [], identities: new Set() };

/** A folder that is held: what happens to its name no longer matters. */
interface Held {
  fd: number;
  /** Canonical absolute path at the time of opening; for messages, and for protected paths that do not exist yet. */
  path: string;
}

/** Where a path leads: a held folder and a name in it. `entry` is what stands there, undefined when there is nothing. */
export interface Place {
  parent: Held;
  /** '' when the place is the root itself; `entry` is then the root's. */
  name: string;
  /** Canonical absolute path. */
  path: string;
  entry: { fd: number; stats: Stats } | undefined;
}

/** By the path as it was given: the canonical one. */
export type JudgedPaths = ReadonlyMap<string, string>;

export interface Resolving {
  root: string;
  protection: Protection;
  /** Also resolve a link in the last place (reading, writing), or take the link itself (deleting). */
  followLast: boolean;
  /** Make missing folders on the way. */
  createParents?: boolean;
  /** A link anywhere on the way is an error. */
  refuseLinks?: boolean;
  /** Where paths led when policy judged them; one that leads elsewhere now is an error. */
  judged?: JudgedPaths | undefined;
}

/** Resolves, gives the place to `use`, and lets go of every descriptor when that is done. */
export async function withPlace<T>(path: string, how: Resolving, use: (place: Place) => Promise<T> | T): Promise<T> {
  const walk = new Walk(path, how);
  try {
    return await use(walk.resolve());
  } finally {
    walk.release();
  }
}

/** The name by which Node reaches something held, or a child of a held folder. */
export function through(held: { fd: number; path?: string }, name = ''): string {
  if (O_PATH !== 0) return name === '' ? `/proc/self/fd/${held.fd}` : `/proc/self/fd/${held.fd}/${name}`;
  return name === '' ? (held.path ?? '') : `${held.path === '/' ? '' : held.path}/${name}`;
}

export const identityOf = ({ dev, ino }: { dev: number; ino: number }): string => `${dev}:${ino}`;

/** Refuses what is no path on this system at all. */
export function checkPathForm(path: string): void {
  if (path === '') throw new CountersignError('invalid_arguments', 'the path is empty; "." is the workspace itself');
  if (path.includes('\0'))
    throw new CountersignError('invalid_arguments', 'the path holds a NUL character, which no file name can');
  if (!path.isWellFormed())
    throw new CountersignError('invalid_arguments', 'the path holds half of a surrogate pair, which is no character');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new CountersignError('invalid_arguments', `the path is longer than ${MAX_PATH_BYTES} bytes`);
  if (path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw new CountersignError('invalid_arguments', `the path holds a name longer than ${MAX_NAME_BYTES} bytes`);
  }
}

class Walk {
  readonly #asked: string;
  readonly #how: Resolving;
  /** From the root to where the walk stands. */
  readonly #stack: Held[] = [];
  readonly #fds: number[] = [];
  #links = 0;

  constructor(path: string, how: Resolving) {
    this.#asked = path;
    this.#how = how;
  }

  resolve(): Place {
    const place = this.#walk();
    const judged = this.#judged;
    if (judged !== undefined && judged !== place.path) throw this.#exchanged(judged, place.path);
    return place;
  }

  #walk(): Place {
    checkPathForm(this.#asked);
    this.#stack.push(this.#openRoot());
    this.#refuseProtected(this.#how.root, fstatSync(this.#top.fd));
    const names = this.#relativeNames(this.#asked);
    while (names.length > 0) {
      const name = names.shift() ?? '';
      if (name === '' || name === '.') continue;
      if (name === '..') {
        this.#up();
        continue;
      }
      // `x/` and `x/.` mean the folder x, so x is not the last name then.
      const last = names.length === 0;
      const place = this.#look(name);
      if (place.entry?.stats.isSymbolicLink() && (!last || this.#how.followLast)) {
        names.unshift(...this.#followed(place));
        continue;
      }
      if (last) return place;
      this.#enter(place);
    }
    return {
      parent: this.#top,
      name: '',
      path: this.#top.path,
      entry: { fd: this.#top.fd, stats: fstatSync(this.#top.fd) },
    };
  }

  release(): void {
    for (const fd of this.#fds.splice(0)) closeSync(fd);
  }

  get #judged(): string | undefined {
    return this.#how.judged?.get(this.#asked);
  }

  get #top(): Held {
    const top = this.#stack.at(-1);
    if (top === undefined) throw this.#outside();
    return top;
  }

  /** The root's own path is canonical: a link in it means that someone has put another folder in its place. */
  #openRoot(): Held {
    if (O_PATH !== 0 && !existsSync('/proc/self/fd')) {
      throw new CountersignError(
        'internal',
        '/proc is not mounted, and without it files cannot be opened safely; mount it',
      );
    }
    let held: Held = { fd: this.#open('/', HOLD_DIRECTORY), path: '/' };
    for (const name of this.#how.root.split('/').filter((part) => part !== '')) {
      try {
        held = { fd: this.#open(through(held, name), HOLD_DIRECTORY), path: join(held.path, name) };
      } catch (error) {
        throw new CountersignError(
          'file_not_found',
          `the workspace ${this.#how.root} is no longer there, or a link took its place; put it back, or open a session on another`,
          { cause: error },
        );
      }
    }
    return held;
  }

  /** Names from the root on. An absolute path inside the root is taken as relative to it, by its text; links in it show when walked. */
  #relativeNames(path: string): string[] {
    const { root } = this.#how;
    if (!path.startsWith('/')) return path.split('/');
    const prefix = root === '/' ? '/' : `${root}/`;
    const plain = path.replace(/\/{2,}/g, '/');
    if (plain === root) return [];
    if (!plain.startsWith(prefix)) throw this.#outside();
    return plain.slice(prefix.length).split('/');
  }

  #up(): void {
    const left = this.#stack.pop();
    if (left === undefined || this.#stack.length === 0) throw this.#outside();
  }

  /** What stands under this name in the folder reached so far. */
  #look(name: string): Place {
    const parent = this.#top;
    const path = join(parent.path, name);
    let fd: number;
    try {
      fd = this.#open(through(parent, name), HOLD);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw this.#failed(error, path);
      this.#refuseProtected(path, undefined);
      return { parent, name, path, entry: undefined };
    }
    const stats = fstatSync(fd);
    this.#refuseProtected(path, stats);
    return { parent, name, path, entry: { fd, stats } };
  }

  #enter({ parent, name, path, entry }: Place): void {
    if (entry === undefined) {
      if (this.#how.createParents !== true)
        throw new CountersignError('file_not_found', `${this.#shown(path)} does not exist`);
      // Not in a place that nobody judged: a link on the way has changed since.
      const judged = this.#judged;
      if (judged !== undefined && !judged.startsWith(`${path}/`)) throw this.#exchanged(judged, path);
      try {
        mkdirSync(through(parent, name));
      } catch (error) {
        if (!isErrno(error, 'EEXIST')) throw this.#failed(error, path);
      }
      // What stands there now may be a link that someone was quicker to make: it is looked at like any other.
      const made = this.#look(name);
      if (made.entry === undefined || !made.entry.stats.isDirectory()) throw this.#notADirectory(path);
      this.#stack.push({ fd: made.entry.fd, path });
      return;
    }
    if (!entry.stats.isDirectory()) throw this.#notADirectory(path);
    this.#stack.push({ fd: entry.fd, path });
  }

  /** The names that a link stands for. An absolute one begins at the root again, or is outside. */
  #followed({ parent, name, path }: Place): string[] {
    if (this.#how.refuseLinks === true)
      throw new CountersignError(
        'outside_workspace',
        `${path} is a symbolic link; give the path without links, as realpath prints it`,
      );
    this.#links += 1;
    if (this.#links > MAX_LINKS)
      throw new CountersignError(
        'file_not_found',
        `${this.#asked} goes through more than ${MAX_LINKS} symbolic links, perhaps in a circle`,
      );
    let target: string;
    try {
      target = readlinkSync(through(parent, name));
    } catch (error) {
      // Changed into something else since it was looked at: look again.
      if (isErrno(error, 'EINVAL', 'ENOENT')) return [name];
      throw this.#failed(error, path);
    }
    if (!target.startsWith('/')) return target.split('/');
    const names = this.#relativeNames(target);
    this.#stack.splice(1);
    return names;
  }

  #open(path: string, flags: number): number {
    const fd = openSync(path, flags);
    this.#fds.push(fd);
    return fd;
  }

  #refuseProtected(path: string, stats: Stats | undefined): void {
    const { paths, identities } = this.#how.protection;
    const named = paths.some((own) => path === own || path.startsWith(`${own}/`));
    if (!named && (stats === undefined || !identities.has(identityOf(stats)))) return;
    throw new CountersignError(
      'protected_path',
      `${this.#shown(path)} is part of Countersign's own configuration or state; no tool may touch it`,
    );
  }

  #shown(path: string): string {
    const { root } = this.#how;
    return root !== '/' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  }

  #exchanged(judged: string, now: string): CountersignError {
    return new CountersignError(
      'file_changed',
      `${this.#asked} led to ${this.#shown(judged)} when this call was judged and leads to ${this.#shown(now)} now; look again`,
    );
  }

  #outside(): CountersignError {
    return new CountersignError(
      'outside_workspace',
      `${this.#asked} leads outside of the workspace ${this.#how.root}; use a path inside of it`,
    );
  }

  #notADirectory(path: string): CountersignError {
    return new CountersignError('not_a_directory', `${this.#shown(path)} is not a folder`);
  }

  #failed(error: unknown, path: string): CountersignError {
    if (isErrno(error, 'ENOTDIR')) return this.#notADirectory(this.#top.path);
    if (isErrno(error, 'ELOOP'))
      return new CountersignError(
        'outside_workspace',
        `${this.#shown(path)} is a symbolic link, which only Linux can follow safely; use the real path`,
      );
    if (isErrno(error, 'EACCES', 'EPERM'))
      return new CountersignError('tool_failed', `this user may not open ${this.#shown(path)}`, { cause: error });
    return new CountersignError(
      'tool_failed',
      `${this.#shown(path)}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

const join = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`);
