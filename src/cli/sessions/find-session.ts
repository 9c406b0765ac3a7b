/** A session's record, open or not, over a connection of its own. */
import type { SessionFacts, SessionState } from '../../client/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { type AnyCountersign, withService } from '../service/with-service.ts';

export interface KnownFacts {
  /** With those of the sessions above, nearest first: their rules hold for it too. */
  facts: SessionFacts & { readonly above: readonly SessionFacts[] };
  state: SessionState;
}

/** @throws CountersignError `session_not_found`, `no_service` */
export const sessionKnown = (id: string): Promise<KnownFacts> =>
  withService((countersign) => findSession(countersign, id));

/** @throws CountersignError `session_not_found`, `no_service` */
export async function findSession(countersign: AnyCountersign, id: string): Promise<KnownFacts> {
  const { knownSession } = await import('../../client/known-session.ts');
  const found = await knownSession(countersign.temporal, id);
  if (found) {
    const { parent } = found.facts;
    const upper = parent === undefined ? undefined : (await findSession(countersign, parent)).facts;
    return { ...found, facts: { ...found.facts, above: upper ? [upper, ...upper.above] : [] } };
  }
  throw new CountersignError(
    'session_not_found',
    `There is no session ${JSON.stringify(id.slice(0, 80))}. List them: countersign session list --all`,
  );
}
