/** Whether a decision may be taken. Edited arguments are validated and judged like any others; a bad edit leaves the request waiting. */
import type { ApprovalRequest, Decision } from '../protocol/approval.ts';
import { isCountersignError } from '../protocol/errors.ts';
import type { CallError } from '../protocol/outcome.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError } from './failure.ts';
import type { DecisionCheck } from './index.ts';
import { denial, judgeCall } from './judge-call.ts';

export async function checkDecision(
  dependencies: Dependencies,
  { request, decision }: { request: ApprovalRequest; decision: Decision },
): Promise<DecisionCheck> {
  if (decision.decision === 'deny' || !decision.arguments) return { ok: true, verified: false };
  try {
    const session = await dependencies.sessions.read(request.session, { fresh: true });
    const judged = await judgeCall(dependencies, session, { tool: request.tool, arguments: decision.arguments });
    if (!judged.ok) return invalidEdit(judged.error);
    if (judged.judgement.verdict === 'deny') return invalidEdit(denial(judged.judgement));
    return { ok: true, verified: false };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return invalidEdit(toCallError(error));
  }
}

const invalidEdit = (error: CallError): DecisionCheck => ({
  ok: false,
  answer: {
    answer: 'invalid_edit',
    message: `The edited arguments were refused and the request still waits: ${error.message}`,
    ...(error.field !== undefined && { field: error.field }),
  },
});
