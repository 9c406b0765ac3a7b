/**
 * Real pipes for a command's output. Node's own are sockets, on which `> /dev/stderr`, `tee /dev/stdout` and their like fail (ENXIO); scripts are full of them.
 * Node has no pipe(2), so FIFOs are made, opened at both ends and unlinked; several at once and ahead, for making them takes a process.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { forkServer, hasForkServer } from './fork-server.ts';

export interface OutputPipe {
  reader: Readable;
  /** For the child; to be closed here once the child has it. */
  writeFd: number;
}

export interface OutputPipes {
  stdout: OutputPipe;
  stderr: OutputPipe;
}

type Ends = { readFd: number; writeFd: number };

/** Pairs made at once. */
const BATCH = 8;
/** With fewer than this many left, more are made. */
const FEW = 3;

const ready: (readonly [Ends, Ends])[] = [];
let filling: Promise<void> | undefined;

/** Undefined where FIFOs cannot be made; Node's sockets do then. */
export async function takePipes(): Promise<OutputPipes | undefined> {
  try {
    while (ready.length === 0) await (filling ??= fill());
    const [stdout, stderr] = ready.pop() as readonly [Ends, Ends];
    if (ready.length < FEW) (filling ??= fill()).catch(() => undefined);
    return { stdout: asPipe(stdout), stderr: asPipe(stderr) };
  } catch {
    return undefined;
  }
}

/** Made ahead, so that the first command does not wait for it. */
export async function preparePipes(): Promise<void> {
  if (hasForkServer() && ready.length === 0) await (filling ??= fill()).catch(() => undefined);
}

async function fill(): Promise<void> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-'));
    try {
      const names = Array.from({ length: 2 * BATCH }, (_, i) => join(folder, String(i)));
      await makeFifos(names);
      for (let i = 0; i < names.length; i += 2)
        ready.push([openEnds(names[i] as string), openEnds(names[i + 1] as string)]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    filling = undefined;
  }
}

function makeFifos(names: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['-m', '600', ...names];
    const program = { file: 'mkfifo', args, env: { PATH: '/usr/bin:/bin' }, cwd: '/' };
    forkServer().start({ ...program, stdio: ['ignore', 'ignore', 'ignore'] }, (answer) => {
      if ('error' in answer) reject(new Error(answer.error.message));
      if ('exit' in answer) answer.exit[0] === 0 ? resolve() : reject(new Error('mkfifo failed'));
    });
  });
}

/** The reading end first: it doesn't wait for a writer, and the writer then finds a reader. */
function openEnds(path: string): Ends {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}

const asPipe = ({ readFd, writeFd }: Ends): OutputPipe => ({
  reader: new Socket({ fd: readFd, readable: true, writable: false }),
  writeFd,
});
