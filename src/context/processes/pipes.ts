/**
 * Real pipes for a command's output. Node's own are sockets, on which `> /dev/stderr`, `tee /dev/stdout` and their like fail (ENXIO); scripts are full of them.
 * Node has no pipe(2), so a FIFO is made, opened at both ends and unlinked.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

export interface OutputPipe {
  reader: Readable;
  /** For the child; to be closed here once the child has it. */
  writeFd: number;
}

const execute = promisify(execFile);

/** Undefined where FIFOs cannot be made; Node's sockets do then. */
export async function openPipes(): Promise<{ stdout: OutputPipe; stderr: OutputPipe } | undefined> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), 'countersign-'));
    const names = [join(folder, 'stdout'), join(folder, 'stderr')] as const;
    await execute('mkfifo', ['-m', '600', ...names], { env: { PATH: '/usr/bin:/bin' } });
    return { stdout: openPipe(names[0]), stderr: openPipe(names[1]) };
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** The reading end first: it doesn't wait for a writer, and the writer then finds a reader. */
function openPipe(path: string): OutputPipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeFd = openSync(path, constants.O_WRONLY);
    return { reader: new Socket({ fd: readFd, readable: true, writable: false }), writeFd };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
