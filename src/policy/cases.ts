/** Cases that users write for their own rules: a call and the verdict that they expect. `countersign policy test FILE` runs them. */
import type { JsonObject } from '../protocol/json.ts';
import type { Judgement } from '../protocol/outcome.ts';
import type { SessionFacts } from '../protocol/session.ts';

/** What a case may say of its session; the rest is a main session of the default agent. */
export type CaseSession = Partial<
  Pick<SessionFacts, 'kind' | 'agent' | 'channel' | 'provider' | 'group' | 'owner' | 'workspace'>
>;

export interface PolicyCase {
  name?: string;
  session?: CaseSession;
  tool: string;
  arguments: JsonObject;
  expect: { verdict: 'run' | 'ask' | 'deny' | 'invalid'; rule?: string; tier?: string; code?: string };
}

/** What judging a case said; `invalid` where the arguments did not fit the tool. */
export type CaseAnswer =
  | Pick<Judgement, 'verdict' | 'rule' | 'reason' | 'tier' | 'code'>
  | { verdict: 'invalid'; reason: string };

export interface CaseResult {
  name: string;
  passed: boolean;
  /** What differs, one line each: `verdict: expected deny, got ask (tier.elevated: elevated calls need an approval)`; or why it could not be judged. */
  differences: string[];
  answer: CaseAnswer;
}

/**
 * Runs cases. `answer` judges one: it finds the tool, validates the arguments and resolves their paths as a call's preparation
 * does. A case whose answer throws fails.
 */
export async function runPolicyCases(
  cases: readonly PolicyCase[],
  answer: (one: PolicyCase) => CaseAnswer | Promise<CaseAnswer>,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const [index, one] of cases.entries()) {
    const got = await Promise.resolve()
      .then(() => answer(one))
      .catch((error: unknown) => `it could not be judged: ${error instanceof Error ? error.message : String(error)}`);
    const differences = typeof got === 'string' ? [got] : compare(one.expect, got);
    results.push({
      name: one.name ?? `${index + 1}: ${one.tool}`,
      passed: differences.length === 0,
      differences,
      answer: typeof got === 'string' ? { verdict: 'invalid', reason: got } : got,
    });
  }
  return results;
}

function compare(expected: PolicyCase['expect'], got: CaseAnswer): string[] {
  const actual: Readonly<Record<string, unknown>> = { ...got };
  const rule = 'rule' in got ? `${got.rule}: ` : '';
  return Object.entries(expected).flatMap(([field, wanted]) => {
    if (wanted === undefined || actual[field] === wanted) return [];
    return [`${field}: expected ${wanted}, got ${String(actual[field] ?? 'none')} (${rule}${got.reason})`];
  });
}
