/** Whether this worker takes a session: its record is sound and its configuration trusts what the record claims. */
import { activityInfo } from '@temporalio/activity';
import { ServiceError } from '@temporalio/client';
import { isCountersignError } from '../protocol/errors.ts';
import { sessionWorkflowId } from '../protocol/ids.ts';
import type { OpenedAnswer, SessionFacts } from '../protocol/session.ts';
import type { Dependencies } from './dependencies.ts';

/** Who opens a session waits for the answer: what fails in this worker is tried for a few seconds, and is a refusal then. */
const TRIES = 4;

export async function admitSession({ sessions, settings }: Dependencies, facts: SessionFacts): Promise<OpenedAnswer> {
  const own = activityInfo().workflowExecution?.workflowId;
  if (own !== sessionWorkflowId(facts.id)) {
    return { opened: false, code: 'session_not_found', message: 'This workflow is not the session that it names.' };
  }
  try {
    const { facts: believed } = await sessions.read(facts.id, { fresh: true });
    const { pendingRequests, sessionDepth, sessionChildren } = settings().config.limits;
    return { opened: true, facts: believed, limits: { pendingRequests, sessionDepth, sessionChildren } };
  } catch (error) {
    if (isCountersignError(error)) return { opened: false, code: error.code, message: error.message };
    // A server that is away comes back.
    if (error instanceof ServiceError || activityInfo().attempt < TRIES) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return { opened: false, code: 'internal', message: `The worker could not look at this session: ${why}` };
  }
}
