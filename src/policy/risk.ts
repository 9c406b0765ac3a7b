/** The risk of one call, by what it would touch: it can raise the call's tier or refuse the call, never lower anything. */
import { CONFIG_FILE } from '../protocol/names.ts';
import { hostMatches } from './hosts.ts';
import { allowRulesOn, ruleMatches } from './layers.ts';
import { gitControl, isOwn, protectedBy, secrets } from './protected.ts';
import { relativeTo } from './paths.ts';
import type { Rules } from './rules.ts';
import type { CallFacts, Finding, JudgedSession, ResolvedSubject, Surroundings } from './types.ts';

/** Findings for paths and hosts; commands have a judge of their own. */
export function riskFindings(
  call: CallFacts,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): Finding[] {
  return call.subjects.flatMap((subject) => {
    if (subject.kind === 'path') return pathFindings(call, subject, rules, surroundings);
    if (subject.kind === 'host') return hostFindings(call, subject, session, rules);
    return [];
  });
}

function pathFindings(
  call: CallFacts,
  subject: Extract<ResolvedSubject, { kind: 'path' }>,
  rules: Rules,
  { protectedPaths }: Surroundings,
): Finding[] {
  const { access, canonical, relative, inside, absolute, path } = subject;
  // A service may be started in the workspace next.
  const ofNextService = access !== 'read' && relative === CONFIG_FILE;
  if (ofNextService || isOwn(canonical, access, access === 'read' ? secrets(protectedPaths) : protectedPaths)) {
    const reason = `${path} belongs to Countersign itself; no tool may touch it`;
    return [{ layer: 'risk', rule: 'risk.own_files', effect: 'deny', reason, code: 'protected_path' }];
  }
  if (!inside || relative === undefined) {
    if (access === 'delete' && absolute) {
      return [raise('risk.delete_outside', `${canonical} is outside of the workspace`)];
    }
    const reason = `${path} is outside of the workspace; use a path inside of it`;
    return [{ layer: 'risk', rule: 'risk.outside_workspace', effect: 'deny', reason, code: 'outside_workspace' }];
  }
  if (access === 'read') return [];
  const steersGit = gitControl(relative);
  if (steersGit !== undefined)
    return [{ layer: 'risk', rule: 'risk.git_control', effect: 'deny', reason: steersGit, code: 'protected_path' }];
  if (subject.gitNamed === true)
    return [
      raise(
        'risk.protected_path',
        `${relative} is protected: git's configuration here names it, so git runs what it says`,
      ),
    ];
  const fromAbove = (call.above ?? []).flatMap((workspace) => relativeTo(workspace, canonical) ?? []);
  const found = [relative, ...fromAbove].map((one) => protectedBy(one, access, rules.protected)).find(Boolean);
  return found === undefined
    ? []
    : [raise('risk.protected_path', `${relative === '' ? '.' : relative} is protected (${found.glob}): ${found.why}`)];
}

/** A host is known by the list, or by an allow rule that says something about this argument. */
function hostFindings(
  call: CallFacts,
  { host, argument }: Extract<ResolvedSubject, { kind: 'host' }>,
  session: JudgedSession,
  rules: Rules,
): Finding[] {
  if (rules.knownHosts === undefined || rules.knownHosts.some((pattern) => hostMatches(host, pattern))) return [];
  if (allowRulesOn(argument, session, rules).some((rule) => ruleMatches(rule, call))) return [];
  return [raise('risk.unknown_host', `${host} is not among the known hosts`)];
}

const raise = (rule: string, reason: string): Finding => ({
  layer: 'risk',
  rule,
  effect: 'raise',
  reason,
  tier: 'elevated',
});
