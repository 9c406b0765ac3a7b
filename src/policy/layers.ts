/** The nine layers of configured rules, in their order. Each can only narrow what those before it left. */
import { type Layer, speakersFor } from './scopes.ts';
import { senseOf } from './patterns.ts';
import type { CompiledRule, CompiledSection, Rules } from './rules.ts';
import type { Finding, CallFacts, JudgedSession, ToolFacts } from './types.ts';

/** What the nine layers say of a tool by its name alone; used for calls and for what is offered to a model. */
export function judgeTool(tool: ToolFacts, session: JudgedSession, rules: Rules): Finding[] {
  return speakersFor(session, rules).flatMap(({ layer, section, part }) => [
    ...(part === 'lists' ? [] : profileFinding(layer, tool, section)),
    ...(part === 'profile' ? [] : listFindings(layer, tool, section)),
  ]);
}

/** What the argument rules of the nine layers say of a call, strictest first within each section. */
export function judgeArguments(call: CallFacts, session: JudgedSession, rules: Rules): Finding[] {
  return speakersFor(session, rules)
    .filter(({ part }) => part !== 'profile')
    .flatMap(({ layer, section }) => ruleFindings(layer, call, section));
}

function profileFinding(layer: Layer, tool: ToolFacts, { path, profile }: CompiledSection): Finding[] {
  if (profile === undefined) return [];
  const rule = `${place(path)}profile "${profile.name}"`;
  const entry = profile.tools.permits(tool);
  if (entry === undefined) return [deny(layer, rule, `the profile ${profile.name} does not have ${tool.name}`)];
  return [
    {
      layer,
      rule,
      effect: 'allow',
      reason: `the profile ${profile.name} has ${tool.name}${entry === tool.name ? '' : ` (${entry})`}`,
    },
  ];
}

function listFindings(layer: Layer, tool: ToolFacts, section: CompiledSection): Finding[] {
  const out: Finding[] = [];
  const at = place(section.path);
  const denied = section.deny?.restricts(tool);
  if (denied !== undefined) out.push(deny(layer, `${at}deny "${denied}"`, `${tool.name} is denied`));
  if (section.allow !== undefined) {
    const allowed = section.allow.permits(tool);
    if (allowed === undefined) out.push(deny(layer, `${at}allow`, `${tool.name} is not on the allow list`));
    else
      out.push({
        layer,
        rule: `${at}allow "${allowed}"`,
        effect: 'allow',
        reason: `${tool.name} is on the allow list`,
      });
  }
  const asked = section.ask?.restricts(tool);
  if (asked !== undefined)
    out.push({ layer, rule: `${at}ask "${asked}"`, effect: 'ask', reason: `${tool.name} needs an approval here` });
  return out;
}

const STRICTNESS = { deny: 0, ask: 1, allow: 2 } as const;

function ruleFindings(layer: Layer, call: CallFacts, section: CompiledSection): Finding[] {
  return section.rules
    .filter((one) => ruleMatches(one, call))
    .sort((a, b) => STRICTNESS[a.rule.effect] - STRICTNESS[b.rule.effect])
    .map(({ name, rule }) => {
      const reason = rule.reason ?? `a rule for ${rule.tool} says ${rule.effect}`;
      return rule.effect === 'deny' ? deny(layer, name, reason) : { layer, rule: name, effect: rule.effect, reason };
    });
}

/** Allow rules that count and say something about one argument, in the order of the layers; whether they match is still to be asked. */
export function allowRulesOn(argument: string, session: JudgedSession, rules: Rules): CompiledRule[] {
  return speakersFor(session, rules)
    .flatMap(({ section, part, permits }) => (part === 'profile' || !permits ? [] : section.rules))
    .filter(({ rule }) => rule.effect === 'allow' && Object.hasOwn(rule.when ?? {}, argument));
}

export function ruleMatches({ tool, patterns, rule }: CompiledRule, call: CallFacts): boolean {
  const sense = senseOf(rule.effect);
  const named = sense === 'permit' ? tool.permits(call.tool) : tool.restricts(call.tool);
  return named !== undefined && patterns.every((matches) => matches(call, sense));
}

const place = (path: string): string => (path === '' ? '' : `${path}.`);
const deny = (layer: string, rule: string, reason: string): Finding => ({
  layer,
  rule,
  effect: 'deny',
  reason,
  code: 'policy_denied',
});
