/** Commands: the `shell` handle, in the sandbox or on the host. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fromTop, type ProtectedPaths, protectedPaths } from '../../policy/protected.ts';
import { CountersignError } from '../../protocol/errors.ts';
import type { CommandLine, CommandResult, Processes } from '../../tools/tool-context.ts';
import { withPlace, type JudgedPaths, type Protection } from '../files/beneath.ts';
import { hostEnvironment, requestedEnvironment } from './environment.ts';
import { absentPaths, removePlanted } from './planted.ts';
import { runProcess, type StartedProcess } from './run-process.ts';
import { withSandbox } from './sandbox.ts';
import type { SandboxOptions } from './sandbox-status.ts';
import { madeSince, pathsOf, placesIn, shutIn, standingOf } from './places.ts';

export interface ProcessesOptions {
  root: string;
  protection: Protection;
  signal: AbortSignal;
  /** Where the call's paths led when it was judged. */
  judged?: JudgedPaths | undefined;
  /** Copies of approved scripts, to show in the sandbox. */
  sealed?: readonly { path: string; inside: string }[];
  /** What of the workspace commands in the sandbox may not change; what is built in, unless given. */
  guarded?: ProtectedPaths;
  /** Workspaces of the sessions above: what is guarded from there is guarded here. */
  above?: readonly string[];
}

/** What models write is bash more often than not. */
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/** In bubblewrap. Everything that a command started is gone when `run` returns, and when this process dies. */
export function sandboxProcesses(
  { root, protection, signal, judged, sealed = [], guarded, above = [] }: ProcessesOptions,
  options: SandboxOptions,
): Processes {
  return {
    async run({ command, cwd = '.', env, timeoutMs }) {
      const requested = requestedEnvironment(env);
      const folder = await workingFolderOf(cwd, root, protection, judged);
      const absent = absentPaths(root, protection);
      const relate = fromTop(guarded ?? protectedPaths(), root, above);
      const writable = relate([]) !== 'protected';
      const found = await placesIn(root, relate);
      const [places, before] = [shutIn(found), await standingOf(root, found)];
      const argv = [SHELL, '-c', command];
      const sandboxed = { root, protection, argv, cwd: folder, env: requested, writable, files: sealed, places };
      try {
        const result = await withSandbox(sandboxed, options, (plan) =>
          runProcess({ ...plan, end: endSandbox }, timeoutMs, signal),
        );
        // Told however many there are: the command has run, and nothing may say otherwise.
        const made = madeSince(before, await standingOf(root, await placesIn(root, relate)));
        return { ...result, readOnly: pathsOf(places), made };
      } finally {
        await removePlanted(root, absent);
      }
    },
  };
}

/** On the host, as this user. What leaves the process group and drops its environment cannot be found again; all else is ended. */
export function hostProcesses({ root, protection, signal, judged }: ProcessesOptions): Processes {
  return {
    run: async (line) =>
      runOnHost(line, { cwd: await workingFolderOf(line.cwd ?? '.', root, protection, judged), root }, signal),
  };
}

export async function runOnHost(
  { command, env, timeoutMs }: CommandLine,
  { cwd, root }: { cwd: string; root: string },
  signal: AbortSignal,
): Promise<CommandResult> {
  // Marks everything that the command starts, also what makes itself independent of it.
  const mark = `COUNTERSIGN_COMMAND=${randomBytes(12).toString('hex')}`;
  const [name = '', value = ''] = mark.split('=');
  const plan = {
    file: SHELL,
    args: ['-c', command],
    env: { ...hostEnvironment(root), ...requestedEnvironment(env), [name]: value },
    cwd,
  };
  return runProcess({ ...plan, end: ({ pid }, how) => endOnHost(pid, mark, how) }, timeoutMs, signal);
}

/** The folder must be in the workspace and there; links inside are resolved. */
export const workingFolderOf = (
  cwd: string,
  root: string,
  protection: Protection,
  judged: JudgedPaths | undefined,
): Promise<string> =>
  withPlace(cwd, { root, protection, followLast: true, judged }, ({ path, entry }) => {
    if (entry === undefined)
      throw new CountersignError('file_not_found', `the folder ${cwd} does not exist`, { field: '/cwd' });
    if (!entry.stats.isDirectory())
      throw new CountersignError('not_a_directory', `${cwd} is not a folder`, { field: '/cwd' });
    return path;
  });

/** The first process of the sandbox is the leader of its session: its group is asked, and with the outer process all of it falls. */
function endSandbox({ pid, report }: StartedProcess, how: 'SIGTERM' | 'SIGKILL'): void {
  const inner = /"child-pid": *([0-9]+)/.exec(report())?.[1];
  if (how === 'SIGTERM' && inner !== undefined) return sendToGroup(Number(inner), how);
  sendToGroup(pid, 'SIGKILL');
}

function endOnHost(pid: number, mark: string, how: 'SIGTERM' | 'SIGKILL'): void {
  sendToGroup(pid, how);
  if (process.platform !== 'linux') return;
  for (const marked of markedProcesses(mark)) send(marked, how);
}

function markedProcesses(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Ended meanwhile, or another user's.
    return '';
  }
}

const sendToGroup = (leader: number, signal: NodeJS.Signals): void => send(-leader, signal);

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Already gone.
  }
}
