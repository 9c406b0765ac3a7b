/** The emergency stop, from the client's side. */
import { userInfo } from 'node:os';
import { type Signer, signResume } from '../approval/sign.ts';
import { CONTROL_MEMO, CONTROL_MESSAGE, CONTROL_WORKFLOW_ID, type Halt, isHalt } from '../protocol/control.ts';
import { type Transport, fromFailure, isGone, reach } from './transport.ts';
import { updateControl } from './update-control.ts';

export interface ControlOptions {
  reason: string;
  /** Who asks; the user's name on this machine unless said otherwise. Unverified. */
  by?: string;
}

export interface ResumeOptions extends ControlOptions {
  /** Signs, in its own name, the end of exactly the halt that holds now. */
  signer?: Signer;
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

  /**
   * Calls run again; held ones go on by themselves within half a minute. To resume a service that runs is harmless.
   * @throws CountersignError `bad_signature`, where the configuration asks for the signature of one who may resume
   */
  async resume({ signer, ...options }: ResumeOptions): Promise<void> {
    const halt = signer && (await this.halted());
    const { namespace } = this.#transport.client.options;
    await this.#update(
      CONTROL_MESSAGE.resume,
      halt ? await signResume({ halt, namespace, reason: options.reason }, signer) : options,
    );
  }

  /** Who halted the service, when and why, as the control workflow says; undefined while calls run. Workers may know better. */
  async halted(): Promise<Halt | undefined> {
    try {
      const { memo } = await reach(() => this.#transport.client.workflow.getHandle(CONTROL_WORKFLOW_ID).describe());
      return isHalt(memo?.[CONTROL_MEMO]) ? memo[CONTROL_MEMO] : undefined;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async #update(name: string, options: ControlOptions): Promise<Halt | null> {
    const { client, taskQueue } = this.#transport;
    try {
      return await updateControl<Halt | null>(client, taskQueue, name, { by: userInfo().username, ...options });
    } catch (error) {
      throw fromFailure(error);
    }
  }
}
