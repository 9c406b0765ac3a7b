/** Small questions about processes of this machine. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What tells a process from a later one that got the same id: its start time. Undefined when there is no such process
 * (a zombie counts as gone).
 */
export function processStart(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      // The second field is the program's name in parentheses and may hold anything, so count from the last one.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const line = (stdout ?? '').trim();
  return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

/** True while the very process that had this start time runs. */
export const isRunning = (pid: number, start: string): boolean => processStart(pid) === start;

/** Waits until a process is gone; false when it still runs after `ms`. */
export async function waitUntilGone(pid: number, start: string, ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; Date.now() < until; await sleep(20)) {
    if (!isRunning(pid, start)) return true;
  }
  return !isRunning(pid, start);
}

/** Full path of a program on PATH, or undefined. */
export function which(program: string, path: string = process.env['PATH'] ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
