/** Grants: "always allow", made by an act of its own, with an end. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { readGrants } from '../protocol/answers.ts';
import { CountersignError } from '../protocol/errors.ts';
import {
  GRANT_LIMITS,
  type Grant,
  type GrantAnswer,
  type GrantPattern,
  type GrantPlace,
  type Revocation,
  isGrant,
  isRevocation,
} from '../protocol/grant.ts';
import { sessionWorkflowId } from '../protocol/ids.ts';
import { SESSION_MESSAGE } from '../protocol/names.ts';
import { type Signer, signGrant } from '../approval/sign.ts';
import { type Transport, fromFailure, isGone, reach, updateSession } from './transport.ts';
import { knownSession } from './known-session.ts';

export interface GrantOptions {
  tool: string;
  /** Argument → exact value or glob. A call with an argument that is not named here is not covered. */
  arguments: Record<string, GrantPattern>;
  /** `session`: this main session and those below it, or the one named; `agent`: all of the agent's below this main session. */
  scope?: { session: string } | { agent: string };
  /** How long it holds, in milliseconds; 30 days at most. */
  forMs: number;
  /** Who grants; the user's name on this machine unless said otherwise. */
  by?: string;
  id?: string;
  signer?: Signer;
}

/** The grants of one main session. */
export class Grants {
  readonly #transport: Transport;
  readonly #main: string;

  constructor(transport: Transport, main: string) {
    this.#transport = transport;
    this.#main = main;
  }

  /**
   * Makes a grant; requests that wait and are covered go on.
   * @throws CountersignError `invalid_usage`, `invalid_id`, `unknown_tool`, `bad_signature`, `session_limit`, `session_closed`
   */
  async add(options: GrantOptions): Promise<Grant> {
    const { tool, arguments: patterns, scope = { session: this.#main }, forMs, signer, id = randomUUID() } = options;
    const at = Date.now();
    const by = signer?.name ?? options.by ?? userInfo().username;
    const place = await this.#place();
    const unsigned: Grant = { id, tool, arguments: patterns, scope, place, expiresAt: at + forMs, by, at };
    if (!isGrant(unsigned)) {
      const days = GRANT_LIMITS.lifeMs / 86_400_000;
      throw new CountersignError(
        'invalid_usage',
        `A grant names a tool and a pattern for each argument, and ends within ${days} days.`,
      );
    }
    const grant = signer ? await signGrant(unsigned, signer) : unsigned;
    const answer = await this.#update<Grant>(SESSION_MESSAGE.addGrant, grant);
    if (!answer.accepted) throw new CountersignError(answer.code, answer.message);
    return grant;
  }

  /** Those that hold now. */
  async list(): Promise<Grant[]> {
    try {
      return readGrants(await reach(() => this.#session.query(SESSION_MESSAGE.grants)));
    } catch (error) {
      if (isGone(error)) throw new CountersignError('session_not_found', `There is no session ${this.#main}.`);
      throw error;
    }
  }

  /**
   * Takes a grant back for good, also for calls that it let go and that have not started, and also where this session does not list it
   * (`listed` is false then), for a signed copy of it may be about. `by` is who takes it back, unverified; the user's name on this machine
   * unless given. The session's history records it.
   * @throws CountersignError `invalid_usage`, `session_closed`
   */
  async revoke(id: string, by = userInfo().username): Promise<{ listed: boolean; by: string }> {
    const revocation = { id, by };
    if (!isRevocation(revocation))
      throw new CountersignError(
        'invalid_usage',
        'The id of a grant is 1 to 64 of A-Z a-z 0-9 . _ -, and a name has 1 to 200 characters.',
      );
    const answer = await this.#update<Revocation>(SESSION_MESSAGE.revokeGrant, revocation);
    if (!answer.accepted) throw new CountersignError(answer.code, answer.message);
    return { listed: answer.unlisted !== true, by };
  }

  get #session() {
    return this.#transport.client.workflow.getHandle(sessionWorkflowId(this.#main));
  }

  /** Where its grants hold. */
  async #place(): Promise<GrantPlace> {
    const { client } = this.#transport;
    const known = await knownSession(client, this.#main);
    if (!known) throw this.#closed();
    return { namespace: client.options.namespace, workspace: known.facts.workspace };
  }

  #closed(): CountersignError {
    return new CountersignError('session_closed', `Session ${this.#main} is closed or does not exist.`);
  }

  async #update<Argument>(name: string, argument: Argument): Promise<GrantAnswer> {
    try {
      return await updateSession<GrantAnswer>(this.#transport.client, this.#main, name, argument);
    } catch (error) {
      throw isGone(error) ? this.#closed() : fromFailure(error);
    }
  }
}
