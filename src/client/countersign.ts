/** The door for backends: connect, open sessions, run calls, decide on approvals. */
import { randomUUID } from 'node:crypto';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { listed } from './listed.ts';
import { CountersignError } from '../protocol/errors.ts';
import { isSessionId, parseCallWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import { SEARCH_ATTRIBUTE, SESSION_MESSAGE, TASK_QUEUE, WORKFLOW } from '../protocol/names.ts';
import {
  type OpenedAnswer,
  SESSION_MEMO,
  type SessionFacts,
  type SessionRecord,
  sessionRecord,
  unsoundFact,
} from '../protocol/session.ts';
import { connectionSettings } from '../server/connect.ts';
import { Approvals } from './approvals.ts';
import type { CallAudit, SessionAudit } from './audit.ts';
import { CallHandle } from './call.ts';
import { Control } from './control.ts';
import { Grants } from './grants.ts';
import { knownSession } from './known-session.ts';
import { patience } from './patience.ts';
import { SessionHandle } from './session.ts';
import type { BuiltInTools } from './tool-types.ts';
import { type Transport, fromFailure, reach, untilTaken } from './transport.ts';

/** A worker in this process (src/server/worker.ts): calls then start eagerly, without a trip through the task queue. */
export interface EmbeddedWorker {
  client: Client;
  taskQueue: string;
  uiUrl?: string;
}

export interface ConnectOptions {
  /** A worker of this process to share the connection with. */
  worker?: EmbeddedWorker;
  /** `host:port` of Temporal's frontend. Default: TEMPORAL_* variables, else the service that runs on this machine. */
  address?: string;
  namespace?: string;
  /** The worker's, where it is not the default `countersign`. */
  taskQueue?: string;
  /** How long a request is tried again while the server does not answer, in milliseconds; 20,000 unless given. Then it is `no_service`. */
  patienceMs?: number;
}

/** A server that is restarted is back by then. */
const PATIENCE_MS = 20_000;

export interface OpenSessionOptions {
  /** 1 to 64 of `A-Z a-z 0-9 . _ -`; made up when missing. */
  id?: string;
  /** Canonical absolute path of the folder to work in; must lie under a root that the worker trusts. */
  workspace: string;
  /** Declared in the worker's configuration; `default` unless said otherwise. */
  agent?: string;
  /** Where requests for approval are shown; null for nowhere. `inbox` unless said otherwise. */
  channel?: string | null;
  owner?: string;
  provider?: string;
  group?: string;
}

export class Countersign<Tools = BuiltInTools> {
  readonly approvals: Approvals;
  /** The emergency stop. */
  readonly control: Control;
  readonly #transport: Transport;
  readonly #close: () => Promise<void>;

  private constructor(transport: Transport, close: () => Promise<void>) {
    this.#transport = transport;
    this.#close = close;
    this.approvals = new Approvals(transport);
    this.control = new Control(transport);
  }

  /** @throws CountersignError `no_service` where no server answers */
  static async connect<Tools = BuiltInTools>(options: ConnectOptions = {}): Promise<Countersign<Tools>> {
    if (options.worker) {
      const { client, taskQueue, uiUrl } = options.worker;
      return new Countersign(
        { client, taskQueue, eager: true, ...(uiUrl !== undefined && { uiUrl }) },
        async () => undefined,
      );
    }
    const settings =
      options.address === undefined
        ? connectionSettings()
        : { options: { address: options.address }, namespace: 'default' };
    const { interceptors, end } = patience(options.patienceMs ?? PATIENCE_MS);
    const connection = await connectTo({ ...settings.options, interceptors });
    const client = new Client({ connection, namespace: options.namespace ?? settings.namespace });
    const uiUrl = 'uiUrl' in settings && settings.uiUrl !== undefined ? { uiUrl: settings.uiUrl } : {};
    return new Countersign({ client, taskQueue: options.taskQueue ?? TASK_QUEUE, eager: false, ...uiUrl }, async () => {
      await end();
      await connection.close();
    });
  }

  /** The Temporal client underneath, for what this library does not cover. */
  get temporal(): Client {
    return this.#transport.client;
  }

  /** The page of a call or session in the Temporal UI, where its address is known. */
  uiLink(workflowId: string): string | undefined {
    const { uiUrl, client } = this.#transport;
    if (uiUrl === undefined) return undefined;
    return `${uiUrl}/namespaces/${client.options.namespace}/workflows/${encodeURIComponent(workflowId)}`;
  }

  /**
   * Opens a main session, or attaches to the open one of that id when its start data are the same.
   * @throws CountersignError `invalid_id`, `invalid_usage`, `session_exists`, `untrusted_workspace`, `undeclared`, `no_service`
   */
  async openSession(options: OpenSessionOptions): Promise<SessionHandle<Tools>> {
    const facts = mainFacts(options);
    const { client, taskQueue } = this.#transport;
    let answer: OpenedAnswer;
    try {
      // An operation starts one workflow at most: each sending has its own.
      answer = await untilTaken((updateId) =>
        client.workflow.executeUpdateWithStart<never, OpenedAnswer, []>(SESSION_MESSAGE.opened, {
          startWorkflowOperation: startSession(facts, taskQueue) as never,
          updateId,
        }),
      );
    } catch (error) {
      const known = await this.#state(facts.id).catch(() => undefined);
      if (known && known.state !== 'open') {
        throw new CountersignError(
          'session_closed',
          `Session ${facts.id} is ${known.state}; ids are never reused. Take another.`,
        );
      }
      throw fromFailure(error);
    }
    if (!answer.opened) throw new CountersignError(answer.code, answer.message);
    checkSame(facts, answer.facts);
    return new SessionHandle<Tools>(this.#transport, answer.facts);
  }

  /**
   * A session that was opened before.
   * @throws CountersignError `session_not_found`, `session_closed`
   */
  async session(id: string): Promise<SessionHandle<Tools>> {
    const known = await this.#state(id);
    if (!known) {
      throw new CountersignError(
        'session_not_found',
        `There is no session ${id}. Open it first: countersign session open --id ${id}`,
      );
    }
    if (known.state !== 'open')
      throw new CountersignError('session_closed', `Session ${id} is ${known.state}; open another.`);
    return new SessionHandle<Tools>(this.#transport, known.facts);
  }

  /** Sessions, newest first; those that have ended too when `all`. A session that was refused is none. */
  async sessions({ all = false } = {}): Promise<SessionRecord[]> {
    const query = `WorkflowType="${WORKFLOW.session}"${all ? ' AND ExecutionStatus!="ContinuedAsNew"' : ' AND ExecutionStatus="Running"'}`;
    const found: SessionRecord[] = [];
    await reach(async () => {
      for await (const info of listed(this.#transport.client, query)) {
        const session = sessionRecord(info);
        if (session) found.push(session);
      }
    });
    return found;
  }

  /** A call by its full name, `call/<session>/<call id>`. */
  call(id: string): CallHandle {
    const name = parseCallWorkflowId(id);
    if (!name)
      throw new CountersignError('call_not_found', `${JSON.stringify(id)} is no call's name: call/<session>/<call id>`);
    return new CallHandle(this.#transport, name);
  }

  /**
   * Who asked for what, which rule or person let it, what ran, how it ended: of a call by its full name, or of a session by its id.
   * @throws CountersignError `call_not_found`, `session_not_found`, `no_service`
   */
  async audit(id: string): Promise<CallAudit | SessionAudit> {
    const { audit } = await import('./audit.ts');
    const found = await audit(this.#transport, id);
    const uiUrl = this.uiLink(found.kind === 'call' ? found.id : sessionWorkflowId(found.id));
    return uiUrl === undefined ? found : { ...found, uiUrl };
  }

  /** The grants that a main session keeps. */
  grants(main: string): Grants {
    return new Grants(this.#transport, main);
  }

  /**
   * Closes the connection that {@link connect} opened; a worker's own is left alone. Calls go on. Requests that are being tried again
   * fail as `no_service`.
   */
  close(): Promise<void> {
    return this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #state(id: string): Promise<SessionRecord | undefined> {
    if (!isSessionId(id)) throw invalidSessionId(id);
    return knownSession(this.#transport.client, id);
  }
}

async function connectTo(options: Parameters<typeof Connection.connect>[0] & object): Promise<Connection> {
  try {
    return await Connection.connect({ ...options, connectTimeout: '5s' });
  } catch (error) {
    const message =
      `No Temporal server answers at ${String(options.address)}. Start the service (countersign start), ` +
      'or set TEMPORAL_ADDRESS to the server that yours uses.';
    throw new CountersignError('no_service', message, { cause: error });
  }
}

const startSession = (facts: SessionFacts, taskQueue: string) =>
  new WithStartWorkflowOperation(WORKFLOW.session, {
    workflowId: sessionWorkflowId(facts.id),
    taskQueue,
    args: [{}],
    memo: { [SESSION_MEMO]: facts },
    searchAttributes: {
      [SEARCH_ATTRIBUTE.session]: [facts.id],
      [SEARCH_ATTRIBUTE.agent]: [facts.agent],
      [SEARCH_ATTRIBUTE.state]: ['open'],
    },
    workflowIdConflictPolicy: 'USE_EXISTING',
    // A session that was refused may be tried again; one that was closed is over.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    staticSummary: `main session of ${facts.agent} in ${facts.workspace}`.slice(0, 300),
  });

function mainFacts({
  id = randomUUID(),
  workspace,
  agent = 'default',
  channel = 'inbox',
  owner,
  provider,
  group,
  ...others
}: OpenSessionOptions): SessionFacts {
  if (!isSessionId(id)) throw invalidSessionId(id);
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new CountersignError(
      'invalid_usage',
      `openSession takes id, workspace, agent, channel, owner, provider and group, not ${JSON.stringify(other)}. ` +
        'A child session is opened by its parent: session.branch({ kind }).',
    );
  }
  const facts: SessionFacts = {
    id,
    kind: 'main',
    main: id,
    depth: 0,
    workspace,
    agent,
    channel,
    ...(owner !== undefined && { owner }),
    ...(provider !== undefined && { provider }),
    ...(group !== undefined && { group }),
  };
  const unsound = unsoundFact(facts);
  if (unsound === undefined) return facts;
  const needs =
    unsound === 'workspace' ? 'the path of a folder, as in openSession({ workspace: process.cwd() })' : 'text';
  throw new CountersignError('invalid_usage', `${unsound} of a session is missing, too long or not ${needs}.`);
}

const invalidSessionId = (id: string): CountersignError =>
  new CountersignError(
    'invalid_id',
    `A session id is 1 to 64 of A-Z a-z 0-9 . _ -, not ${JSON.stringify(String(id).slice(0, 80))}.`,
  );

/** One id is one session: attaching needs the same start data. */
function checkSame(asked: SessionFacts, found: SessionFacts): void {
  for (const key of ['kind', 'workspace', 'agent', 'channel', 'owner', 'provider', 'group'] as const) {
    if (asked[key] === found[key]) continue;
    throw new CountersignError(
      'session_exists',
      `Session ${asked.id} exists with another ${key} (${JSON.stringify(found[key] ?? null)}). Take another id.`,
    );
  }
}
