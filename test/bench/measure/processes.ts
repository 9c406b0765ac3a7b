/** What processes of this machine take. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Resident memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1_024;
}

/** Ids of the processes whose command line holds the text, this program's own aside. */
export async function processesNamed(text: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(text) && !line.includes('ps -A'))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid);
}
