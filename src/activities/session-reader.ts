/**
 * Session facts, read from the session workflow's memo and believed only as far as this worker's configuration allows.
 */
import type { Client } from '@temporalio/client';
import { described } from '../client/listed.ts';
import { CountersignError } from '../protocol/errors.ts';
import { sessionWorkflowId } from '../protocol/ids.ts';
import { type SessionFacts, type SessionRecord, type SessionState, sessionRecord } from '../protocol/session.ts';

export interface KnownSession extends SessionRecord {
  /** The sessions above, nearest first: their rules hold for this one too. */
  above: SessionFacts[];
}

export interface SessionReader {
  /** Throws `session_not_found`, `untrusted_workspace`, `undeclared`. `fresh` takes what the server was asked for a moment ago, and no older. */
  read(id: string, options: { fresh: boolean }): Promise<KnownSession>;
}

/** Shorter than the time a closing session waits between its two looks for calls. */
const CACHE_MS = 3_000;
/** Long enough for what preparation asked ahead for the execution, and for calls of a session that execute at the same moment. */
const FRESH_MS = 100;
const CACHE_ENTRIES = 5_000;

export function createSessionReader(client: Client, admit: (facts: SessionFacts) => Promise<void>): SessionReader {
  const cache = new Map<string, { asked: number; session: Promise<KnownSession> }>();

  async function read(id: string, { fresh }: { fresh: boolean }): Promise<KnownSession> {
    const now = performance.now();
    const known = cache.get(id);
    if (known && now - known.asked < (fresh ? FRESH_MS : CACHE_MS)) return known.session;
    const session = load(id);
    cache.set(id, { asked: now, session });
    session.catch(() => {
      if (cache.get(id)?.session === session) cache.delete(id);
    });
    if (cache.size > CACHE_ENTRIES) cache.delete(cache.keys().next().value as string);
    return session;
  }

  async function load(id: string): Promise<KnownSession> {
    const { facts, state, parentId } = await recordOf(client, id);
    if (facts.parent !== undefined && parentId !== sessionWorkflowId(facts.parent)) {
      throw new CountersignError('undeclared', `Session ${id} names a parent that did not start it.`);
    }
    await admit(facts);
    const parent = facts.parent === undefined ? undefined : await read(facts.parent, { fresh: false });
    if (parent) checkInheritance(facts, parent.facts);
    // Below a session that closes nothing goes on, whether its closing has come down already or not.
    const held: SessionState = parent && parent.state !== 'open' && state === 'open' ? 'closing' : state;
    return { facts, state: held, above: parent ? [parent.facts, ...parent.above] : [] };
  }

  return { read };
}

async function recordOf(client: Client, id: string): Promise<SessionRecord & { parentId: string | undefined }> {
  const session = await described(client, sessionWorkflowId(id));
  const record = session && sessionRecord(session);
  if (!record) throw notFound(id);
  return { ...record, parentId: session.parentId };
}

/** A child has no more than its parent, whoever started its workflow. */
function checkInheritance(child: SessionFacts, parent: SessionFacts): void {
  const inside = child.workspace === parent.workspace || child.workspace.startsWith(`${parent.workspace}/`);
  const sound =
    child.kind !== 'main' &&
    child.channel === null &&
    parent.kind !== 'worker' &&
    child.main === parent.main &&
    child.owner === parent.owner &&
    child.depth === parent.depth + 1 &&
    inside;
  if (!sound) throw new CountersignError('undeclared', `Session ${child.id} claims more than its parent has.`);
}

const notFound = (id: string): CountersignError =>
  new CountersignError(
    'session_not_found',
    `There is no session ${id}. Open it first: countersign session open --id ${id}`,
  );
