/** One temporary folder for a run of the tests, so that nothing of theirs is left, also of those that were killed. */
import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'countersign-tests-';

/** Makes it, and takes it away at the end of this process; also those of processes that are gone. */
export function ownTemporaryFolder(): string {
  const base = realpathSync(tmpdir());
  for (const name of readdirSync(base)) {
    const pid = name.startsWith(NAME) ? Number(name.slice(NAME.length)) : process.pid;
    if (!isRunning(pid)) rmSync(join(base, name), { recursive: true, force: true });
  }
  const folder = join(base, `${NAME}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
