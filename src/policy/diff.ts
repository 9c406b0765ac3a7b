/** What other rules would have said of calls that were made: `countersign policy dry-run`. */
import type { Judgement } from '../protocol/outcome.ts';
import { judge } from './judge.ts';
import type { Rules } from './rules.ts';
import type { CallFacts, JudgedSession, Surroundings } from './types.ts';

/** A call with what was said of it when it was made. */
export interface RecordedCall {
  /** Full id, for the report. */
  id: string;
  call: CallFacts;
  session: JudgedSession;
  before: Pick<Judgement, 'verdict' | 'rule' | 'tier'>;
}

export interface PolicyChange {
  id: string;
  tool: string;
  before: Pick<Judgement, 'verdict' | 'rule' | 'tier'>;
  now: Pick<Judgement, 'verdict' | 'rule' | 'tier' | 'reason'>;
  /** Whether the present rules are the stricter or the laxer ones for this call. */
  direction: 'stricter' | 'laxer';
}

const STRICTNESS = { run: 0, ask: 1, deny: 2 } as const;

/** The calls whose verdict would differ, in the order given. */
export function policyDiff(calls: readonly RecordedCall[], rules: Rules, surroundings: Surroundings): PolicyChange[] {
  return calls.flatMap(({ id, call, session, before }) => {
    const { verdict, rule, tier, reason } = judge(call, session, rules, surroundings);
    if (verdict === before.verdict) return [];
    const direction = STRICTNESS[verdict] > STRICTNESS[before.verdict] ? 'stricter' : 'laxer';
    return [{ id, tool: call.tool.name, before, now: { verdict, rule, tier, reason }, direction } as const];
  });
}
