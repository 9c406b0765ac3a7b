/**
 * Names of sessions and calls, and the workflow ids made of them.
 *
 * A session id is 1 to 64 and a call id 1 to 128 of `A-Z a-z 0-9 . _ -`. Ids are never reused.
 */

const SESSION_ID = /^[A-Za-z0-9._-]{1,64}$/;
const CALL_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The two names that together say which call is meant. */
export interface CallName {
  session: string;
  callId: string;
}

export const isSessionId = (value: unknown): value is string => typeof value === 'string' && SESSION_ID.test(value);
export const isCallId = (value: unknown): value is string => typeof value === 'string' && CALL_ID.test(value);

export const sessionWorkflowId = (session: string): string => `session/${session}`;
export const callWorkflowId = ({ session, callId }: CallName): string => `call/${session}/${callId}`;

/** The names in a call's workflow id, or undefined when the id is not a call's. */
export function parseCallWorkflowId(workflowId: string): CallName | undefined {
  const [kind, session, callId, ...rest] = workflowId.split('/');
  if (kind !== 'call' || rest.length > 0 || !isSessionId(session) || !isCallId(callId)) return undefined;
  return { session, callId };
}

/** The session's id in its workflow id, or undefined when the id is not a session's. */
export function parseSessionWorkflowId(workflowId: string): string | undefined {
  const [kind, session, ...rest] = workflowId.split('/');
  if (kind !== 'session' || rest.length > 0 || !isSessionId(session)) return undefined;
  return session;
}
