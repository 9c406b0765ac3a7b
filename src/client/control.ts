/** The emergency stop, from the client's side. */
import { userInfo } from 'node:os';
import { CONTROL_MEMO, CONTROL_MESSAGE, CONTROL_WORKFLOW_ID, type Halt } from '../protocol/control.ts';
import { type Transport, fromFailure, isGone, reach } from './transport.ts';
import { updateControl } from './update-control.ts';

export interface ControlOptions {
  reason: string;
  /** Who asks; the user's name on this machine unless said otherwise. Unverified. */
  by?: string;
}

export class Control {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Nothing new runs from now on (workers notice within a second); what runs goes on, what waits goes on waiting. */
  async halt(options: ControlOptions): Promise<Halt> {
    return (await this.#update(CONTROL_MESSAGE.halt, options)) as Halt;
  }

  /** Calls run again; held ones go on by themselves within half a minute. */
  async resume(options: ControlOptions): Promise<void> {
    await this.#update(CONTROL_MESSAGE.resume, options);
  }

  /** Who halted the service, when and why; undefined while calls run. */
  async halted(): Promise<Halt | undefined> {
    try {
      const { memo } = await reach(() => this.#transport.client.workflow.getHandle(CONTROL_WORKFLOW_ID).describe());
      return (memo?.[CONTROL_MEMO] as Halt | null | undefined) ?? undefined;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async #update(name: string, { reason, by = userInfo().username }: ControlOptions): Promise<Halt | null> {
    const { client, taskQueue } = this.#transport;
    try {
      return await updateControl<Halt | null>(client, taskQueue, name, { by, reason });
    } catch (error) {
      throw fromFailure(error);
    }
  }
}
