/** What Temporal knows of a session. */
import type { Client } from '@temporalio/client';
import { isSessionId, sessionWorkflowId } from '../protocol/ids.ts';
import { type SessionRecord, sessionRecord } from '../protocol/session.ts';
import { described } from './listed.ts';
import { reach } from './transport.ts';

/**
 * The record of a session, open or not; undefined where there is none of that id.
 * @throws CountersignError `no_service`
 */
export async function knownSession(client: Client, id: string): Promise<SessionRecord | undefined> {
  if (!isSessionId(id)) return undefined;
  const description = await reach(() => described(client, sessionWorkflowId(id)));
  return description && sessionRecord(description);
}
