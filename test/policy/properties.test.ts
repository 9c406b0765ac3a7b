import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallFacts,
  compileRules,
  judge,
  type JudgedSession,
  type PolicySection,
  type PolicySettings,
} from '../../src/policy/index.ts';
import { fileCall, hostCall, session, shellCall, surroundings, tool } from './support.ts';

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
      { cwd: { under: 'src' } },
      { url: { host: 'example.org' } },
      { url: { host: '*' } },
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
const hosts = fc.subarray(['example.org', '*.example.com', 'x.example.com']);
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
    knownHosts: fc.option(hosts, { nil: undefined }),
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
      knownHosts,
    }) => ({
      ...top,
      shell: shellSettings,
      ...(knownHosts && { knownHosts }),
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

const facts = fc.record({
  agent: fc.constantFrom('coder', 'default'),
  provider: fc.constantFrom('openai', 'other'),
  group: fc.constantFrom('room', 'hall'),
});
/** A main session or one below it, with all that stand above. */
const sessions: fc.Arbitrary<JudgedSession> = fc
  .tuple(
    facts,
    fc.array(facts, { maxLength: 2 }),
    fc.constantFrom('branch' as const, 'branch' as const, 'worker' as const),
  )
  .map(([main, below, last]) =>
    below.reduce<JudgedSession>(
      ({ above = [], ...parent }, one, index) =>
        session({
          ...one,
          kind: index === below.length - 1 ? last : 'branch',
          depth: index + 1,
          channel: null,
          above: [parent, ...above],
        }),
      session({ ...main, channel: 'ops' }),
    ),
  );
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
  fc.constantFrom('example.org', 'x.example.com', 'elsewhere.net').map((host) => hostCall(host)),
  fc.constantFrom('message', 'mcp__x__y').map((name) => ({ tool: tool(name), arguments: {}, subjects: [] })),
);
// A loaded machine makes fewer runs, not a failure.
const RUNS = { numRuns: 1_000, interruptAfterTimeLimit: 15_000 };
const judged = (of: PolicySettings, about: CallFacts, who: JudgedSession) =>
  judge(about, who, compileRules(of), surroundings);
const strictness = (...[of, about, who]: Parameters<typeof judged>): number => STRICT[judged(of, about, who).verdict];

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
  // Of the profiles only the full one has all that another has.
  profile.map((name) => (before: PolicySection) => ({
    ...before,
    profile: (before.profile ?? 'full') === 'full' ? name : before.profile,
  })),
);

/** Where a section may stand, and how what stands there is changed. */
const PLACES: Record<
  string,
  (before: PolicySettings, change: (section: PolicySection) => PolicySection) => PolicySettings
> = {
  top: (before, change) => ({ ...before, ...change(before) }),
  providers: (before, change) => ({ ...before, providers: { openai: change(before.providers?.['openai'] ?? {}) } }),
  agents: (before, change) => {
    const { providers, subAgents, ...section } = before.agents?.['coder'] ?? {};
    return { ...before, agents: { coder: { providers, subAgents, ...change(section) } } };
  },
  'agents by provider': (before, change) => {
    const coder = before.agents?.['coder'];
    return {
      ...before,
      agents: { coder: { ...coder, providers: { openai: change(coder?.providers?.['openai'] ?? {}) } } },
    };
  },
  'sub-agents of agents': (before, change) => {
    const coder = before.agents?.['coder'];
    return { ...before, agents: { coder: { ...coder, subAgents: change(coder?.subAgents ?? {}) } } };
  },
  channels: (before, change) => ({ ...before, channels: { ops: change(before.channels?.['ops'] ?? {}) } }),
  conversations: (before, change) => ({
    ...before,
    conversations: { room: change(before.conversations?.['room'] ?? {}) },
  }),
  sandbox: (before, change) => ({ ...before, sandbox: change(before.sandbox ?? {}) }),
  subAgents: (before, change) => ({ ...before, subAgents: change(before.subAgents ?? {}) }),
};
const place = fc.constantFrom(...Object.values(PLACES));

describe('whatever is configured', () => {
  it('the last line of the trace is the verdict', () => {
    fc.assert(
      fc.property(settings, call, sessions, (of, about, who) => {
        const { verdict, rule: deciding, reason, trace } = judged(of, about, who);
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
      fc.property(settings, call, sessions, (of, about, who) => {
        const { verdict, trace, tier } = judged(of, about, who);
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
      fc.property(settings, call, sessions, place, narrowing, (of, about, who, at, narrow) => {
        expect(strictness(at(of, narrow), about, who)).toBeGreaterThanOrEqual(strictness(of, about, who));
      }),
      { ...RUNS, numRuns: 3_000 },
    );
  });

  it('adding a whole section never lets more through, unless it names a command or host', () => {
    const { top: _, ...inner } = PLACES;
    const quiet = section.map(({ rules = [], ...rest }) => ({
      ...rest,
      rules: rules.filter(({ effect }) => effect !== 'allow'),
    }));
    fc.assert(
      fc.property(
        settings,
        call,
        sessions,
        quiet,
        fc.constantFrom(...Object.values(inner)),
        (of, about, who, added, at) => {
          const without = at(of, () => ({}));
          expect(
            strictness(
              at(without, () => added),
              about,
              who,
            ),
          ).toBeGreaterThanOrEqual(strictness(without, about, who));
        },
      ),
      RUNS,
    );
  });

  it('knowing fewer hosts never lets more through', () => {
    fc.assert(
      fc.property(settings, call, sessions, hosts, (of, about, who, fewer) => {
        const kept = { ...of, knownHosts: fewer.filter((host) => of.knownHosts?.includes(host) ?? true) };
        expect(strictness(kept, about, who)).toBeGreaterThanOrEqual(strictness(of, about, who));
      }),
      RUNS,
    );
  });

  it('a child may do nothing that the session above it may not', () => {
    const permit = fc
      .constantFrom({ command: { glob: 'npm *' } }, { url: { host: 'example.org' } })
      .map((when) => ({ rules: [{ tool: '*', effect: 'allow' as const, when }] }));
    const outside = fc.constantFrom(
      shellCall('npm test', { sandbox: false }),
      shellCall('npm x; npm y', { sandbox: false }),
      hostCall('example.org'),
    );
    fc.assert(
      fc.property(
        fc.oneof(settings, fc.constant<PolicySettings>({ knownHosts: [] })),
        place,
        permit,
        fc.oneof(call, outside, outside),
        sessions.filter(({ above }) => above !== undefined),
        (before, at, said, about, who) => {
          const of = at(before, (section) => ({ ...section, ...said }));
          const [parent = who, ...above] = who.above ?? [];
          expect(strictness(of, about, who)).toBeGreaterThanOrEqual(strictness(of, about, { ...parent, above }));
        },
      ),
      RUNS,
    );
  });

  it('the call’s tier is never below its tool’s', () => {
    const order = ['read_only', 'workspace', 'system', 'elevated'];
    fc.assert(
      fc.property(settings, call, sessions, (of, about, who) => {
        const { tier, tierReasons } = judged(of, about, who);
        expect(order.indexOf(tier)).toBeGreaterThanOrEqual(order.indexOf(about.tool.tier));
        expect(tierReasons.length > 0).toBe(tier !== about.tool.tier);
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
