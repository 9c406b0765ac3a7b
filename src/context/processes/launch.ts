/** Starts one program, by the fork server where there is one, else from here. */
import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { isErrno } from '../../common/errno.ts';
import { type ForkAnswer, HIDDEN, type StdioItem } from './fork-server-messages.ts';
import { endForkServer, forkServer, hasForkServer } from './fork-server.ts';
import { takePipes } from './pipes.ts';

export interface Program {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** From descriptor 3 on. */
  extra?: readonly StdioItem[];
}

/** Leads a process group of its own. */
export interface Launched {
  pid: number;
  stdout: Readable;
  stderr: Readable;
  /** What the child has written to its `report` pipe so far. */
  report(): string;
  exit: Promise<[number | null, NodeJS.Signals | null]>;
  /** For when no `exit` comes: a fork server that keeps silent about an end is ended, so that `exit` comes. */
  checkStarter(): void;
  /** Lets go of the pipes. */
  close(): void;
}

/** False once the fork server could not open what it was to pass on. */
let passes = hasForkServer();

/** Throws the error of a failed start. Once `hung` aborts, a fork server that has not answered yet is ended and nothing is started any more. */
export async function launch(program: Program, hung?: AbortSignal): Promise<Launched> {
  hung?.addEventListener('abort', endForkServer, { once: true });
  try {
    return await start(program, hung);
  } finally {
    hung?.removeEventListener('abort', endForkServer);
  }
}

async function start(program: Program, hung: AbortSignal | undefined): Promise<Launched> {
  const pipes = passes ? await takePipes() : undefined;
  if (pipes === undefined) {
    hung?.throwIfAborted();
    return launchHere(program);
  }
  const { stdout, stderr } = pipes;
  const close = (): void => void (stdout.reader.destroy(), stderr.reader.destroy());
  try {
    hung?.throwIfAborted();
    const there = await launchThere(program, stdout.writeFd, stderr.writeFd);
    return { ...there, stdout: stdout.reader, stderr: stderr.reader, close };
  } catch (error) {
    close();
    if (!isErrno(error, HIDDEN)) throw error;
    passes = false;
    return await launchHere(program);
  } finally {
    closeSync(stdout.writeFd);
    closeSync(stderr.writeFd);
  }
}

async function launchThere(
  { extra = [], ...program }: Program,
  stdout: number,
  stderr: number,
): Promise<Omit<Launched, 'stdout' | 'stderr' | 'close'>> {
  const started = Promise.withResolvers<number>();
  const exit = Promise.withResolvers<[number | null, NodeJS.Signals | null]>();
  let report = '';
  const listener = (answer: ForkAnswer): void => {
    if ('pid' in answer) started.resolve(answer.pid);
    else if ('report' in answer) report += answer.report;
    else if ('exit' in answer) exit.resolve(answer.exit);
    else started.reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
    // With a fork server that is lost falls what it had started.
    if ('error' in answer) exit.resolve([null, 'SIGKILL']);
  };
  const out = (fd: number): StdioItem => ({ fd, flags: constants.O_WRONLY });
  const server = forkServer();
  server.start({ ...program, stdio: ['ignore', out(stdout), out(stderr), ...extra] }, listener);
  const pid = await started.promise;
  const checkStarter = (): void => (isOver(pid) ? server.end() : undefined);
  return { pid, report: () => report, exit: exit.promise, checkStarter };
}

/** A process of which nobody has taken note that it ended stays as a zombie. One that the kernel cannot end yet is no fault of who started it. */
function isOver(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat[stat.lastIndexOf(')') + 2] === 'Z';
  } catch {
    return true;
  }
}

/** Node's own pipes are sockets, which scripts notice (see pipes.ts). */
async function launchHere({ file, args, env, cwd, extra = [] }: Program): Promise<Launched> {
  const own = extra.map((item) => (typeof item === 'object' && 'fd' in item ? item.fd : 'pipe'));
  const child = spawn(file, args, {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...own] as StdioOptions,
    windowsHide: true,
  });
  let report = '';
  extra.forEach((item, i) => {
    const stream = child.stdio[i + 3];
    if (stream == null) return;
    stream.on('error', () => undefined);
    if (item === 'report') (stream as Readable).on('data', (chunk: Buffer) => (report += chunk.toString()));
    else if (typeof item === 'object' && 'data' in item) (stream as Writable).end(item.data);
  });
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  exit.catch(() => undefined);
  if (child.pid === undefined) await once(child, 'spawn');
  return {
    pid: child.pid as number,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    report: () => report,
    exit,
    checkStarter: () => undefined,
    close: () => child.stdio.forEach((stream) => stream?.destroy()),
  };
}
