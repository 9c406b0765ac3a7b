/** May this session have this tool at all? Asked for each call, and for the list that a model is shown. */
import { WORKER_TOOLS } from './catalogue.ts';
import { judgeTool } from './layers.ts';
import { isPlainName, nameList } from './names.ts';
import type { Rules } from './rules.ts';
import type { TraceStep } from '../protocol/outcome.ts';
import type { Finding, JudgedSession, Surroundings, ToolFacts } from './types.ts';

const workerTools = nameList(WORKER_TOOLS);

/** Handles that a worker session's context never has. */
const WORKER_LACKS: readonly string[] = ['writer', 'shell', 'elevated', 'memory_store', 'channel'];

/**
 * Whether a model in this session is offered a tool, and if not, why. Says nothing about single calls, which may still be asked
 * about or denied by their arguments.
 */
export function availability(
  tool: ToolFacts,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): { offered: boolean; reason?: string; trace: TraceStep[] } {
  const findings = availabilityFindings(tool, session, rules, surroundings);
  const trace = findings.map(({ layer, rule, effect, reason }) => ({ layer, rule, effect, reason }));
  const denied = findings.find((finding) => finding.effect === 'deny');
  return denied === undefined ? { offered: true, trace } : { offered: false, reason: denied.reason, trace };
}

/** The layers, then the session's kind, what the tool needs, and its owner. */
export function availabilityFindings(
  tool: ToolFacts,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): Finding[] {
  return [
    ...nameFindings(tool),
    ...judgeTool(tool, session, rules),
    ...kindFindings(tool, session),
    ...needFindings(tool, session, rules, surroundings),
    ...ownerFindings(tool, session, rules),
  ];
}

function nameFindings(tool: ToolFacts): Finding[] {
  if (isPlainName(tool.name)) return [];
  const reason = `${JSON.stringify(tool.name)} is no plain tool name (letters, digits, _ . -)`;
  return [{ layer: 'availability', rule: 'name.plain', effect: 'deny', reason, code: 'tool_unavailable' }];
}

function kindFindings(tool: ToolFacts, session: JudgedSession): Finding[] {
  if (session.kind !== 'worker') return [];
  const rule = 'kind.worker';
  if (workerTools.permits(tool) !== undefined && tool.tier === 'read_only') {
    return [{ layer: 'availability', rule, effect: 'allow', reason: `worker sessions may ${tool.name}` }];
  }
  const reason = `a worker session only reads and searches; it has no ${tool.name}`;
  return [{ layer: 'availability', rule, effect: 'deny', reason, code: 'tool_unavailable' }];
}

function needFindings(
  tool: ToolFacts,
  session: JudgedSession,
  rules: Rules,
  { available, missing }: Surroundings,
): Finding[] {
  const out: Finding[] = [];
  if (rules.shell.backend === 'disabled' && tool.needs.includes('shell')) {
    const reason = 'shell is disabled in the configuration (shell.backend)';
    out.push({ layer: 'availability', rule: 'shell.backend', effect: 'deny', reason, code: 'tool_unavailable' });
  }
  for (const need of tool.needs) {
    if (session.kind === 'worker' && WORKER_LACKS.includes(need)) {
      const reason = `${tool.name} needs ${need}, which a worker session does not have`;
      out.push({ layer: 'availability', rule: `needs.${need}`, effect: 'deny', reason, code: 'missing_capability' });
    } else if (!available.has(need)) {
      const why = Object.hasOwn(missing, need) ? missing[need] : `this worker has no ${need}`;
      out.push({
        layer: 'availability',
        rule: `needs.${need}`,
        effect: 'deny',
        reason: `${tool.name} is not available: ${why}`,
        code: 'tool_unavailable',
      });
    }
  }
  return out;
}

function ownerFindings(tool: ToolFacts, session: JudgedSession, rules: Rules): Finding[] {
  const entry = rules.ownerOnly?.restricts(tool);
  if (entry === undefined) return [];
  const rule = `ownerOnly "${entry}"`;
  if (session.owner !== undefined && rules.owners.has(session.owner)) {
    return [{ layer: 'owner', rule, effect: 'allow', reason: `${session.owner} is a declared owner` }];
  }
  const who =
    session.owner === undefined ? 'this session acts for no known sender' : `${session.owner} is no declared owner`;
  return [
    { layer: 'owner', rule, effect: 'deny', reason: `${tool.name} is for owners only; ${who}`, code: 'policy_denied' },
  ];
}
