/** The workspace inside the sandbox: bound by descriptor, with doors shut in it that a command must not use. */
import { closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { O_PATH, through, type Protection } from '../files/beneath.ts';
import { GIT_CONTROL } from '../files/protected.ts';
import type { Environment } from './environment.ts';
import { shutGitDoors } from './git-doors.ts';
import type { SandboxOptions } from './sandbox-status.ts';

export interface SandboxedCommand {
  /** Canonical workspace. */
  root: string;
  protection: Protection;
  /** Program and arguments inside. */
  argv: readonly string[];
  /** Canonical path inside the workspace. */
  cwd: string;
  env: Environment;
  /** False: the workspace is read-only too. */
  writable: boolean;
  /** Further files to show inside, by descriptor. */
  files?: readonly { path: string; inside: string }[];
}

/** Binds of the workspace and over it; the first descriptor given to the child is number 7. */
export class Binds {
  readonly args: string[] = [];
  readonly fds: number[] = [];
  readonly #held: number[] = [];
  readonly #bound = new Set<string>();
  readonly #command: SandboxedCommand;
  readonly #options: SandboxOptions;
  #doors: { release(): Promise<void> } | undefined;

  constructor(command: SandboxedCommand, options: SandboxOptions) {
    this.#command = command;
    this.#options = options;
  }

  workspace(workspace: { fd: number; path: string }): void {
    const { root, writable, files = [] } = this.#command;
    this.#bind(writable ? '--bind-fd' : '--ro-bind-fd', workspace.fd, root);
    if (writable) this.#protectGit(workspace);
    for (const { path, inside } of files) this.#bind('--ro-bind-fd', this.#hold(path), inside);
    this.#hideProtected(workspace);
  }

  /** When the command has ended. */
  async release(): Promise<void> {
    try {
      await this.#doors?.release();
    } finally {
      for (const fd of this.#held.splice(0)) closeSync(fd);
    }
  }

  /**
   * A command must not plant a hook, or a configuration that names a program: the next git of a person would run it. `.git` is bound on itself, because a mount point cannot be
   * renamed away, and on it what git obeys, read-only. What is missing of that stands there in a harmless form meanwhile (see git-doors.ts). A repository that a command
   * makes anew, or one in a subfolder, is as trustworthy as any code that it wrote.
   */
  #protectGit(workspace: { fd: number; path: string }): void {
    const git = this.#holdChild(workspace, '.git');
    if (git === undefined) return;
    const path = `${workspace.path}/.git`;
    // A file names the folder of a worktree or submodule; that folder is elsewhere.
    if (!git.directory) return this.#bind('--ro-bind-fd', git.fd, path);
    this.#bind('--bind-fd', git.fd, path);
    const held = { fd: git.fd, path };
    this.#doors = shutGitDoors(held);
    for (const name of GIT_CONTROL) {
      const child = this.#holdChild(held, name);
      if (child !== undefined) this.#bind('--ro-bind-fd', child.fd, `${path}/${name}`);
    }
  }

  /** Ours is not there, wherever a bound folder would show it. */
  #hideProtected(workspace: { fd: number; path: string }): void {
    const shown = [workspace.path, '/usr', ...(this.#options.readOnly ?? [])];
    // Shorter first: what lies in a hidden folder is hidden with it. Folders before what they hold: a later mount covers an earlier one below it.
    const paths = this.#command.protection.paths
      .filter((path) => shown.some((folder) => path.startsWith(`${folder}/`)))
      .toSorted((a, b) => a.length - b.length);
    for (const path of paths) this.#fixFolders(workspace, path);
    const hidden: string[] = [];
    for (const path of paths) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || hidden.some((folder) => path.startsWith(`${folder}/`))) continue;
      if (stats.isDirectory()) {
        this.args.push('--perms', '0000', '--tmpfs', path, '--remount-ro', path);
        hidden.push(path);
      } else this.args.push('--ro-bind', '/dev/null', path);
    }
  }

  /** The folders between the workspace and a path of ours become mount points, so that no command can put others in their place. */
  #fixFolders(workspace: { fd: number; path: string }, path: string): void {
    if (!this.#command.writable || !path.startsWith(`${workspace.path}/`)) return;
    let folder = workspace;
    for (const name of path
      .slice(workspace.path.length + 1)
      .split('/')
      .slice(0, -1)) {
      const child = this.#holdChild(folder, name);
      if (child?.directory !== true) return;
      folder = { fd: child.fd, path: `${folder.path}/${name}` };
      if (!this.#bound.has(folder.path)) this.#bind('--bind-fd', folder.fd, folder.path);
    }
  }

  #bind(option: '--bind-fd' | '--ro-bind-fd', fd: number, path: string): void {
    this.fds.push(fd);
    this.#bound.add(path);
    this.args.push(option, String(this.fds.length + 6), path);
  }

  #hold(path: string): number {
    const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
    this.#held.push(fd);
    return fd;
  }

  /** A file or folder, not a link; undefined when there is neither. */
  #holdChild(folder: { fd: number; path: string }, name: string): { fd: number; directory: boolean } | undefined {
    const stats = lstatSync(through(folder, name), { throwIfNoEntry: false });
    if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return undefined;
    const fd = this.#hold(through(folder, name));
    return { fd, directory: statSync(through({ fd })).isDirectory() };
  }
}
