/**
 * What is made on the host for as long as commands run, because a sandbox can only mount on what is there.
 *
 * Taking a mount point away on the host also unmounts it in every sandbox. So what was made goes only with the last command that uses it, and only when
 * no process sees it mounted any more: neither one that the last command left and that is still dying, nor one of another worker. Else it stays until a later command ends.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../attempt.ts';

/** A sandbox that was killed is gone within milliseconds. */
const WAITS_MS = [0, 2, 5, 10, 25, 50, 100, 200, 400];

interface Point<Made> {
  /** Commands that run now. */
  users: number;
  made: Made;
}

/** Mount points, each by a key that is the same for all who use it. */
export class MountPoints<Made> {
  readonly #all = new Map<string, Point<Made>>();

  /** Whether a command uses it, or one did and it could not be taken away yet. */
  has(key: string): boolean {
    return this.#all.has(key);
  }

  /** One command more uses it. Gives what is on record of it, which is `made` where nothing was. */
  use(key: string, made: Made): Made {
    const point = this.#all.get(key) ?? { users: 0, made };
    this.#all.set(key, point);
    point.users += 1;
    return point.made;
  }

  /** For a command that then did not start: what was made stays until a later one ends. */
  leave(key: string): Point<Made> | undefined {
    const point = this.#all.get(key);
    if (point) point.users -= 1;
    return point;
  }

  /** For a command that has ended. `path` is where sandboxes mount on it. */
  async release(key: string, path: string, takeAway: (made: Made) => void): Promise<void> {
    const point = this.leave(key);
    if (!point) return;
    for (const ms of WAITS_MS) {
      await sleep(ms);
      // Another took it away meanwhile, and maybe it was made again.
      if (point.users > 0 || this.#all.get(key) !== point) return;
      if (isMountedSomewhere(path)) continue;
      this.#all.delete(key);
      return takeAway(point.made);
    }
  }
}

/** Whether a process that we may look at has something mounted there, in a mount namespace other than ours. */
function isMountedSomewhere(path: string): boolean {
  const point = ` ${path.replace(/[ \t\n\\]/g, (found) => `\\${found.charCodeAt(0).toString(8).padStart(3, '0')}`)} `;
  const seen = new Set([namespaceOf('self')]);
  return readdirSync('/proc').some((pid) => {
    const namespace = /^[0-9]+$/.test(pid) ? namespaceOf(pid) : undefined;
    if (namespace === undefined || seen.has(namespace)) return false;
    const mounts = attempt(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
    // Ended meanwhile; another process of the namespace may not have.
    if (mounts === undefined) return false;
    seen.add(namespace);
    return mounts.includes(point);
  });
}

const namespaceOf = (pid: string): string | undefined => attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
