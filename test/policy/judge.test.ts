import { describe, expect, it } from 'vitest';
import { availability, defaultRules, judge, type Surroundings } from '../../src/policy/index.ts';
import { fileCall, rulesOf, session, shellCall, surroundings, tool, verdict } from './support.ts';

const plain = (name: string, facts = {}) => ({ tool: tool(name, facts), arguments: {}, subjects: [] });

describe('tiers', () => {
  it.each([
    ['read_only', 'run'],
    ['workspace', 'run'],
    ['system', 'run'],
    ['elevated', 'ask'],
  ] as const)('%s calls: %s', (tier, expected) => {
    expect(judge(plain('some', { tier }), session(), defaultRules(), surroundings)).toMatchObject({
      verdict: expected,
      rule: `tier.${tier}`,
      tier,
      tierReasons: [],
    });
  });

  it('explains a plain call in full', () => {
    expect(judge(fileCall('write', 'a', 'write'), session(), defaultRules(), surroundings)).toEqual({
      verdict: 'run',
      tier: 'workspace',
      rule: 'tier.workspace',
      reason: 'workspace calls run without asking',
      trace: [
        { layer: 'profile', rule: 'profile "full"', effect: 'allow', reason: 'the profile full has write (*)' },
        { layer: 'tier', rule: 'tier.workspace', effect: 'allow', reason: 'workspace calls run without asking' },
        { layer: 'verdict', rule: 'tier.workspace', effect: 'allow', reason: 'workspace calls run without asking' },
      ],
      tierReasons: [],
      policy: defaultRules().hash,
    });
  });

  it('restricts system calls by layer', () => {
    const rules = rulesOf({
      agents: { junior: { ask: ['shell'] } },
      channels: { public: { deny: ['group:runtime'] } },
    });
    expect(verdict(shellCall('ls'), rules)).toBe('run tier.system');
    expect(verdict(shellCall('ls'), rules, { agent: 'junior' })).toBe('ask agents.junior.ask "shell"');
    expect(verdict(shellCall('ls'), rules, { channel: 'public' })).toBe('deny channels.public.deny "group:runtime"');
  });
});

describe('session kinds', () => {
  const worker = { kind: 'worker', depth: 1, channel: null } as const;

  it.each(['read', 'list', 'stat', 'search', 'memory_search', 'web_search'])('a worker may %s', (name) => {
    expect(verdict(plain(name), defaultRules(), worker)).toBe('run tier.read_only');
  });

  it.each(['write', 'edit', 'delete', 'shell', 'message', 'memory_store', 'session_spawn', 'mcp__x__read', 'anything'])(
    'a worker may not %s',
    (name) => {
      expect(verdict(plain(name), defaultRules(), worker)).toBe('deny kind.worker');
      expect(judge(plain(name), session(worker), defaultRules(), surroundings).code).toBe('tool_unavailable');
    },
  );

  it('keeps a tool that only takes a read tool’s name from a worker', () => {
    expect(verdict(plain('read', { tier: 'workspace' }), defaultRules(), worker)).toBe('deny kind.worker');
    expect(judge(plain('read', { needs: ['writer'] }), session(worker), defaultRules(), surroundings)).toMatchObject({
      verdict: 'deny',
      code: 'missing_capability',
    });
  });

  it('gives main and branch sessions all tools', () => {
    for (const kind of ['main', 'branch'] as const)
      expect(verdict(fileCall('write', 'a', 'write'), defaultRules(), { kind })).toBe('run tier.workspace');
  });
});

describe('availability', () => {
  it('offers what the rules let through', () => {
    expect(availability(tool('read'), session(), defaultRules(), surroundings).offered).toBe(true);
  });

  it('says what is missing and why', () => {
    const answer = availability(tool('web_fetch'), session(), defaultRules(), surroundings);
    expect(answer).toMatchObject({
      offered: false,
      reason: 'web_fetch is not available: no search provider is configured',
    });
    expect(judge(plain('web_fetch'), session(), defaultRules(), surroundings)).toMatchObject({
      verdict: 'deny',
      rule: 'needs.web',
      code: 'tool_unavailable',
    });
    const bare: Surroundings = { available: new Set(), missing: {}, protectedPaths: [] };
    expect(availability(tool('shell'), session(), defaultRules(), bare).reason).toBe(
      'shell is not available: this worker has no shell',
    );
    expect(availability(tool('x', { needs: ['constructor'] }), session(), defaultRules(), bare).reason).toBe(
      'x is not available: this worker has no constructor',
    );
  });

  it('offers no shell when it is disabled', () => {
    expect(
      availability(tool('shell'), session(), rulesOf({ shell: { backend: 'disabled' } }), surroundings).reason,
    ).toBe('shell is disabled in the configuration (shell.backend)');
  });

  it('offers owners’ tools to declared owners only', () => {
    const rules = rulesOf({ ownerOnly: ['message'], owners: ['ann'] });
    expect(availability(tool('message'), session({ owner: 'ann' }), rules, surroundings).offered).toBe(true);
    expect(availability(tool('message'), session({ owner: 'Ann' }), rules, surroundings).offered).toBe(false);
    expect(availability(tool('message'), session({ owner: 'bob' }), rules, surroundings).reason).toBe(
      'message is for owners only; bob is no declared owner',
    );
    expect(availability(tool('message'), session(), rules, surroundings).reason).toBe(
      'message is for owners only; this session acts for no known sender',
    );
    expect(availability(tool('MESSAGE'), session(), rules, surroundings).offered).toBe(false);
  });
});

describe('a policy that fails', () => {
  it('denies', () => {
    const broken = { ...defaultRules(), protected: undefined as never };
    const judged = judge(fileCall('write', 'a', 'write'), session(), broken, surroundings);
    expect(judged).toMatchObject({ verdict: 'deny', rule: 'policy.failed', code: 'policy_failed' });
    expect(judged.trace.at(-1)).toMatchObject({ layer: 'verdict', effect: 'deny', rule: 'policy.failed' });
  });

  it('denies whatever is thrown', () => {
    const hostile = {
      get agents(): never {
        // oxlint-disable-next-line typescript/only-throw-error -- a policy may throw anything
        throw 'text';
      },
    };
    const rules = Object.defineProperties({ ...defaultRules() }, Object.getOwnPropertyDescriptors(hostile));
    expect(judge(fileCall('read', 'a'), session(), rules, surroundings)).toMatchObject({
      verdict: 'deny',
      code: 'policy_failed',
    });
  });
});
