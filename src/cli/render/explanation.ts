/** What policy makes of a call, for people. */
import type { TraceStep } from '../../protocol/outcome.ts';
import { paint } from '../io/output.ts';
import type { Explanation } from '../../protocol/outcome.ts';
import { safeLine, safeText } from '../../approval/render/safe-text.ts';

const COLOURS = {
  run: 'green',
  ask: 'yellow',
  deny: 'red',
  invalid: 'red',
  allow: 'green',
  raise: 'yellow',
  none: 'dim',
} as const;
const MEANING = {
  run: 'it would run',
  ask: 'a person would be asked',
  deny: 'it would be refused',
  invalid: 'it would be sent back for other arguments',
} as const;

/** One line for each rule that had something to say. */
export function explanationSteps(trace: readonly TraceStep[]): string[] {
  const layers = Math.max(0, ...trace.map(({ layer }) => layer.length));
  return trace
    .filter(({ layer }) => layer !== 'verdict')
    .map(
      ({ layer, effect, rule, reason }) =>
        `${paint('dim', layer.padEnd(layers))}  ${paint(COLOURS[effect], effect.padEnd(5))}  ${safeLine(rule)}: ${safeLine(reason)}`,
    );
}

export function explanationText(tool: string, { verdict, tier, tierReasons, rule, trace, error }: Explanation): string {
  const steps = explanationSteps(trace).map((step) => `  ${step}`);
  return [
    `${paint([COLOURS[verdict], 'bold'], verdict)}  ${safeLine(tool)}  ${paint('dim', MEANING[verdict])}`,
    ...(rule === null ? [] : [`  decided by ${safeLine(rule)}`]),
    ...(tier === null
      ? []
      : [`  tier ${tier}${tierReasons.length === 0 ? '' : `: ${safeLine(tierReasons.join('; '))}`}`]),
    ...(error
      ? [
          `  ${paint('red', error.code)}${error.field ? ` at ${safeLine(error.field)}` : ''}: ${safeText(error.message)}`,
        ]
      : []),
    ...(steps.length === 0 ? [] : ['', ...steps]),
  ].join('\n');
}
