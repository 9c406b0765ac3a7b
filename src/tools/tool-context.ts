/**
 * The handles through which tools touch the world. A handle that a session may not have is absent:
 * capability by construction, whatever any policy says. src/context builds them.
 */
import type { Json } from '../protocol/json.ts';
import type { Artifact } from '../protocol/outcome.ts';
import type { SessionFacts } from '../protocol/session.ts';

/** Reads inside the workspace. Paths are as the model wrote them: relative to the workspace, or absolute inside of it. */
export interface FileReader {
  /** At most 100 MB. Throws `outside_workspace`, `protected_path`, `file_not_found`, `not_a_file`, `file_too_large`. */
  read(path: string): Promise<{ bytes: Uint8Array; path: string }>;
  /** Throws `not_a_directory`, and what `read` throws. Entries are sorted by name. */
  list(path: string): Promise<{ path: string; entries: DirectoryEntry[] }>;
  /** Of what the path leads to; a symbolic link that leads nowhere is told as one. */
  stat(path: string): Promise<DirectoryEntry & { path: string }>;
}

export interface DirectoryEntry {
  name: string;
  kind: 'file' | 'directory' | 'symlink' | 'other';
  bytes: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
}

/** Changes inside the workspace. Writes are atomic: a reader sees the old content or the new. */
export interface FileWriter {
  /**
   * Creates missing parent folders. `ifHash` (sha256 hex of the present content) makes it throw `file_changed` where the
   * content differs, unless it already is what would be written. `hash` is that of the new content.
   */
  write(
    path: string,
    bytes: Uint8Array,
    options?: { ifHash?: string },
  ): Promise<{ path: string; created: boolean; hash: string }>;
  /**
   * Reads a file, changes it and puts the result in its place. A later try of the same call finds what an earlier one
   * left, applies nothing twice and gets the earlier note back. Throws `file_changed` where `ifHash` differs, or where someone
   * else changed the file after an earlier try whose end nobody knows.
   */
  update(
    path: string,
    change: (present: Uint8Array, mostBytes: number) => FileChange,
    options?: { ifHash?: string },
  ): Promise<FileUpdate>;
  /** A file, or a folder with `recursive`; of a symbolic link the link itself. */
  remove(path: string, options?: { recursive?: boolean }): Promise<{ path: string; entries: number }>;
}

export interface FileChange {
  bytes: Uint8Array;
  /** What the tool wants to say of the change; kept, so that a repeated try says the same. */
  note: Json;
}

export interface FileUpdate {
  path: string;
  /** sha256 (hex) of the content that is there now. */
  hash: string;
  note: Json;
}

/** Content search with ripgrep's semantics, inside the workspace. */
export interface Searcher {
  search(query: SearchQuery): Promise<SearchResult>;
}

export interface SearchQuery {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  /** Also names that begin with a dot. */
  hidden?: boolean;
  context?: number;
  maxMatches: number;
}

export interface SearchResult {
  matches: { path: string; line: number; text: string; before?: string[]; after?: string[] }[];
  /** True when there were more than `maxMatches`. */
  truncated: boolean;
}

/** Runs commands; each in a process group of its own that dies with the call. */
export interface Processes {
  run(command: CommandLine): Promise<CommandResult>;
}

export interface CommandLine {
  command: string;
  /** Inside the workspace; relative to it or absolute. */
  cwd?: string;
  env?: Record<string, string>;
  timeoutMs: number;
}

export interface CommandResult {
  /** null when ended by a signal. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  stdout: Uint8Array;
  stderr: Uint8Array;
  /** Both in the order in which they came: the whole when it is short, or else its first and last 32 KB. */
  interleaved: Uint8Array;
  /** True where output past the cap (100 MB) was dropped. */
  capped: boolean;
  /** Places of the workspace, from there, that other programs run and that were read-only for the command. */
  readOnly?: readonly string[];
  /** Such places that stand there now and did not before. */
  made?: readonly string[];
}

/** Output kept whole, by content hash. Readable from the session that made it and its ancestors only. */
export interface Artifacts {
  put(bytes: Uint8Array, about: { mediaType: string; name?: string }): Promise<Artifact>;
  /** Throws `artifact_not_found`, also for artifacts of sessions that may not be read from here. */
  get(hash: string): Promise<{ bytes: Uint8Array; mediaType: string; name?: string }>;
}

/** What an approved elevated call gets and no other: hands that reach past the workspace and the sandbox. */
export interface Elevated {
  /** An absolute path without symbolic links in it; never `/`, a home folder, our own configuration or state, or a parent of these. */
  remove(path: string, options?: { recursive?: boolean }): Promise<{ path: string; entries: number }>;
  /** Outside of the sandbox. */
  run(command: CommandLine): Promise<CommandResult>;
}

/** Every handle there is, by name. A tool names those that it cannot do without. */
export interface Handles {
  files: FileReader;
  writer: FileWriter;
  searcher: Searcher;
  shell: Processes;
  artifacts: Artifacts;
  elevated: Elevated;
}
export type HandleName = keyof Handles;

/** The same names for programs to go through. */
export const HANDLE_NAMES = [
  'files',
  'writer',
  'searcher',
  'shell',
  'artifacts',
  'elevated',
] as const satisfies readonly HandleName[];

export interface ToolContext extends Partial<Handles> {
  readonly session: SessionFacts;
  readonly callId: string;
  /** Aborted by cancellation, by the tool's time limit and by the worker's shutdown; a handle stops its work on it. */
  readonly signal: AbortSignal;
  /** Tells people how far the work is; kept to a few a second. */
  progress(text: string): void;
}

/** A context in which the handles that a tool needs are known to be there. */
export type ContextWith<Needs extends HandleName> = ToolContext & Pick<Handles, Needs>;
