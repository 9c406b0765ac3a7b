/** When decisions settle a request. Pure. */
import type { ToolFacts } from '../policy/types.ts';
import { type Groups, nameList } from '../policy/names.ts';
import { TIERS, type Tier } from '../protocol/tool.ts';
import { EMERGENCY, foldedName } from './approvers.ts';
import { sameContent } from './collected.ts';
import type { CountedDecision } from './verify.ts';

export interface Requirement {
  /** Approvers that have to agree, 1 to 10. */
  required: number;
  /** Whom the session acts for: with more than one required, it does not count as one of them. */
  owner?: string | undefined;
}

export type Quorum =
  | { state: 'approved'; by: CountedDecision[]; verified: boolean; override?: true }
  | { state: 'denied'; by: CountedDecision[]; verified: boolean }
  /**
   * `by`: those that count so far. `dropped`: those of others that count no more, because the last one is with other arguments.
   * `note`: why the last one does not count, where it does not.
   */
  | { state: 'more'; by: CountedDecision[]; dropped: CountedDecision[]; have: number; need: number; note?: string };

/**
 * Counts checked decisions, in the order in which they came. One denial denies. Approvals count once for each key, and only while they
 * approve the same: other arguments than before start the count again. One signed `override` by an emergency approver is enough.
 */
export function quorum(decisions: readonly CountedDecision[], { required, owner }: Requirement): Quorum {
  const denial = decisions.find(({ decision }) => decision.decision === 'deny');
  if (denial) return { state: 'denied', by: [denial], verified: denial.verified };
  const override = decisions.findLast(
    ({ decision, verified, roles }) => decision.override && verified && roles.includes(EMERGENCY),
  );
  if (override) return { state: 'approved', by: [override], verified: true, override: true };
  const others = latestOfEach(decisions).filter((counted) => !isRequester(counted, required, owner));
  const agrees = (counted: CountedDecision): boolean => sameContent(counted.decision, others.at(-1)?.decision);
  const by = others.filter(agrees);
  if (by.length >= required) return { state: 'approved', by, verified: by.every(({ verified }) => verified) };
  const dropped = others.filter((counted) => !agrees(counted));
  const last = decisions.at(-1);
  const note =
    last && isRequester(last, required, owner)
      ? { note: `${last.decision.approver} asked for this call and can't be one of its ${required} approvers.` }
      : {};
  return { state: 'more', by, dropped, have: by.length, need: required, ...note };
}

/** What someone decided last is what they mean; everyone keeps the place of that decision. */
function latestOfEach(decisions: readonly CountedDecision[]): CountedDecision[] {
  const latest = new Map<string, CountedDecision>();
  for (const counted of decisions) {
    latest.delete(counted.identity);
    latest.set(counted.identity, counted);
  }
  return [...latest.values()];
}

const isRequester = ({ decision }: CountedDecision, required: number, owner: string | undefined): boolean =>
  required > 1 && owner !== undefined && foldedName(decision.approver) === foldedName(owner);

export interface QuorumSettings {
  required: number;
  /** By tier (also for the tiers above it), tool or group; the greatest that fits counts. */
  requiredFor: Readonly<Record<string, number>>;
}

/** How many approvers a call of this tool and tier needs. */
export function requiredFor(
  { required, requiredFor: special }: QuorumSettings,
  { tool, tier, groups }: { tool: ToolFacts; tier: Tier; groups?: Groups },
): number {
  const fits = (entry: string): boolean => {
    const from = (TIERS as readonly string[]).indexOf(entry);
    return from >= 0 ? TIERS.indexOf(tier) >= from : nameList([entry], groups).restricts(tool) !== undefined;
  };
  return Math.max(required, ...Object.entries(special).flatMap(([entry, count]) => (fits(entry) ? [count] : [])));
}
