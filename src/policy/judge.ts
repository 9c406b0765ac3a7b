/**
 * The one decision: may this call run, must a person be asked, or is it refused? A pure function of its arguments.
 *
 *   nine layers → session kind, needs, owner → argument rules → tier → the call's own risk → approval mode → verdict
 *
 * Every step adds lines to the trace; none takes any away. The strictest line decides, the last line says which.
 */
import type { Judgement } from '../protocol/outcome.ts';
import { higherTier, type Tier } from '../protocol/tool.ts';
import { availabilityFindings } from './availability.ts';
import { judgeArguments } from './layers.ts';
import { riskFindings } from './risk.ts';
import type { Rules } from './rules.ts';
import { shellFindings } from './shell/judge-shell.ts';
import type { CallFacts, Finding, JudgedSession, Surroundings } from './types.ts';

/**
 * Judges one call. Never throws: a policy that fails denies, with code `policy_failed`.
 */
export function judge(call: CallFacts, session: JudgedSession, rules: Rules, surroundings: Surroundings): Judgement {
  try {
    return decide(call, session, rules, surroundings);
  } catch (error) {
    return failed(call, rules, error);
  }
}

function decide(given: CallFacts, session: JudgedSession, rules: Rules, surroundings: Surroundings): Judgement {
  const above = (session.above ?? []).map(({ workspace }) => workspace).filter((one) => one !== session.workspace);
  const call = { ...given, above };
  const offered = availabilityFindings(call.tool, session, rules, surroundings);
  const shell = shellFindings(call, session, rules, surroundings);
  const findings = [
    ...offered,
    ...judgeArguments(call, session, rules),
    tierFinding(call.tool.tier),
    ...riskFindings(call, session, rules, surroundings),
    ...shell.findings,
  ];
  return conclude(call.tool.tier, findings, rules.hash, shell.command);
}

function tierFinding(tier: Tier): Finding {
  const rule = `tier.${tier}`;
  if (tier === 'elevated') return { layer: 'tier', rule, effect: 'ask', reason: 'elevated calls need an approval' };
  return { layer: 'tier', rule, effect: 'allow', reason: `${tier} calls run without asking` };
}

/** Deny wins, then ask; a call that was raised to elevated asks. */
function conclude(
  toolTier: Tier,
  findings: readonly Finding[],
  policy: string,
  command: string | undefined,
): Judgement {
  const tier = findings.reduce((highest, finding) => higherTier(highest, finding.tier ?? toolTier), toolTier);
  const denied = findings.find((finding) => finding.effect === 'deny');
  const asked = findings.find(
    (finding) => finding.effect === 'ask' || (finding.effect === 'raise' && finding.tier === 'elevated'),
  );
  const deciding = denied ?? asked ?? findings.findLast((finding) => finding.effect === 'allow');
  if (deciding === undefined) throw new Error('no rule spoke');
  const verdict = denied ? 'deny' : asked ? 'ask' : 'run';
  const effect = denied ? 'deny' : asked ? 'ask' : 'allow';
  const { rule, reason } = deciding;
  return {
    verdict,
    tier,
    rule,
    reason,
    trace: [
      ...findings.map((finding) => ({
        layer: finding.layer,
        rule: finding.rule,
        effect: finding.effect,
        reason: finding.reason,
      })),
      { layer: 'verdict', rule, effect, reason },
    ],
    tierReasons: findings.filter((finding) => finding.effect === 'raise').map((finding) => finding.reason),
    ...(denied && { code: denied.code ?? 'policy_denied' }),
    ...(verdict === 'run' && command !== undefined && { command }),
    policy,
  };
}

function failed(call: CallFacts, rules: Rules, error: unknown): Judgement {
  const reason = `the policy failed, so the call is denied: ${error instanceof Error ? error.message : String(error)}`;
  return {
    verdict: 'deny',
    tier: call.tool.tier,
    rule: 'policy.failed',
    reason,
    trace: [{ layer: 'verdict', rule: 'policy.failed', effect: 'deny', reason }],
    tierReasons: [],
    code: 'policy_failed',
    policy: rules.hash,
  };
}
