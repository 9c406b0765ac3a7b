/** The only door to the world. Workflows know these by type alone. */
import type {
  Agreed,
  ApprovalRequest,
  Decision,
  DecisionAnswer,
  Notification,
  Notified,
} from '../protocol/approval.ts';
import type { ExecuteInput, PrepareInput } from '../protocol/call.ts';
import type { Halt, Resume } from '../protocol/control.ts';
import type { Grant } from '../protocol/grant.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { Execution, Explanation, Prepared } from '../protocol/outcome.ts';
import type { OpenedAnswer, SessionFacts } from '../protocol/session.ts';
import { admitSession } from './admit-session.ts';
import type { ResumeCheck } from '../approval/resume.ts';
import { type DecisionToCheck, checkDecision } from './check-decision.ts';
import { checkResume } from './check-resume.ts';
import type { Dependencies } from './dependencies.ts';
import { endCalls } from './end-calls.ts';
import { explainInSession } from './explain-call.ts';
import { executeTool } from './execute-tool.ts';
import { type Covered, type GrantCheck, checkGrant, coveredRequests, revokeGrant } from './grants.ts';
import { notifyApprover } from './notify-approver.ts';
import { prepareCall } from './prepare-call.ts';

/**
 * `complete`: the request is settled by `decisions`; otherwise more approvers have to agree, and `decisions` are those that count so far.
 * `closed`: the call's session is not open, so nothing lets the call run any more.
 */
export type DecisionCheck =
  | { ok: true; complete: true; verified: boolean; decisions: Decision[] }
  | { ok: true; complete: false; decisions: Decision[]; agreed: Agreed; message: string }
  | { ok: false; closed?: true; answer: DecisionAnswer };

/** What workflows may call. */
export interface Activities {
  /** Local: finds the tool, validates and judges one attempt, and runs a quick read. Changes nothing else. */
  prepareCall(input: PrepareInput): Promise<Prepared>;
  /** The only authority to run a tool. Judges again, claims `once` tries, keeps the time limit. */
  executeTool(input: ExecuteInput): Promise<Execution>;
  /** Local: whether this worker's configuration allows such a session. */
  admitSession(facts: SessionFacts): Promise<OpenedAnswer>;
  /** Local: whether a decision may be taken: it is signed as required, and edited arguments are valid and allowed. */
  checkDecision(input: DecisionToCheck): Promise<DecisionCheck>;
  /** Local: what would become of a call in a session, without running it. */
  explainInSession(input: { session: string; tool: string; arguments: JsonObject }): Promise<Explanation>;
  /** Local: whether a session may take a grant in. */
  checkGrant(grant: Grant): Promise<GrantCheck>;
  /** Of requests that wait, those that a grant covers. */
  coveredRequests(input: { requests: ApprovalRequest[]; grants: Grant[] }): Promise<Covered[]>;
  /** Local: records for good that a grant is revoked. */
  revokeGrant(id: string): Promise<void>;
  /** Local: whether somebody may end a halt. */
  checkResume(input: { halt: Halt; resume: Resume }): Promise<ResumeCheck>;
  /** Tells the calls of a closing session to end; returns how many there were. */
  endCalls(session: string): Promise<number>;
  /** Tells the people of a channel that a request waits. */
  notifyApprover(input: Notification): Promise<Notified>;
}

export function createActivities(dependencies: Dependencies): Activities {
  return {
    prepareCall: (input) => prepareCall(dependencies, input),
    executeTool: (input) => executeTool(dependencies, input),
    admitSession: (facts) => admitSession(dependencies, facts),
    checkDecision: (input) => checkDecision(dependencies, input),
    explainInSession: (input) => explainInSession(dependencies, input),
    checkGrant: (grant) => checkGrant(dependencies, grant),
    coveredRequests: (input) => coveredRequests(dependencies, input),
    revokeGrant: (id) => revokeGrant(dependencies, id),
    checkResume: async (input) => checkResume(dependencies, input),
    endCalls: (session) => endCalls(dependencies, session),
    notifyApprover: (input) => notifyApprover(dependencies, input),
  };
}
