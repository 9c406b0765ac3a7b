/** The grants of a main session: taken in, taken back, and used on what waits already. */
import { proxyActivities, proxyLocalActivities, upsertMemo } from '@temporalio/workflow';
import type { Covered } from '../activities/grants.ts';
import type { Activities } from '../activities/index.ts';
import type { SealedDecision } from '../protocol/approval.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { GRANTS_MEMO, GRANT_LIMITS, type Grant, type GrantAnswer, type Revocation } from '../protocol/grant.ts';
import { fieldsOf } from '../protocol/forms.ts';
import { isSameJson } from '../protocol/json.ts';
import { approvalKey, settle, withdraw } from './approvals.ts';
import { holds, tellCall } from './session-links.ts';
import type { Session } from './session-state.ts';

const { checkGrant, revokeGrant } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});
const { coveredRequests } = proxyActivities<Activities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
  summary: 'which waiting requests the new grant covers',
});

/** A new grant lets run what it covers of what waits already. The very same once more is a repeat, sent by who had no answer. */
export async function addGrant(self: Session, grant: Grant): Promise<GrantAnswer> {
  const refuse = (code: ErrorCode, message: string): GrantAnswer => ({ accepted: false, code, message });
  if (!holds(self)) return refuse('no_approver', 'Grants are kept by a main session that people watch; this is none.');
  self.grants = self.grants.filter(({ expiresAt }) => expiresAt > Date.now());
  const known = self.grants.find(({ id }) => id === grant.id);
  if (known && isSameJson(known, grant)) return { accepted: true };
  if (known) return refuse('invalid_id', `There is another grant ${grant.id} already.`);
  if (self.grants.length >= GRANT_LIMITS.count) {
    return refuse('session_limit', `A session holds ${GRANT_LIMITS.count} grants at most; revoke some first.`);
  }
  const checked = await checkGrant(grant);
  if (!checked.ok) return refuse(checked.code, checked.message);
  setGrants(self, [...self.grants, grant]);
  void release(self, grant);
  return { accepted: true };
}

/** Activities read them from the memo. */
function setGrants(self: Session, grants: Grant[]): void {
  self.grants = grants;
  upsertMemo({ [GRANTS_MEMO]: grants });
}

/**
 * Revoked for good: also a copy of it that somebody kept, and one that this session does not list, because it was terminated and opened
 * anew or because the grant is another session's.
 */
export async function takeBack(self: Session, { id }: Revocation): Promise<GrantAnswer> {
  await revokeGrant(id);
  const others = self.grants.filter((grant) => grant.id !== id);
  if (others.length === self.grants.length) return { accepted: true, unlisted: true };
  setGrants(self, others);
  return { accepted: true };
}

/** Looks in the background, for there may be a thousand requests to look at. */
async function release(self: Session, grant: Grant): Promise<void> {
  const requests = Object.values(self.approvals.pending).map(({ request }) => request);
  if (requests.length === 0) return;
  self.background += 1;
  try {
    const found = await coveredRequests({ requests, grants: [grant] });
    // Whoever knows an activity's id can complete it with anything.
    for (const { request, verified } of found.map(fieldsOf)) {
      const waits = requests.find(({ digest }) => digest === fieldsOf(request)['digest']);
      if (waits) self.put({ kind: 'granted', covered: { request: waits, grant, verified: verified === true } });
    }
  } catch {
    // They wait for a person, as before; every later call is looked at when it is prepared.
  } finally {
    self.background -= 1;
  }
}

/** A grant stands in for a person on a request that waits; where the call executes it is looked up again. */
export async function letRun(self: Session, { request, grant, verified }: Covered): Promise<void> {
  const waiting = self.approvals.pending[approvalKey(request)];
  if (waiting?.request.digest !== request.digest || !self.grants.some(({ id }) => id === grant.id)) return;
  const { session: from, callId, digest } = request;
  const by = { session: from, callId, digest, decision: 'approve', approver: grant.by } as const;
  const sealed: SealedDecision = { ...by, reason: `grant ${grant.id}`, verified, decisions: [], grant };
  if (await tellCall(request, sealed)) settle(self.approvals, sealed);
  else withdraw(self.approvals, request);
}
