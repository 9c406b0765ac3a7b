/** What policy says of shell calls: outside of the sandbox a command must be one that is known to be harmless, or a person is asked. */
import type { Rules } from '../rules.ts';
import type { CallFacts, Finding, JudgedSession } from '../types.ts';

/** Findings for the commands of a call, and the command line to run where it was let through outside of the sandbox. */
export function shellFindings(call: CallFacts, _session: JudgedSession, rules: Rules): { findings: Finding[]; command?: string } {
  const findings = call.subjects.flatMap((subject): Finding[] => {
    if (subject.kind !== 'command') return [];
    if (subject.sandbox && rules.shell.backend === 'sandbox') return [];
    return [{ layer: 'shell', rule: 'shell.outside', effect: 'raise', reason: 'it runs outside of the sandbox', tier: 'elevated' }];
  });
  return { findings };
}
