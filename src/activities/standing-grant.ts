/** The grant that lets a call run without asking: used by preparation, and again, on that one grant, where it runs. */
import { type GrantableCall, matchGrant, verifyGrant } from '../approval/grants.ts';
import { requiredFor } from '../approval/quorum.ts';
import { isRevoked } from '../context/index.ts';
import { GRANT_LIMITS, type Grant, type GrantPlace, type StandingGrant } from '../protocol/grant.ts';
import { bindCall } from './bind-call.ts';
import type { Dependencies } from './dependencies.ts';
import type { Judged } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';

/** Undefined where none of the grants covers the call, is its maker's, and stands unrevoked. For calls whose verdict is `ask`. */
export async function standingGrant(
  dependencies: Dependencies,
  session: KnownSession,
  judged: Extract<Judged, { ok: true }>,
  grants: readonly Grant[],
): Promise<StandingGrant | undefined> {
  if (grants.length === 0 || judged.judgement.verdict !== 'ask') return undefined;
  const { approvals } = dependencies.settings().config;
  const call = await grantableCall(dependencies, session, judged);
  const now = Date.now();
  // Anybody in the namespace can bring a grant: whose it is comes first, and its patterns are looked at only then.
  for (const grant of grants.slice(0, GRANT_LIMITS.count)) {
    const checked = verifyGrant(grant, call, approvals, now);
    if (!checked.ok || !matchGrant([grant], call, now)) continue;
    if (!(await isRevoked(dependencies.stateDir, grant.id))) return { grant, verified: checked.verified };
  }
  return undefined;
}

/** A judged call as far as it matters for grants. */
export async function grantableCall(
  dependencies: Dependencies,
  session: KnownSession,
  judged: Extract<Judged, { ok: true }>,
): Promise<GrantableCall> {
  const { facts, above } = session;
  const { approvals, groups } = dependencies.settings().config;
  const { tool, judgement, subjects } = judged;
  const asked = { tool, tier: judgement.tier, agent: facts.agent, ...(groups && { groups }) };
  return {
    ...asked,
    place: placeOf(dependencies, session),
    facts: { tool, arguments: judged.arguments, subjects },
    session: facts.id,
    ancestors: above.map(({ id }) => id),
    required: requiredFor(approvals, asked),
    bound: (await bindCall(dependencies, session, judged))?.bound,
  };
}

/** Where grants for the session must be made for: this namespace, and the workspace of its main session. */
export const placeOf = ({ client }: Pick<Dependencies, 'client'>, { facts, above }: KnownSession): GrantPlace => ({
  namespace: client.options.namespace,
  workspace: (above.at(-1) ?? facts).workspace,
});
