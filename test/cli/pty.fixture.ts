/** The command as a person has it: in a terminal. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { ROOT } from '../support/processes.ts';
import type { Place } from './cli.fixture.ts';

const MAIN = join(ROOT, 'src', 'cli', 'main.ts');

/** From util-linux, which every Debian has; it makes a pseudo-terminal. */
export const hasScript = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

// oxlint-disable no-control-regex
export interface Pty extends AsyncDisposable {
  type(keys: string): void;
  /** What stands on the screen, one line a row. */
  screen(): string;
  shows(text: string): Promise<void>;
  /** Everything that was written, as it came. */
  output(): string;
  /** Of the command. */
  pid(): number;
  /** Its exit status. */
  ended(): Promise<number>;
}

/** The command in a terminal of its own; `words` are of letters that a shell takes as they are. */
export function openTerminal({ workspace, env }: Place, words: string[], more: NodeJS.ProcessEnv = {}): Pty {
  const command = `sh -c 'echo pid=$$.; exec "$NODE" "$MAIN" ${words.join(' ')}'`;
  const child: ChildProcess = spawn(
    'script',
    ['-qfec', `stty rows 30 cols 100; ${command}; echo "status=$?."; NODE_OPTIONS= stty -a`, '/dev/null'],
    {
      cwd: workspace,
      env: {
        ...process.env,
        VISUAL: '',
        ...env,
        ...more,
        NODE: process.execPath,
        MAIN,
        TERM: 'xterm',
        SHELL: '/bin/sh',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  let written = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (written += chunk));
  child.stdin?.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const found = (pattern: RegExp): number => Number(pattern.exec(written)?.[1] ?? Number.NaN);
  return {
    type: (keys) => void child.stdin?.write(keys),
    screen: () => screenOf(written),
    output: () => written,
    pid: () => found(/pid=(\d+)\./),
    shows: async (text) =>
      void (await expect.poll(() => screenOf(written), { timeout: 20_000, interval: 50 }).toContain(text)),
    ended: async () => {
      await expect.poll(() => found(/status=(\d+)\./), { timeout: 20_000 }).not.toBeNaN();
      child.stdin?.end();
      await closed;
      return found(/status=(\d+)\./);
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      // `script` waits for what it runs; where a test failed, that still does.
      if (child.exitCode === null && !written.includes('status=')) process.kill(found(/pid=(\d+)\./), 'SIGKILL');
      await closed;
    },
  };
}

/** As a terminal would show it: the inbox places each row by its number, other commands print. */
function screenOf(written: string): string {
  if (!written.includes('\u001b[2J')) return stripVTControlCharacters(written).replaceAll('\r\n', '\n');
  const rows: string[] = [];
  const from = Math.max(0, written.lastIndexOf('\u001b[2J'));
  for (const part of written.slice(from).split(/(?=\u001b\[\d+;1H)/)) {
    const [, row, text = ''] = /^\u001b\[(\d+);1H([^]*)/.exec(part) ?? [];
    if (row !== undefined) rows[Number(row) - 1] = stripVTControlCharacters(text);
  }
  return Array.from(rows, (row) => row ?? '').join('\n');
}
