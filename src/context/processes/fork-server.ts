/** The worker's side of the process that starts commands; see fork-server-main.ts for why there is one. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ForkAnswer, ForkRequest } from './fork-server-messages.ts';

/** Only where a descriptor of another process can be opened. */
export const hasForkServer = (): boolean => process.platform === 'linux' && existsSync('/proc/self/fd');

let server: ForkServer | undefined;

/** The one of this process, started when first asked for and again when it was lost. */
export function forkServer(): ForkServer {
  if (server?.lost !== false) server = new ForkServer();
  return server;
}

/** Where it does not answer: what it had started falls with it, and the next command has a new one. */
export const endForkServer = (): void => server?.end();

export class ForkServer {
  lost = false;
  readonly #child: ChildProcess;
  readonly #listeners = new Map<number, (answer: ForkAnswer) => void>();
  #last = 0;

  constructor() {
    const main = new URL(
      import.meta.url.endsWith('.ts') ? 'fork-server-main.ts' : 'fork-server-main.js',
      import.meta.url,
    );
    // A group of its own: Ctrl-C at a terminal is for the worker, which ends its commands itself.
    const child = fork(fileURLToPath(main), [], {
      cwd: '/',
      env: {},
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.on('message', (answer: ForkAnswer) => this.#listeners.get(answer.id)?.(answer));
    child.on('error', () => this.#lose());
    child.on('exit', () => this.#lose());
    // Neither keeps this process up; a command that runs does.
    child.unref();
    child.channel?.unref();
  }

  /** Descriptors in `stdio` must stay open until there is an answer; `listener` hears of this command until it has ended. */
  start(request: Omit<ForkRequest, 'id'>, listener: (answer: ForkAnswer) => void): void {
    const id = ++this.#last;
    this.#listeners.set(id, (answer) => {
      if ('exit' in answer || 'error' in answer) this.#forget(id);
      listener(answer);
    });
    this.#child.channel?.ref();
    this.#child.send({ id, ...request }, (error) => {
      if (error) this.#listeners.get(id)?.({ id, error: { message: error.message } });
    });
  }

  /** By the one signal that also ends what is stopped. What it had started counts as lost at once: one that waits for a disk ends late. */
  end(): void {
    this.#child.kill('SIGKILL');
    this.#lose();
  }

  #forget(id: number): void {
    this.#listeners.delete(id);
    if (this.#listeners.size === 0) this.#child.channel?.unref();
  }

  /** With it fall the sandboxes that it started. */
  #lose(): void {
    this.lost = true;
    for (const [id, listener] of this.#listeners)
      listener({ id, error: { message: 'the process that starts commands was lost' } });
  }
}
