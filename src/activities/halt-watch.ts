/** Knows within half a second whether the service is halted, without asking for each call. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { CONTROL_MEMO, CONTROL_WORKFLOW_ID, type Halt } from '../protocol/control.ts';

const EVERY_MS = 500;

export interface HaltWatch extends Disposable {
  /** Who halted the service and why, or undefined while calls run. */
  halted(): Halt | undefined;
}

/** Resolves after the first look, so that a halt of before the start holds. Keeps what it knows while the server is away. */
export async function watchHalt(client: Client): Promise<HaltWatch> {
  let known: Halt | undefined;
  let looking = false;

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const { memo } = await client.workflow.getHandle(CONTROL_WORKFLOW_ID).describe();
      known = (memo?.[CONTROL_MEMO] as Halt | null | undefined) ?? undefined;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) known = undefined;
    } finally {
      looking = false;
    }
  };

  await look();
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return { halted: () => known, [Symbol.dispose]: () => clearInterval(timer) };
}
