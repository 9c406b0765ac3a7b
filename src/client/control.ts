/** The emergency stop, from the client's side. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Signer, signResume } from '../approval/sign.ts';
import {
  CONTROL_MEMO,
  CONTROL_MESSAGE,
  CONTROL_WORKFLOW_ID,
  type Halt,
  RESUME_MEMO,
  isHalt,
} from '../protocol/control.ts';
import { CountersignError, isCountersignError } from '../protocol/errors.ts';
import { hasGrpcStatus } from '../protocol/grpc.ts';
import { WORKFLOW } from '../protocol/names.ts';
import { described } from './listed.ts';
import { type Transport, fromFailure, reach } from './transport.ts';
import { controlOptions, updateControl } from './update-control.ts';

export interface ControlOptions {
  reason: string;
  /** Who asks; the user's name on this machine unless said otherwise. Unverified. */
  by?: string;
}

export interface ResumeOptions extends ControlOptions {
  /** Signs, in its own name, the end of exactly one halt. */
  signer?: Signer;
  /** The halt that was seen, as `halted` gave it: no other is ended. Default: the one that holds now. */
  halt?: Halt;
}

export class Control {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Nothing new runs from now on (workers notice within a second); what runs goes on, what waits goes on waiting. */
  async halt(options: ControlOptions): Promise<Halt> {
    const taken = this.#update(CONTROL_MESSAGE.halt, options);
    // What comes of it later is nobody's.
    taken.catch(() => undefined);
    try {
      const halt: unknown = await Promise.race([taken, late(HALT_MS)]);
      if (isHalt(halt) && (await this.halted())) return halt;
    } catch (error) {
      if (isCountersignError(error) && error.code === 'invalid_usage') throw error;
    }
    return this.#haltAnew(options);
  }

  /**
   * A control workflow that takes no halt, or only says so, is a stranger's or has no worker, and is replaced by one that is halted: to halt is the safe side. Workers read its
   * memo, so that nobody has to run it.
   */
  async #haltAnew({ by = userInfo().username, reason }: ControlOptions): Promise<Halt> {
    const { client, taskQueue } = this.#transport;
    const halt: Halt = { id: randomUUID(), by, reason, at: Date.now() };
    await reach(() =>
      client.workflow.start(WORKFLOW.control, {
        ...controlOptions(taskQueue),
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
        args: [halt],
        memo: { [CONTROL_MEMO]: halt, [RESUME_MEMO]: null },
      }),
    );
    return halt;
  }

  /**
   * Calls run again; held ones go on by themselves within half a minute. To resume a service that runs is harmless.
   * @throws CountersignError `bad_signature`, where the configuration asks for the signature of one who may resume
   */
  async resume({ signer, halt: seen, ...options }: ResumeOptions): Promise<void> {
    const halt = seen ?? (signer && (await this.halted()));
    const { namespace } = this.#transport.client.options;
    const unsigned = { ...options, ...(seen && { halt: seen.id }) };
    await this.#update(
      CONTROL_MESSAGE.resume,
      halt && signer ? await signResume({ halt, namespace, reason: options.reason }, signer) : unsigned,
    );
  }

  /** Who halted the service, when and why, as the control workflow says; undefined while calls run. Workers may know better. */
  async halted(): Promise<Halt | undefined> {
    const halt = (await reach(() => described(this.#transport.client, CONTROL_WORKFLOW_ID)))?.memo[CONTROL_MEMO];
    return isHalt(halt) ? halt : undefined;
  }

  async #update(name: string, options: ControlOptions): Promise<Halt | null> {
    const { client, taskQueue } = this.#transport;
    try {
      return await updateControl<Halt | null>(client, taskQueue, name, { by: userInfo().username, ...options });
    } catch (error) {
      const known = fromFailure(error);
      if (isCountersignError(known) || !hasGrpcStatus(known, ...DEAF)) throw known;
      const message =
        'The control workflow takes no message. Look who started it; countersign halt puts a new one in its place.';
      throw new CountersignError('no_service', message, { cause: error });
    }
  }
}

/** A worker takes a halt within a second; one that is busy, within some. */
const HALT_MS = 5_000;

/** How the server refuses a message for a workflow that cannot take it. */
const DEAF = ['invalidArgument', 'failedPrecondition', 'resourceExhausted', 'aborted'] as const;

async function late(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error('no answer in time');
}
