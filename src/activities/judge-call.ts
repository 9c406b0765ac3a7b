/** One call, found, validated and judged: the same for preparation, execution and edited arguments. */
import { redact } from '../approval/redact.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { callError } from '../protocol/errors.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { CallError, Judgement } from '../protocol/outcome.ts';
import { type ResolvedSubject, argumentsOverLimit, fileOperands, judge } from '../policy/index.ts';
import { resolveSubjects } from '../context/index.ts';
import type { Tool } from '../tools/define-tool.ts';
import { schemaOf, validateArguments } from '../tools/validate.ts';
import type { Dependencies } from './dependencies.ts';
import type { KnownSession } from './session-reader.ts';
import { toCallError } from './failure.ts';

export type Judged =
  | { ok: true; tool: Tool; arguments: JsonObject; judgement: Judgement; subjects: readonly ResolvedSubject[] }
  | { ok: false; error: CallError };

export async function judgeCall(
  { catalogue, settings, surroundings }: Pick<Dependencies, 'catalogue' | 'settings' | 'surroundings'>,
  { facts, above, state }: KnownSession,
  call: { tool: string; arguments: JsonObject },
): Promise<Judged> {
  if (state !== 'open') return refuse('session_closed', `Session ${facts.id} is ${state}; it takes no more calls.`);
  const tool = catalogue.get(call.tool);
  if (!tool) return refuse('unknown_tool', unknownTool(call.tool, catalogue.nearest(call.tool)));
  const validated = validateArguments(tool, call.arguments);
  if (!validated.ok) return validated;
  const { config, rules } = settings();
  const over = argumentsOverLimit(validated.arguments, config.limits);
  if (over)
    return {
      ok: false,
      error: { ...callError('invalid_arguments', over.message), field: over.field, schema: schemaOf(tool) },
    };
  try {
    const subjects = await resolveSubjects(tool.subjects(validated.arguments), facts, (command) =>
      fileOperands(command, rules.shell),
    );
    const { name, tier, effect, groups, needs } = tool;
    const callFacts = { tool: { name, tier, effect, groups, needs }, arguments: validated.arguments, subjects };
    const judgement = withoutSecrets(judge(callFacts, { ...facts, above }, rules, surroundings()));
    return { ok: true, tool, arguments: validated.arguments, judgement, subjects };
  } catch (error) {
    return { ok: false, error: toCallError(error, 'policy_failed') };
  }
}

/** Reasons quote the call, and are shown where more people look than decide. Those of argument rules are the configuration's own words. */
function withoutSecrets(judgement: Judgement): Judgement {
  const shown = (rule: string, reason: string): string => (ARGUMENT_RULE.test(rule) ? reason : redact(reason));
  return {
    ...judgement,
    reason: shown(judgement.rule, judgement.reason),
    tierReasons: judgement.tierReasons.map(redact),
    trace: judgement.trace.map((step) => ({ ...step, reason: shown(step.rule, step.reason) })),
  };
}

/** As the policy names them: `rules[0]`, `agents.coder.rules "no secrets"`. */
const ARGUMENT_RULE = /(?:^|\.)rules(?:\[[0-9]+\]| ")/;

/** The error of a call that policy denies. */
export const denial = ({ code, reason, rule }: Judgement): CallError =>
  callError(code ?? 'policy_denied', `${reason} (rule: ${rule})`);

const refuse = (code: ErrorCode, message: string): Judged => ({ ok: false, error: callError(code, message) });

function unknownTool(name: string, nearest: string[]): string {
  const shown = JSON.stringify(name.slice(0, 100));
  const hint = nearest.length > 0 ? `Did you mean ${nearest.join(' or ')}?` : 'List them: countersign tools';
  return `There is no tool ${shown}. ${hint}`;
}
