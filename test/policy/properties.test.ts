import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallFacts,
  compileRules,
  judge,
  type PolicySection,
  type PolicySettings,
} from '../../src/policy/index.ts';
import { SESSION_KINDS } from '../../src/protocol/session.ts';
import { fileCall, session, shellCall, surroundings, tool } from './support.ts';

const NAMES = [
  'read',
  'write',
  'edit',
  'delete',
  'list',
  'search',
  'shell',
  'message',
  'group:fs',
  'group:runtime',
  'group:core',
  '*',
  'w*',
  'group:*',
  'mcp__*',
];
const STRICT = { run: 0, ask: 1, deny: 2 } as const;

const list = fc.option(fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }), { nil: undefined });
const rule = fc.record({
  tool: fc.constantFrom(...NAMES),
  effect: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
  when: fc.option(
    fc.constantFrom(
      { path: { under: 'src' } },
      { path: { glob: '**/*.ts' } },
      { command: { glob: 'npm *' } },
      { command: { exact: 'ls' } },
    ),
    { nil: undefined },
  ),
});
const profile = fc.option(
  fc.constantFrom('minimal' as const, 'coding' as const, 'messaging' as const, 'full' as const),
  { nil: undefined },
);
const section: fc.Arbitrary<PolicySection> = fc.record({
  profile,
  allow: list,
  ask: list,
  deny: list,
  alsoAllow: list,
  rules: fc.array(rule, { maxLength: 2 }),
});
const shell = fc.record({
  backend: fc.constantFrom('sandbox' as const, 'host' as const, 'disabled' as const),
  security: fc.constantFrom('safe-bin' as const, 'paranoid' as const, 'full' as const),
  approval: fc.constantFrom('auto' as const, 'smart' as const, 'always' as const),
});
const maybe = fc.option(section, { nil: undefined });
const settings: fc.Arbitrary<PolicySettings> = fc
  .record({
    top: section,
    provider: maybe,
    agent: maybe,
    agentProvider: maybe,
    agentSub: maybe,
    channel: maybe,
    conversation: maybe,
    sandbox: maybe,
    subAgents: maybe,
    shell,
  })
  .map(
    ({
      top,
      provider,
      agent,
      agentProvider,
      agentSub,
      channel,
      conversation,
      sandbox,
      subAgents,
      shell: shellSettings,
    }) => ({
      ...top,
      shell: shellSettings,
      ...(provider && { providers: { openai: provider } }),
      agents: {
        coder: {
          ...agent,
          ...(agentProvider && { providers: { openai: agentProvider } }),
          ...(agentSub && { subAgents: agentSub }),
        },
      },
      ...(channel && { channels: { ops: channel } }),
      ...(conversation && { conversations: { room: conversation } }),
      ...(sandbox && { sandbox }),
      ...(subAgents && { subAgents }),
    }),
  );

const sessions = fc.record({
  kind: fc.constantFrom(...SESSION_KINDS),
  depth: fc.nat(2),
  agent: fc.constantFrom('coder', 'default'),
  provider: fc.constantFrom('openai', 'other'),
  group: fc.constantFrom('room', 'hall'),
});
const call: fc.Arbitrary<CallFacts> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('src/a.ts', '../x', '.git/config', '/tmp/x', 'README.md'),
      fc.constantFrom(['read', 'read'], ['write', 'write'], ['delete', 'delete'] as const),
    )
    .map(([path, [name, access]]) => fileCall(name ?? '', path, access as 'read')),
  fc
    .tuple(fc.constantFrom('ls', 'npm test', 'rm -rf /', 'a > b', 'npm x; npm y'), fc.boolean())
    .map(([command, sandbox]) => shellCall(command, { sandbox })),
  fc.constantFrom('message', 'mcp__x__y').map((name) => ({ tool: tool(name), arguments: {}, subjects: [] })),
);
// A loaded machine makes fewer runs, not a failure.
const RUNS = { numRuns: 1_000, interruptAfterTimeLimit: 15_000 };
const judged = (facts: CallFacts, of: PolicySettings, who: object) =>
  judge(facts, session({ ...who, channel: 'ops' }), compileRules(of), surroundings);

/** Something more that may be said in any section; none of it can let more through. */
const narrowing: fc.Arbitrary<(before: PolicySection) => PolicySection> = fc.oneof(
  fc
    .constantFrom(...NAMES)
    .map((name) => (before: PolicySection) => ({ ...before, deny: [...(before.deny ?? []), name] })),
  fc
    .constantFrom(...NAMES)
    .map((name) => (before: PolicySection) => ({ ...before, ask: [...(before.ask ?? []), name] })),
  fc.nat(3).map((keep) => (before: PolicySection) => ({
    ...before,
    allow: before.allow === undefined ? ['read'] : before.allow.slice(0, keep),
  })),
  rule
    .filter(({ effect }) => effect !== 'allow')
    .map((one) => (before: PolicySection) => ({ ...before, rules: [...(before.rules ?? []), one] })),
);
const place = fc.constantFrom('top', 'providers', 'agents', 'channels', 'conversations', 'sandbox', 'subAgents');

function narrowed(
  before: PolicySettings,
  where: string,
  narrow: (section: PolicySection) => PolicySection,
): PolicySettings {
  switch (where) {
    case 'providers':
      return { ...before, providers: { ...before.providers, openai: narrow(before.providers?.['openai'] ?? {}) } };
    case 'agents':
      return {
        ...before,
        agents: { ...before.agents, coder: { ...before.agents?.['coder'], ...narrow(before.agents?.['coder'] ?? {}) } },
      };
    case 'channels':
      return { ...before, channels: { ...before.channels, ops: narrow(before.channels?.['ops'] ?? {}) } };
    case 'conversations':
      return {
        ...before,
        conversations: { ...before.conversations, room: narrow(before.conversations?.['room'] ?? {}) },
      };
    case 'sandbox':
      return { ...before, sandbox: narrow(before.sandbox ?? {}) };
    case 'subAgents':
      return { ...before, subAgents: narrow(before.subAgents ?? {}) };
    default:
      return { ...before, ...narrow(before) };
  }
}

describe('whatever is configured', () => {
  it('the last line of the trace is the verdict', () => {
    fc.assert(
      fc.property(call, settings, sessions, (facts, of, who) => {
        const { verdict, rule: deciding, reason, trace } = judged(facts, of, who);
        expect(trace.at(-1)).toEqual({
          layer: 'verdict',
          rule: deciding,
          effect: verdict === 'run' ? 'allow' : verdict,
          reason,
        });
        expect(trace.filter(({ layer }) => layer === 'verdict')).toHaveLength(1);
        expect(trace.slice(0, -1).some((step) => step.rule === deciding)).toBe(true);
      }),
      RUNS,
    );
  });

  it('deny wins, then ask', () => {
    fc.assert(
      fc.property(call, settings, sessions, (facts, of, who) => {
        const { verdict, trace, tier } = judged(facts, of, who);
        const effects = trace.slice(0, -1).map(({ effect }) => effect);
        if (effects.includes('deny')) expect(verdict).toBe('deny');
        else if (effects.includes('ask') || tier === 'elevated') expect(verdict).toBe('ask');
        else expect(verdict).toBe('run');
      }),
      RUNS,
    );
  });

  it('saying more in any layer never lets more through', () => {
    fc.assert(
      fc.property(call, settings, sessions, place, narrowing, (facts, of, who, where, narrow) => {
        const before = judged(facts, of, who);
        const after = judged(facts, narrowed(of, where, narrow), who);
        expect(STRICT[after.verdict]).toBeGreaterThanOrEqual(STRICT[before.verdict]);
      }),
      { ...RUNS, numRuns: 3_000 },
    );
  });

  it('adding a whole section never lets more through, unless it names a command', () => {
    const quiet = section.map(({ rules = [], ...rest }) => ({
      ...rest,
      rules: rules.filter(({ effect }) => effect !== 'allow'),
    }));
    fc.assert(
      fc.property(
        call,
        settings,
        sessions,
        quiet,
        fc.constantFrom('sandbox', 'subAgents'),
        (facts, of, who, added, where) => {
          const { [where as 'sandbox']: _, ...without } = of;
          expect(STRICT[judged(facts, { ...without, [where]: added }, who).verdict]).toBeGreaterThanOrEqual(
            STRICT[judged(facts, without, who).verdict],
          );
        },
      ),
      RUNS,
    );
  });

  it('the call’s tier is never below its tool’s', () => {
    const order = ['read_only', 'workspace', 'system', 'elevated'];
    fc.assert(
      fc.property(call, settings, sessions, (facts, of, who) => {
        const { tier, tierReasons } = judged(facts, of, who);
        expect(order.indexOf(tier)).toBeGreaterThanOrEqual(order.indexOf(facts.tool.tier));
        expect(tierReasons.length > 0).toBe(tier !== facts.tool.tier);
      }),
      RUNS,
    );
  });

  it('no variant of a denied name gets through', () => {
    const odd = fc.constantFrom(' ', '\t', '\n', '\u200b', '\u00a0', '\u0301', '\ufeff', '\u00ad', '\u202e', '\u2060');
    const looks: Record<string, string[]> = {
      s: ['ѕ', 'ｓ', 'ſ', 'S', 'ʂ'],
      h: ['һ', 'ｈ', 'H', 'ℎ'],
      e: ['е', 'é', 'E', 'ｅ', '℮'],
      l: ['ⅼ', 'ⅰ', 'L', 'ｌ', 'ӏ'],
    };
    const variant = fc
      .tuple(
        fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { maxLength: 3 }),
        fc.option(fc.tuple(fc.nat(5), odd), { nil: undefined }),
      )
      .map(([swaps, insert]) => {
        const letters = [...'shell'];
        for (const [at, which] of swaps) letters[at] = looks['shell'[at] ?? '']?.[which] ?? letters[at] ?? '';
        if (insert !== undefined) letters.splice(insert[0], 0, insert[1]);
        return letters.join('');
      });
    fc.assert(
      fc.property(variant, (name) => {
        const facts = { tool: tool(name, { needs: [] }), arguments: {}, subjects: [] };
        expect(judge(facts, session(), compileRules({ deny: ['shell'] }), surroundings).verdict).toBe('deny');
      }),
      RUNS,
    );
  });
});
