/** What would become of a call, and why, without running it. */
import type { JsonObject } from '../protocol/json.ts';
import { isCountersignError } from '../protocol/errors.ts';
import type { CallError, Explanation } from '../protocol/outcome.ts';
import type { Tier } from '../protocol/tool.ts';
import type { Dependencies } from './dependencies.ts';
import { toCallError } from './failure.ts';
import { denial, judgeCall } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';

export type Judging = Pick<Dependencies, 'catalogue' | 'settings' | 'surroundings'>;

async function explainCall(
  judging: Judging,
  session: KnownSession,
  call: { tool: string; arguments: JsonObject },
): Promise<Explanation> {
  const judged = await judgeCall(judging, session, call);
  if (!judged.ok) return refused(judged.error, judging.catalogue.get(call.tool)?.tier ?? null);
  const { verdict, tier, tierReasons, rule, reason, trace } = judged.judgement;
  return {
    verdict,
    tier,
    tierReasons,
    rule,
    reason,
    trace,
    ...(verdict === 'deny' && { error: denial(judged.judgement) }),
  };
}

/** The same for a session by its id, by this worker's own configuration. */
export const explainInSession = (
  dependencies: Dependencies,
  { session, ...call }: { session: string; tool: string; arguments: JsonObject },
): Promise<Explanation> =>
  explainOrRefuse(dependencies, () => dependencies.sessions.read(session, { fresh: true }), call);

/** The same for a session that may be refused. */
export async function explainOrRefuse(
  judging: Judging,
  session: () => Promise<KnownSession>,
  call: { tool: string; arguments: JsonObject },
): Promise<Explanation> {
  try {
    return await explainCall(judging, await session(), call);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return refused(toCallError(error), null);
  }
}

/** As preparation takes it: only the caller can mend a ValidationError, the rest is final. */
const refused = (error: CallError, tier: Tier | null): Explanation => ({
  verdict: error.kind === 'ValidationError' ? 'invalid' : 'deny',
  tier,
  tierReasons: [],
  rule: null,
  reason: null,
  trace: [],
  error,
});
