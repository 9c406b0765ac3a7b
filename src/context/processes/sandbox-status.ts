/** Whether this machine can sandbox commands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { O_PATH } from '../files/beneath.ts';
import { isolation, system } from './sandbox-layout.ts';

export interface SandboxOptions {
  /** The bubblewrap program; found in /usr/bin or /usr/local/bin unless given. */
  bubblewrap?: string;
  /** Absolute paths of further folders that commands may read (a Node or Rust toolchain outside of /usr). A `bin` folder in one is put on PATH. */
  readOnly?: readonly string[];
  /** Processes that one command may have; 1,024 unless said otherwise. The kernel doesn't apply it to a worker that runs as root. */
  maxProcesses?: number;
}

export type SandboxStatus = { available: true; version: string } | { available: false; reason: string; hint: string };

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

export const findBubblewrap = (): string | undefined =>
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
