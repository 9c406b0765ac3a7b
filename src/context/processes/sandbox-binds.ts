/** The workspace inside the sandbox: bound by descriptor, with doors shut in it that a command must not use. */
import { closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { O_PATH, through, type Protection } from '../files/beneath.ts';
import { GIT_CONTROL } from '../../policy/protected.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { gitFolders, gitNamed } from '../files/git-folders.ts';
import { canonicalPath } from '../files/canonical.ts';
import { shutDoor } from './doors.ts';
import type { Environment } from './environment.ts';
import { shutGitDoors } from './git-doors.ts';
import type { SandboxOptions } from './sandbox-status.ts';
import type { Place } from './places.ts';

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
  /** Of a writable workspace, what stays read-only. */
  places?: readonly Place[];
  /** Further files to show inside, by descriptor. */
  files?: readonly { path: string; inside: string }[];
}

/** A folder, and its canonical path. */
type Held = { fd: number; path: string };

/** Binds of the workspace and over it; the first descriptor given to the child is number 7. */
export class Binds {
  readonly args: string[] = [];
  readonly fds: number[] = [];
  readonly #held: number[] = [];
  readonly #bound = new Set<string>();
  readonly #command: SandboxedCommand;
  readonly #options: SandboxOptions;
  readonly #doors: { release(): Promise<void> }[] = [];

  constructor(command: SandboxedCommand, options: SandboxOptions) {
    this.#command = command;
    this.#options = options;
  }

  workspace(workspace: Held): void {
    const { root, writable, files = [] } = this.#command;
    this.#bind(writable ? '--bind-fd' : '--ro-bind-fd', workspace.fd, root);
    if (writable) this.#protectGit(workspace);
    if (writable) this.#protectPlaces(workspace);
    for (const { path, inside } of files) this.#bind('--ro-bind-fd', this.#hold(path), inside);
    this.#hideProtected(workspace);
  }

  /** When the command has ended. */
  async release(): Promise<void> {
    try {
      await Promise.all(this.#doors.map((door) => door.release()));
    } finally {
      for (const fd of this.#held.splice(0)) closeSync(fd);
    }
  }

  /**
   * A command must not plant a hook, or a configuration that names a program: the next git of a person would run it. `.git`, or where it leads, is bound on itself, and on it
   * what git obeys, read-only. What is missing of that stands there in a harmless form meanwhile (see git-doors.ts). A repository that a command
   * makes anew, or one in a subfolder, is as trustworthy as any code that it wrote.
   */
  #protectGit(workspace: Held): void {
    const git = this.#holdChild(workspace, '.git');
    if (git?.directory === false) this.#bind('--ro-bind-fd', git.fd, `${workspace.path}/.git`);
    const folders = gitFolders(workspace.path);
    for (const path of folders) {
      const held = this.#mountPoint(workspace, path.slice(workspace.path.length + 1).split('/'));
      if (held === undefined) continue;
      this.#doors.push(shutGitDoors(held));
      for (const name of GIT_CONTROL) {
        const child = this.#holdChild(held, name);
        if (child !== undefined) this.#bind('--ro-bind-fd', child.fd, `${path}/${name}`);
      }
      this.#shutLinks(workspace, held);
    }
    for (const path of gitNamed(workspace.path, folders)) this.#shutPath(workspace, path);
  }

  /** Nothing can be mounted over a link, so where a person set one among what git obeys, nothing in that folder changes, nor what the link leads to. */
  #shutLinks(workspace: Held, git: Held): void {
    const links = GIT_CONTROL.filter((name) => isLink(git, name));
    if (links.length > 0) this.#bind('--ro-bind-fd', git.fd, git.path);
    for (const target of links.map((name) => canonicalPath(`${git.path}/${name}`, '/', true)))
      if (target.startsWith(`${workspace.path}/`) && !target.startsWith(`${git.path}/`))
        this.#shutPath(workspace, target);
  }

  #shutPath(workspace: Held, path: string): void {
    const names = path.slice(workspace.path.length + 1).split('/');
    const folder = this.#mountPoint(workspace, names.slice(0, -1));
    const child = folder && this.#holdChild(folder, names.at(-1) ?? '');
    if (child !== undefined) this.#bind('--ro-bind-fd', child.fd, path);
  }

  /** Each folder on a way down is bound on itself, because a mount point cannot be renamed away. Gives the last; where there is none, says so and gives none. */
  #mountPoint(
    workspace: Held,
    names: readonly string[],
    missing: (folder: Held, name: string) => void = () => undefined,
  ): Held | undefined {
    let folder = workspace;
    for (const name of names) {
      const child = this.#holdChild(folder, name);
      if (child?.directory !== true) return void missing(folder, name);
      folder = { fd: child.fd, path: `${folder.path}/${name}` };
      if (!this.#bound.has(folder.path)) this.#bind('--bind-fd', folder.fd, folder.path);
    }
    return folder;
  }

  /** What other programs run. A folder on the way is a mount point too, because such a one cannot be renamed away. */
  #protectPlaces(workspace: Held): void {
    const folders = new Map([[workspace.path, workspace]]);
    for (const { names, kind } of this.#command.places ?? []) {
      const above = folders.get([workspace.path, ...names.slice(0, -1)].join('/'));
      const path = [workspace.path, ...names].join('/');
      // Ours is hidden below.
      if (above === undefined || this.#command.protection.paths.includes(path)) continue;
      const child = this.#holdChild(above, names.at(-1) ?? '');
      if (child === undefined) continue;
      folders.set(path, { fd: child.fd, path });
      if (kind === 'protected') this.#bind('--ro-bind-fd', child.fd, path);
      else if (!this.#bound.has(path)) this.#bind('--bind-fd', child.fd, path);
    }
  }

  /** Ours is not there, wherever a bound folder would show it. */
  #hideProtected(workspace: Held): void {
    const shown = [workspace.path, '/usr', ...(this.#options.readOnly ?? [])];
    // Shorter first: what lies in a hidden folder is hidden with it. Folders before what they hold: a later mount covers an earlier one below it.
    const paths = this.#command.protection.paths
      .filter((path) => shown.some((folder) => path.startsWith(`${folder}/`)))
      .toSorted((a, b) => a.length - b.length);
    const shut = new Set(paths.filter((path) => this.#shut(workspace, path)));
    const hidden: string[] = [];
    for (const path of paths) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || hidden.some((folder) => path.startsWith(`${folder}/`))) continue;
      if (stats.isDirectory()) {
        // A door can be looked at, so that a copy of the tree does not fail on it.
        this.args.push('--perms', shut.has(path) ? '0555' : '0000', '--tmpfs', path, '--remount-ro', path);
        hidden.push(path);
      } else this.args.push('--ro-bind', '/dev/null', path);
    }
  }

  /**
   * The folders between the workspace and a path of ours become mount points, so that no command can put others in their place. True where a door was shut in the place
   * itself, because nothing stood there. Throws `protected_path` for a link that leads to ours: nothing can be mounted over it, so a command could replace it.
   */
  #shut(workspace: Held, path: string): boolean {
    if (!this.#command.writable || !path.startsWith(`${workspace.path}/`)) return false;
    const names = path.slice(workspace.path.length + 1).split('/');
    const folder = this.#mountPoint(workspace, names.slice(0, -1), (at, name) => refuseLink(at, name, path));
    if (folder === undefined) return false;
    const last = names.at(-1) ?? '';
    refuseLink(folder, last, path);
    const door = shutDoor(path, through(folder, last));
    if (door === undefined) return false;
    this.#doors.push(door);
    return true;
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
  #holdChild(folder: Held, name: string): { fd: number; directory: boolean } | undefined {
    const stats = lstatSync(through(folder, name), { throwIfNoEntry: false });
    if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return undefined;
    const fd = this.#hold(through(folder, name));
    return { fd, directory: statSync(through({ fd })).isDirectory() };
  }
}

const isLink = (folder: Held, name: string): boolean =>
  lstatSync(through(folder, name), { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** A link on the way to no file of ours is let be: what is planted behind it is taken away (see planted.ts), and what holds a folder of ours is no workspace. */
function refuseLink(folder: Held, name: string, path: string): void {
  const onTheWay = path !== `${folder.path}/${name}`;
  if (!isLink(folder, name) || (onTheWay && statSync(path, { throwIfNoEntry: false })?.isFile() !== true)) return;
  throw new CountersignError(
    'protected_path',
    `${folder.path}/${name} is a link to Countersign's own configuration, and a command could replace it; put the file itself there, or start the service with --config and a file outside of the workspace`,
  );
}
