/**
 * Knows within half a second whether the service is halted, without asking for each call. A halt is believed from anybody; that it is
 * over, only from whom the configuration lets resume.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { verifyResume } from '../approval/resume.ts';
import { CLOCK_SKEW_MS } from '../approval/verify.ts';
import { described } from '../client/listed.ts';
import type { Config } from '../config/index.ts';
import { forgetHalt, readHalt, recordHalt } from '../context/index.ts';
import { CONTROL_MEMO, CONTROL_WORKFLOW_ID, type Halt, RESUME_MEMO, isHalt, isResume } from '../protocol/control.ts';

const EVERY_MS = 500;

export interface HaltWatch extends Disposable {
  /** Who halted the service and why, or undefined while calls run. */
  halted(): Halt | undefined;
}

export interface HaltWatchOptions {
  client: Client;
  settings(): { config: Config };
  stateDir: string;
  log: Logger;
}

type Memo = Record<string, unknown>;

/** Resolves after the first look, so that a halt of before the start holds. Keeps what it knows while the server is away. */
export async function watchHalt(options: HaltWatchOptions): Promise<HaltWatch> {
  const { client, stateDir, log } = options;
  let known = await readHalt(stateDir);
  let looking = false;
  let warned: string | undefined;

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const memo = await controlMemo(client);
      const { halt, refused } = await standing(options, memo);
      if (refused !== undefined && refused !== warned)
        log.warn(
          { halt, reason: refused },
          'a resume was not believed; the service stays halted until an approver halts and resumes it',
        );
      [known, warned] = [halt, refused];
    } catch (error) {
      log.debug({ err: error }, 'nobody says whether the service is halted');
    } finally {
      looking = false;
    }
  };

  await look();
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return { halted: () => known, [Symbol.dispose]: () => clearInterval(timer) };
}

async function controlMemo(client: Client): Promise<Memo> {
  return (await described(client, CONTROL_WORKFLOW_ID))?.memo ?? {};
}

/** The halt that holds; `refused` says why one holds that the memo says is over. */
async function standing(
  { client, settings, stateDir }: HaltWatchOptions,
  memo: Memo,
): Promise<{ halt?: Halt; refused?: string }> {
  const [told, resume, recorded] = [memo[CONTROL_MEMO], memo[RESUME_MEMO], await readHalt(stateDir)];
  const now = Date.now();
  if (isHalt(told) && told.at <= now + CLOCK_SKEW_MS) {
    // A later one takes its place, so that there is a way out. An earlier one does not: its resume may be known already.
    if (recorded !== undefined && told.at <= recorded.at) return { halt: recorded };
    await recordHalt(stateDir, told);
    return { halt: told };
  }
  if (!recorded) return {};
  const { approvals } = settings().config;
  const by = isResume(resume) ? resume : { by: 'nobody', reason: '' };
  const { namespace } = client.options;
  const checked = verifyResume(by, { halt: recorded, namespace }, approvals, now);
  if (!checked.ok) return { halt: recorded, refused: checked.reason };
  await forgetHalt(stateDir);
  return {};
}
