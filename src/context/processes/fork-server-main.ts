/**
 * A small process that starts commands for a large one. A start copies the page tables of who asks for it, and holds it up meanwhile: 2 ms here, tens of
 * milliseconds in a worker of several hundred MB. It knows nothing of sandboxes; it starts what it is told and says how that ended.
 *
 * It lives as long as its worker: when the channel closes, what it started is ended, and it ends itself.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type ForkAnswer, type ForkRequest, HIDDEN } from './fork-server-messages.ts';

/** Kept: a worker that dies leaves its place to another process. */
const worker = process.ppid;
const running = new Set<number>();

process.on('message', (request: ForkRequest) => start(request));
process.on('disconnect', () => {
  for (const leader of running) attempt(() => process.kill(-leader, 'SIGKILL'));
  process.exit();
});
// Whoever ends all of a service at once leaves it to the worker to end its commands in order.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

/** A worker that is gone is told of by `disconnect`. */
const answer = (message: ForkAnswer): void => void process.send?.(message, undefined, undefined, () => undefined);

function start({ id, file, args, env, cwd, stdio }: ForkRequest): void {
  const opened: number[] = [];
  try {
    const own = stdio.map((item) => {
      if (item === 'ignore') return 'ignore';
      if (item === 'report' || 'data' in item) return 'pipe';
      opened.push(openDescriptor(item));
      return opened.at(-1);
    });
    // A session and process group of its own: what is sent to the group reaches its children and not us.
    const child = spawn(file, args, { cwd, env, detached: true, stdio: own as StdioOptions });
    watch(id, child, stdio);
  } catch (error) {
    failed(id, error);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function openDescriptor({ fd, flags }: { fd: number; flags: number }): number {
  try {
    return openSync(`/proc/${worker}/fd/${fd}`, flags);
  } catch (error) {
    // A worker that has changed its user since it was started hides them, also from its own.
    throw Object.assign(new Error('the worker hides its descriptors', { cause: error }), { code: HIDDEN });
  }
}

function watch(id: number, child: ChildProcess, stdio: ForkRequest['stdio']): void {
  stdio.forEach((item, i) => {
    const stream = child.stdio[i];
    if (item === 'ignore' || stream == null) return;
    // A child that ends early breaks its pipes; its exit says why.
    stream.on('error', () => undefined);
    if (item === 'report') (stream as Readable).on('data', (chunk: Buffer) => answer({ id, report: chunk.toString() }));
    else if ('data' in item) (stream as Writable).end(item.data);
  });
  const { pid } = child;
  child.once('error', (error) => failed(id, error));
  if (pid === undefined) return;
  running.add(pid);
  answer({ id, pid });
  child.once('exit', (code, signal) => {
    running.delete(pid);
    answer({ id, exit: [code, signal] });
    for (const stream of child.stdio) stream?.destroy();
  });
}

function failed(id: number, error: unknown): void {
  const { message, code } = error as NodeJS.ErrnoException;
  answer({ id, error: { message, ...(code !== undefined && { code }) } });
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Already gone.
  }
}
