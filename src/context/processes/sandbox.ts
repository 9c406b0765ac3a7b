/**
 * The sandbox of commands: bubblewrap. Inside there is the workspace, writable, at its own path; the system's programs, read-only; fresh /tmp, /proc and
 * /dev; and nothing else. No network, no capability, no host process, none of our state.
 *
 * What is bound from the workspace is bound by descriptor (--bind-fd), held by beneath.ts: a link that another command of the same workspace puts in the way changes nothing.
 * Arguments travel through a pipe, so that the environment's values are not in the machine's process list.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, readlinkSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { CountersignError } from '../../protocol/errors.ts';
import { through, withPlace, type Protection } from '../files/beneath.ts';
import { sandboxEnvironment, type Environment } from './environment.ts';
import { GIT_CONTROL } from '../files/protected.ts';
import type { ProcessPlan } from './run-process.ts';

export interface SandboxOptions {
  /** The bubblewrap program; found in /usr/bin or /usr/local/bin unless given. */
  bubblewrap?: string;
  /** Absolute paths of further folders that commands may read (a Node or Rust toolchain outside of /usr). A `bin` folder in one is put on PATH. */
  readOnly?: readonly string[];
  /** Processes that one command may have; 1,024 unless said otherwise. The kernel doesn't apply it to a worker that runs as root. */
  maxProcesses?: number;
}

export type SandboxStatus = { available: true; version: string } | { available: false; reason: string; hint: string };

/** Linux's; Node has no name for it. */
const O_PATH = 0o10_000_000;

const statuses = new Map<string, Promise<SandboxStatus>>();

/** Whether commands can be sandboxed here, found out by really doing it; asked once per program. */
export function sandboxStatus({ bubblewrap = findBubblewrap() }: SandboxOptions = {}): Promise<SandboxStatus> {
  const key = bubblewrap ?? '';
  let status = statuses.get(key);
  if (status === undefined) {
    status = tryBubblewrap(bubblewrap);
    statuses.set(key, status);
  }
  return status;
}

/** Forgets what was found, for a program that was just installed. */
export const forgetSandboxStatus = (): void => statuses.clear();

const findBubblewrap = (): string | undefined =>
  ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].find((path) => existsSync(path));

async function tryBubblewrap(program: string | undefined): Promise<SandboxStatus> {
  if (process.platform !== 'linux')
    return {
      available: false,
      reason: 'bubblewrap needs Linux',
      hint: 'run the worker on Linux, or in a Linux container',
    };
  if (program === undefined)
    return {
      available: false,
      reason: 'bubblewrap is not installed',
      hint: 'install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)',
    };
  const version = (await outputOf(program, ['--version'])).text.trim();
  // All that commands will use is used; /usr stands in for a workspace.
  const trial = [...isolation(), ...system([]), '--ro-bind-fd', '3', '/workspace', '--', '/bin/sh', '-c', 'true'];
  const tried = await outputOf(program, trial);
  if (tried.code === 0) return { available: true, version };
  const reason = `bubblewrap does not work here: ${tried.text.trim() || 'it could not be started'}`;
  if (/unknown option/i.test(reason))
    return {
      available: false,
      reason,
      hint: `${version || 'it'} is too old; it needs 0.10, or your distribution's security update of an older one`,
    };
  return {
    available: false,
    reason,
    hint: 'user namespaces must be allowed: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu 24.04 an AppArmor profile for bwrap, in Docker --security-opt seccomp=unconfined or --cap-add SYS_ADMIN',
  };
}

async function outputOf(program: string, args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const folder = openSync('/usr', O_PATH);
  try {
    const child = spawn(program, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe', folder], timeout: 5_000 });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text: text.slice(0, 1_000) };
  } catch (error) {
    return { code: null, text: error instanceof Error ? error.message : '' };
  } finally {
    closeSync(folder);
  }
}

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

/** Gives `use` the plan of a sandboxed process; descriptors that it names stay open until `use` is done. */
export async function withSandbox<T>(
  command: SandboxedCommand,
  options: SandboxOptions,
  use: (plan: Omit<ProcessPlan, 'end'>) => Promise<T>,
): Promise<T> {
  const status = await sandboxStatus(options);
  const program = options.bubblewrap ?? findBubblewrap();
  if (!status.available || program === undefined) {
    const { reason, hint } = status.available ? { reason: 'bubblewrap is gone', hint: 'install it again' } : status;
    throw new CountersignError('sandbox_unavailable', `${reason}; ${hint}`);
  }
  return withPlace(
    '.',
    { root: command.root, protection: command.protection, followLast: true },
    async ({ parent }) => {
      const binds = new Binds(command, options);
      try {
        binds.workspace(parent);
        const paths = options.readOnly ?? [];
        const args = [
          ...isolation(),
          ...system(paths),
          '--ro-bind-data',
          '5',
          '/etc/passwd',
          '--ro-bind-data',
          '6',
          '/etc/group',
          ...binds.args,
          ...Object.entries({ ...sandboxEnvironment(searchPath(paths)), ...command.env }).flatMap(([name, value]) => [
            '--setenv',
            name,
            value,
          ]),
          '--chdir',
          command.cwd,
          '--remount-ro',
          '/',
          '--info-fd',
          '4',
        ];
        return await use({
          file: program,
          args: ['--args', '3', '--', ...limited(command.argv, options)],
          // bubblewrap's own environment can be read from inside at /proc/1/environ, and its loader obeys it outside.
          env: {},
          cwd: '/',
          extra: [`${args.join('\0')}\0`, 'report', PASSWD, GROUP, ...binds.fds],
        });
      } finally {
        binds.release();
      }
    },
  );
}

/** Everything is shut before anything is opened. */
const isolation = (): string[] => [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  // Run by root, bubblewrap would keep root's capabilities inside.
  '--uid',
  '1000',
  '--gid',
  '1000',
  '--cap-drop',
  'ALL',
  // No user namespace within: it would open parts of the kernel that nobody here needs.
  '--disable-userns',
  '--hostname',
  'sandbox',
  '--die-with-parent',
  '--new-session',
  '--clearenv',
];

const PASSWD =
  'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n';
const GROUP = 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n';

/** What programs need of /etc; no secrets, no accounts, no addresses of this machine. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'fonts',
  'java-17-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'login.defs',
  'magic',
  'magic.mime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
  'xml',
];

/** Folders of the system, read-only, and fresh ones. On most systems /bin and its like are links into /usr. */
function system(readOnly: readonly string[]): string[] {
  const args = ['--ro-bind', '/usr', '/usr', '--perms', '0755', '--dir', '/etc'];
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) args.push('--symlink', readlinkSync(folder), folder);
    else if (stats?.isDirectory()) args.push('--ro-bind', folder, folder);
  }
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  args.push(
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--perms',
    '1777',
    '--tmpfs',
    '/tmp',
    '--dir',
    '/run',
    '--dir',
    '/var',
    '--symlink',
    '../tmp',
    '/var/tmp',
  );
  for (const path of readOnly) args.push('--ro-bind-try', path, path);
  return args;
}

const searchPath = (readOnly: readonly string[]): string =>
  [
    ...readOnly.map((path) => `${path}/bin`).filter((path) => existsSync(path)),
    '/usr/local/sbin',
    '/usr/local/bin',
    '/usr/sbin',
    '/usr/bin',
    '/sbin',
    '/bin',
  ].join(':');

/** bash where there is one: it can close descriptors above 9. */
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/**
 * Before the command begins: descriptors that whoever started the worker left open are closed (bubblewrap passes them on), and the number of processes is limited
 * (dash names that limit -p, bash -u).
 */
const limited = (argv: readonly string[], { maxProcesses = 1_024 }: SandboxOptions): string[] => {
  const close =
    SHELL === '/bin/bash'
      ? 'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done'
      : ':';
  const limit = SHELL === '/bin/bash' ? '-u' : '-p';
  return [SHELL, '-c', `${close}; ulimit ${limit} ${maxProcesses} 2>/dev/null; exec "$@"`, 'sh', ...argv];
};

/** Binds of the workspace and over it; the first descriptor given to the child is number 7. */
class Binds {
  readonly args: string[] = [];
  readonly fds: number[] = [];
  readonly #held: number[] = [];
  readonly #bound = new Set<string>();
  readonly #command: SandboxedCommand;
  readonly #options: SandboxOptions;

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

  release(): void {
    for (const fd of this.#held.splice(0)) closeSync(fd);
  }

  /**
   * A command must not plant a hook, or a configuration that names a program: the next git of a person would run it. `.git` is bound on itself, because a mount point cannot be
   * renamed away, and on it what git obeys, read-only. Hooks that are missing are made as an empty folder, as git itself does. A repository that a command makes anew,
   * or one in a subfolder, is as trustworthy as any code that it wrote.
   */
  #protectGit(workspace: { fd: number; path: string }): void {
    const git = this.#holdChild(workspace, '.git');
    if (git === undefined) return;
    const path = `${workspace.path}/.git`;
    // A file names the folder of a worktree or submodule; that folder is elsewhere.
    if (!git.directory) return this.#bind('--ro-bind-fd', git.fd, path);
    this.#bind('--bind-fd', git.fd, path);
    const held = { fd: git.fd, path };
    if (this.#holdChild(held, 'hooks') === undefined) tryMakeFolder(through(held, 'hooks'));
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

function tryMakeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch {
    // Made by another call, or not ours to make; then it isn't ours to write either.
  }
}
