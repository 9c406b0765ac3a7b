/** `countersign doctor`: what this machine has of what is needed, and how to get the rest. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { withSpinner } from '../render/spinner.ts';

const EXAMPLES = `
countersign doctor
countersign doctor --json | jq '.checks[] | select(.ok | not)'
countersign doctor --json | jq -e .ok           for scripts: fails where a check does

Exit status 0 says that it looked, whatever it found.`;

export function command(ended: Ended): Command {
  return onAction(
    defineCommand('doctor', 'Says what this machine has, what is missing, and how to get it.', EXAMPLES),
    ended,
    run,
  );
}

async function run({ json }: Common): Promise<void> {
  const { doctor } = await import('../../server/doctor.ts');
  const checks = await withSpinner('look', () => doctor());
  if (json) return printJson({ ok: checks.every(({ ok }) => ok), checks });
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, ok, found, hint } of checks) {
    print(`${ok ? paint('green', '✓') : paint('red', '✗')} ${name.padEnd(width)}  ${safeLine(found)}`);
    for (const line of hint?.split('\n') ?? []) print(`  ${' '.repeat(width)}  ${safeLine(line)}`);
  }
}
