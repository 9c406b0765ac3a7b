/**
 * What policy says of shell calls. In the sandbox a command runs. Outside of it, what is not known to be harmless asks: under the
 * sandbox backend (`"sandbox": false`) as an elevated call, under the host backend as a system one unless it is dangerous.
 */
import { allowRulesOn, ruleMatches } from '../layers.ts';
import { isOwn, secrets } from '../protected.ts';
import type { Rules } from '../rules.ts';
import type { CallFacts, Finding, JudgedSession, ResolvedSubject, Surroundings } from '../types.ts';
import { classify, type SafeList } from './classify.ts';
import { dangerIn } from './danger.ts';
import { commandReadings } from './forms.ts';
import { type Part, plainLine, rebuilt } from './plain.ts';

type CommandSubject = Extract<ResolvedSubject, { kind: 'command' }>;

/** What is known of a command outside of the sandbox. */
type Known = { harmless: true; rule: string; reason: string; command?: string } | { harmless: false; reason: string };

/** Findings for the commands of a call, and the command line to run where it was let through outside of the sandbox. */
export function shellFindings(
  call: CallFacts,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): { findings: Finding[]; command?: string } {
  const findings: Finding[] = [];
  let command: string | undefined;
  for (const subject of call.subjects) {
    if (subject.kind !== 'command') continue;
    if (subject.sandbox && rules.shell.backend === 'sandbox') {
      findings.push({ layer: 'shell', rule: 'shell.sandbox', effect: 'none', reason: 'it runs in the sandbox' });
    } else {
      const outside = outsideFindings(call, subject, session, rules, surroundings);
      findings.push(...outside.findings);
      command = outside.command;
    }
    if (rules.shell.approval === 'always') {
      findings.push({
        layer: 'approval',
        rule: 'approval.always',
        effect: 'ask',
        reason: 'every shell call needs an approval (shell.approval)',
      });
    }
  }
  return { findings, ...(command !== undefined && { command }) };
}

function outsideFindings(
  call: CallFacts,
  subject: CommandSubject,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): { findings: Finding[]; command?: string } {
  const { backend, security, approval } = rules.shell;
  const known = knowledge(call, subject, session, rules, surroundings);
  if (known.harmless) {
    const finding: Finding = { layer: 'shell', rule: known.rule, effect: 'allow', reason: known.reason };
    return { findings: [finding], ...(known.command !== undefined && { command: known.command }) };
  }
  const { reason } = known;
  if (backend === 'sandbox') {
    return {
      findings: [
        {
          layer: 'shell',
          rule: 'shell.outside',
          effect: 'raise',
          reason: `it runs outside of the sandbox, and ${reason}`,
          tier: 'elevated',
        },
      ],
    };
  }
  if (security === 'full') {
    return {
      findings: [
        {
          layer: 'shell',
          rule: 'shell.full',
          effect: 'allow',
          reason: 'shell.security is full: what no rule denies runs',
        },
      ],
    };
  }
  const readings = commandReadings(call, subject.argument);
  // What was not parsed may be dangerous.
  const danger =
    dangerIn(readings, subject.command) ??
    (readings.cut ? 'it is too long or too deeply nested to be read' : undefined);
  if (danger !== undefined) {
    return {
      findings: [{ layer: 'shell', rule: 'shell.dangerous', effect: 'raise', reason: danger, tier: 'elevated' }],
    };
  }
  const rule = security === 'paranoid' ? 'shell.paranoid' : 'shell.unlisted';
  if (approval !== 'auto') return { findings: [{ layer: 'shell', rule, effect: 'ask', reason }] };
  return {
    findings: [
      { layer: 'shell', rule, effect: 'none', reason },
      {
        layer: 'approval',
        rule: 'approval.auto',
        effect: 'allow',
        reason: `approved by itself (shell.approval is auto), though ${reason}`,
      },
    ],
  };
}

/** Is the command one that a rule names or that is known to be harmless? */
function knowledge(
  call: CallFacts,
  subject: CommandSubject,
  session: JudgedSession,
  rules: Rules,
  surroundings: Surroundings,
): Known {
  const { security, safeBins: bins } = rules.shell;
  const surrounding = oddSurrounding(subject);
  if (surrounding !== undefined) return { harmless: false, reason: surrounding };
  const line = plainLine(subject.command, rules.shell);
  const named = namedByRule(call, subject, session, rules, line.plain ? line.parts : undefined);
  if (named !== undefined) return { harmless: true, ...named, ...(line.plain && { command: rebuilt(line.parts) }) };
  if (security === 'paranoid')
    return { harmless: false, reason: 'no rule names this exact command (shell.security is paranoid)' };
  if (!line.plain) return { harmless: false, reason: line.why };
  return safeLine(line.parts, subject, { bins, limits: rules.shell }, surroundings);
}

/** Variables and folders change what a harmless command does. */
function oddSurrounding({ env, cwdInside, cwd }: CommandSubject): string | undefined {
  const [variable] = Object.keys(env);
  if (variable !== undefined) return `it sets the variable ${variable}`;
  return cwdInside ? undefined : `it runs in ${cwd}, outside of the workspace`;
}

function safeLine(
  parts: readonly Part[],
  subject: CommandSubject,
  list: SafeList,
  { protectedPaths }: Surroundings,
): Known {
  const judged: Part[] = [];
  for (const part of parts) {
    const one = classify(part.argv, list);
    if (!one.safe) return { harmless: false, reason: one.why };
    const odd = one.files.find((file) => !isOwnFile(subject, file, protectedPaths));
    if (odd !== undefined) return { harmless: false, reason: `${odd} is not known to lie in the workspace` };
    judged.push({ ...part, argv: one.argv });
  }
  return {
    harmless: true,
    rule: 'shell.safe_bin',
    reason: 'every command in it is known to be harmless',
    command: rebuilt(judged),
  };
}

function isOwnFile({ operands }: CommandSubject, file: string, protectedPaths: readonly string[]): boolean {
  const resolved = operands !== undefined && Object.hasOwn(operands, file) ? operands[file] : undefined;
  return resolved !== undefined && resolved.inside && !isOwn(resolved.canonical, 'delete', secrets(protectedPaths));
}

/**
 * The allow rule that names this command: exactly as written, or (unless paranoid) by globs that every simple command of a plain
 * line matches. A rule that says nothing about the command does not name it.
 */
function namedByRule(
  call: CallFacts,
  subject: CommandSubject,
  session: JudgedSession,
  rules: Rules,
  parts: readonly Part[] | undefined,
): { rule: string; reason: string } | undefined {
  // Made once for all rules: what is read of a command is remembered by its subject.
  const singles = (parts ?? []).map((part) => withCommand(call, subject, part.argv.join(' ')));
  for (const one of allowRulesOn(subject.argument, session, rules)) {
    const exact = 'exact' in (one.rule.when?.[subject.argument] ?? {});
    if (!exact && (rules.shell.security === 'paranoid' || parts === undefined)) continue;
    if ((exact ? [call] : singles).every((single) => ruleMatches(one, single))) {
      return { rule: one.name, reason: one.rule.reason ?? 'a rule allows this command' };
    }
  }
  return undefined;
}

/** The same call with another command, to ask a rule about one simple command of it. */
function withCommand(call: CallFacts, subject: CommandSubject, command: string): CallFacts {
  return {
    ...call,
    arguments: { ...call.arguments, [subject.argument]: command },
    subjects: call.subjects.map((one) => (one === subject ? { ...subject, command, single: true as const } : one)),
  };
}
