/** Child sessions: who may have them, what they inherit, and how they are started. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { isSessionId, sessionWorkflowId } from '../protocol/ids.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW } from '../protocol/names.ts';
import type { SessionInput } from './session-state.ts';
import {
  type ChildAnswer,
  type ChildRequest,
  SESSION_MEMO,
  type SessionFacts,
  type SessionLimits,
} from '../protocol/session.ts';

type Refusal = Extract<ChildAnswer, { opened: false }>;

/** The facts of a child, or why there may be none: pure. The worker checks them again when the child is admitted. */
export function childFacts(
  parent: SessionFacts,
  siblings: number,
  child: ChildRequest,
  limits: SessionLimits,
): SessionFacts | Refusal {
  if (!isSessionId(child.id)) return refuse('invalid_id', 'A session id is 1 to 64 of A-Z a-z 0-9 . _ -');
  if (parent.kind === 'worker') return refuse('session_limit', 'A worker session has no children.');
  if (parent.depth >= limits.sessionDepth) {
    return refuse('session_limit', `Sessions go ${limits.sessionDepth} deep below main; open this one higher up.`);
  }
  if (siblings >= limits.sessionChildren) {
    return refuse('session_limit', `A session has at most ${limits.sessionChildren} open children; close one first.`);
  }
  const workspace = child.workspace ?? parent.workspace;
  if (workspace !== parent.workspace && !workspace.startsWith(`${parent.workspace}/`)) {
    return refuse('untrusted_workspace', "A child's workspace lies inside of its parent's.");
  }
  return {
    ...parent,
    id: child.id,
    kind: child.kind,
    parent: parent.id,
    depth: parent.depth + 1,
    workspace,
    agent: child.agent ?? parent.agent,
    channel: null,
  };
}

/** Starts it so that it outlives this run of its parent: continue-as-new ends the engine's own link. */
export async function startChildSession(facts: SessionFacts, input: SessionInput): Promise<ChildAnswer> {
  try {
    await startChild(WORKFLOW.session, {
      workflowId: sessionWorkflowId(facts.id),
      args: [input],
      memo: { [SESSION_MEMO]: facts },
      searchAttributes: {
        [SEARCH_ATTRIBUTE.session]: [facts.id],
        [SEARCH_ATTRIBUTE.agent]: [facts.agent],
        [SEARCH_ATTRIBUTE.state]: ['open'],
      },
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      staticSummary: `${facts.kind} session of ${facts.parent}`,
    });
    return { opened: true, facts };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return refuse('session_exists', `A session named ${facts.id} exists or existed; ids are never reused.`);
  }
}

const refuse = (code: Refusal['code'], message: string): Refusal => ({ opened: false, code, message });
