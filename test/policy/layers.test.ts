import { describe, expect, it } from 'vitest';
import {
  type CallFacts,
  compileRules,
  judge,
  type JudgedSession,
  type PolicySettings,
} from '../../src/policy/index.ts';
import { fileCall, hostCall, rulesOf, session, shellCall, surroundings, tool, verdict, WORKSPACE } from './support.ts';

const read = fileCall('read', 'a.txt');
const write = fileCall('write', 'a.txt', 'write');
const message = { tool: tool('message'), arguments: {}, subjects: [] };

/** Each layer: how to put a section into the configuration, and a session that the layer speaks of. */
const LAYERS: [layer: string, place: string, put: (section: object) => object, facts: Partial<JudgedSession>][] = [
  ['global', '', (section) => section, {}],
  [
    'global by provider',
    'providers.openai.',
    (section) => ({ providers: { openai: section } }),
    { provider: 'openai' },
  ],
  ['agent', 'agents.coder.', (section) => ({ agents: { coder: section } }), { agent: 'coder' }],
  [
    'agent by provider',
    'agents.coder.providers.openai.',
    (section) => ({ agents: { coder: { providers: { openai: section } } } }),
    { agent: 'coder', provider: 'openai' },
  ],
  ['group', 'channels.ops.', (section) => ({ channels: { ops: section } }), { channel: 'ops' }],
  ['group', 'conversations.room-1.', (section) => ({ conversations: { 'room-1': section } }), { group: 'room-1' }],
  ['sandbox', 'sandbox.', (section) => ({ sandbox: section }), {}],
  ['sub-agent', 'subAgents.', (section) => ({ subAgents: section }), { kind: 'branch', depth: 1, channel: null }],
  [
    'sub-agent',
    'agents.coder.subAgents.',
    (section) => ({ agents: { coder: { subAgents: section } } }),
    { kind: 'branch', depth: 1, agent: 'coder', channel: null },
  ],
];

describe.each(LAYERS)('layer %s (%s)', (layer, place, put, facts) => {
  it('denies, and says so by its name', () => {
    const judged = judge(write, session(facts), rulesOf(put({ deny: ['write'] })), surroundings);
    expect(judged).toMatchObject({ verdict: 'deny', code: 'policy_denied', rule: `${place}deny "write"` });
    expect(judged.trace).toContainEqual({
      layer,
      rule: `${place}deny "write"`,
      effect: 'deny',
      reason: 'write is denied',
    });
  });

  it.each([
    [{ deny: ['group:fs'] }, 'deny "group:fs"'],
    [{ deny: ['w*'] }, 'deny "w*"'],
    [{ deny: ['*'] }, 'deny "*"'],
    [{ deny: ['group:*'] }, 'deny "group:*"'],
    [{ profile: 'minimal' }, 'profile "minimal"'],
    [{ profile: 'minimal', allow: ['write'] }, 'profile "minimal"'],
    [{ allow: ['write'], deny: ['write'] }, 'deny "write"'],
    [{ allow: ['read'] }, 'allow'],
    [{ allow: [] }, 'allow'],
    [{ ask: ['write'], deny: ['write'] }, 'deny "write"'],
    [{ rules: [{ tool: 'write', effect: 'deny' }] }, 'rules[0]'],
    [
      {
        rules: [
          { tool: 'write', effect: 'allow' },
          { tool: 'group:fs', effect: 'deny', name: 'all' },
        ],
      },
      'rules "all"',
    ],
  ])('%j denies a write', (section, rule) => {
    expect(verdict(write, rulesOf(put(section)), facts)).toBe(`deny ${place}${rule}`);
  });

  it.each([
    [{ ask: ['write'] }, 'ask "write"'],
    [{ ask: ['group:fs'], allow: ['write'] }, 'ask "group:fs"'],
    [
      {
        rules: [
          { tool: 'write', effect: 'ask' },
          { tool: 'write', effect: 'allow' },
        ],
      },
      'rules[0]',
    ],
  ])('%j asks about a write', (section, rule) => {
    expect(verdict(write, rulesOf(put(section)), facts)).toBe(`ask ${place}${rule}`);
  });

  it.each([
    [{}],
    [{ allow: ['write'] }],
    [{ allow: ['group:fs'] }],
    [{ profile: 'coding' }],
    [{ profile: 'minimal', alsoAllow: ['write'] }],
    [{ deny: ['read'] }],
    [{ ask: ['delete'] }],
    [{ rules: [{ tool: 'write', effect: 'allow' }] }],
  ])('%j lets a write run', (section) => {
    expect(verdict(write, rulesOf(put(section)), facts)).toBe('run tier.workspace');
  });

  it('does not speak of other sessions', () => {
    if (layer === 'global' || layer === 'sandbox') return;
    const other = { agent: 'other', provider: 'mistral', channel: 'lobby', group: 'room-2' };
    expect(verdict(write, rulesOf(put({ deny: ['write'] })), other)).toBe('run tier.workspace');
  });
});

describe('profiles', () => {
  const TABLE: [settings: object, facts: Partial<JudgedSession>, call: typeof read, expected: string][] = [
    [{ profile: 'minimal' }, {}, read, 'run tier.read_only'],
    [{ profile: 'minimal' }, {}, write, 'deny profile "minimal"'],
    [{ profile: 'coding' }, {}, write, 'run tier.workspace'],
    [{ profile: 'coding' }, {}, message, 'deny profile "coding"'],
    [{ profile: 'messaging' }, {}, message, 'run tier.system'],
    [{ profile: 'messaging' }, {}, read, 'deny profile "messaging"'],
    [{ profile: 'full' }, {}, message, 'run tier.system'],
    [{}, {}, message, 'run tier.system'],
    [{ profile: 'minimal', alsoAllow: ['write'] }, {}, write, 'run tier.workspace'],
    [{ profile: 'minimal', alsoAllow: ['group:fs'] }, {}, write, 'run tier.workspace'],
    [{ profile: 'minimal', alsoAllow: ['write'], deny: ['write'] }, {}, write, 'deny deny "write"'],
    [{ profile: 'minimal', allow: ['write'] }, {}, write, 'deny profile "minimal"'],
    [
      { profile: 'minimal', agents: { coder: { alsoAllow: ['write'] } } },
      { agent: 'coder' },
      write,
      'deny profile "minimal"',
    ],
    [
      { profile: 'minimal', agents: { coder: { profile: 'full' } } },
      { agent: 'coder' },
      write,
      'deny profile "minimal"',
    ],
    [{ agents: { coder: { profile: 'minimal' } } }, { agent: 'coder' }, write, 'deny agents.coder.profile "minimal"'],
    [
      { agents: { coder: { profile: 'minimal', alsoAllow: ['write'] } } },
      { agent: 'coder' },
      write,
      'run tier.workspace',
    ],
    [
      { providers: { openai: { profile: 'minimal' } } },
      { provider: 'openai' },
      write,
      'deny providers.openai.profile "minimal"',
    ],
    [
      { providers: { openai: { profile: 'minimal' } } },
      { provider: 'openai/gpt-5' },
      write,
      'deny providers.openai.profile "minimal"',
    ],
    [
      { providers: { openai: { profile: 'minimal' } } },
      { provider: 'OpenAI' },
      write,
      'deny providers.openai.profile "minimal"',
    ],
    [{ providers: { openai: { profile: 'minimal' } } }, { provider: 'openai-2' }, write, 'run tier.workspace'],
    [
      { providers: { openai: { profile: 'minimal', alsoAllow: ['write'] } } },
      { provider: 'openai' },
      write,
      'run tier.workspace',
    ],
    [{ providers: { '*': { deny: ['write'] } } }, { provider: 'any' }, write, 'deny providers.*.deny "write"'],
  ];
  it.each(TABLE)('%j, %j → %#', (settings, facts, call, expected) => {
    expect(verdict(call, rulesOf(settings), facts)).toBe(expected);
  });
});

describe('pairs of layers', () => {
  /** A branch of a coder's session in a channel and a conversation: every layer speaks of it. */
  const facts: Partial<JudgedSession> = {
    kind: 'branch',
    depth: 1,
    agent: 'coder',
    provider: 'openai',
    channel: null,
    above: [session({ agent: 'coder', channel: 'ops' })],
    group: 'room-1',
  };
  const pairs = LAYERS.flatMap((first, i) => LAYERS.slice(i + 1).map((second) => [first, second] as const));
  const merge = (a: object, b: object): object => {
    const out: Record<string, unknown> = { ...a };
    for (const [key, value] of Object.entries(b)) {
      const before = out[key];
      out[key] =
        typeof before === 'object' && before !== null && !Array.isArray(before)
          ? merge(before, value as object)
          : value;
    }
    return out;
  };

  it.each(pairs.map(([first, second]) => [first[1], second[1], first, second] as const))(
    '%j then %j: the stricter wins, whichever speaks first',
    (_a, _b, [, at1, put1], [, at2, put2]) => {
      const both = (one: object, two: object): string => verdict(write, rulesOf(merge(put1(one), put2(two))), facts);
      expect(both({ deny: ['write'] }, { allow: ['write'] })).toBe(`deny ${at1}deny "write"`);
      expect(both({ allow: ['write'] }, { deny: ['write'] })).toBe(`deny ${at2}deny "write"`);
      expect(both({ ask: ['write'] }, { deny: ['write'] })).toBe(`deny ${at2}deny "write"`);
      expect(both({ deny: ['write'] }, { ask: ['write'] })).toBe(`deny ${at1}deny "write"`);
      expect(both({ ask: ['write'] }, { allow: ['write'] })).toBe(`ask ${at1}ask "write"`);
      expect(both({ allow: ['write'] }, { ask: ['write'] })).toBe(`ask ${at2}ask "write"`);
      expect(both({ allow: ['read'] }, { allow: ['write'] })).toBe(`deny ${at1}allow`);
      expect(both({ allow: ['write'] }, { allow: ['read'] })).toBe(`deny ${at2}allow`);
      expect(both({ allow: ['write'] }, { allow: ['write'] })).toBe('run tier.workspace');
      expect(both({ deny: ['write'] }, { deny: ['write'] })).toBe(`deny ${at1}deny "write"`);
    },
  );

  const PROFILES: [layer: string, place: string, put: (profile: string) => object][] = [
    ['profile', '', (profile) => ({ profile })],
    ['provider profile', 'providers.openai.', (profile) => ({ providers: { openai: { profile } } })],
  ];

  it.each(PROFILES.flatMap((first) => LAYERS.map((second) => [first[0], second[1], first, second] as const)))(
    '%s then %j: the stricter wins, and the profile speaks first',
    (_a, _b, [, at1, put1], [, at2, put2]) => {
      const both = (profile: string, two: object): string =>
        verdict(write, rulesOf(merge(put1(profile), put2(two))), facts);
      expect(both('minimal', { allow: ['write'] })).toBe(`deny ${at1}profile "minimal"`);
      expect(both('minimal', { ask: ['write'] })).toBe(`deny ${at1}profile "minimal"`);
      expect(both('minimal', { deny: ['write'] })).toBe(`deny ${at1}profile "minimal"`);
      expect(both('coding', { deny: ['write'] })).toBe(`deny ${at2}deny "write"`);
      expect(both('coding', { ask: ['write'] })).toBe(`ask ${at2}ask "write"`);
      expect(both('coding', { allow: ['read'] })).toBe(`deny ${at2}allow`);
      expect(both('coding', { allow: ['write'] })).toBe('run tier.workspace');
    },
  );

  it('profile then provider profile: the stricter wins, whichever speaks first', () => {
    const both = (profile: string, providers: string): string =>
      verdict(write, rulesOf({ profile, providers: { openai: { profile: providers } } }), facts);
    expect(both('minimal', 'full')).toBe('deny profile "minimal"');
    expect(both('full', 'minimal')).toBe('deny providers.openai.profile "minimal"');
    expect(both('minimal', 'minimal')).toBe('deny profile "minimal"');
    expect(both('full', 'coding')).toBe('run tier.workspace');
  });

  it('speaks in the fixed order', () => {
    const settings = LAYERS.reduce((all, [, , put]) => merge(all, put({ allow: ['write'] })), {
      profile: 'full',
      providers: { openai: { profile: 'full' } },
    } as object);
    const { trace } = judge(write, session(facts), rulesOf(settings), surroundings);
    expect(trace.map((step) => step.layer)).toEqual([
      'profile',
      'provider profile',
      'global',
      'global by provider',
      'agent',
      'agent by provider',
      'group',
      'group',
      'sandbox',
      'sub-agent',
      'sub-agent',
      'tier',
      'verdict',
    ]);
  });
});

describe('inheritance and change', () => {
  const branch: Partial<JudgedSession> = { kind: 'branch', depth: 1, parent: 's0', main: 's0', channel: null };

  it('holds a branch to the rules of its main session’s channel', () => {
    const rules = rulesOf({ channels: { public: { deny: ['write'] } } });
    const under = (channel: string) => ({ ...branch, above: [session({ channel })] });
    expect(verdict(write, rules, { channel: 'public' })).toBe('deny channels.public.deny "write"');
    expect(verdict(write, rules, under('public'))).toBe('deny channels.public.deny "write"');
    expect(verdict(write, rules, under('inbox'))).toBe('run tier.workspace');
    const deep = { ...branch, depth: 2, above: [session({ ...branch }), session({ channel: 'public' })] };
    expect(verdict(write, rules, deep)).toBe('deny channels.public.deny "write"');
  });

  it('holds a branch to everything that its agent, provider and conversation are held to', () => {
    const rules = rulesOf({
      agents: { coder: { deny: ['write'] } },
      providers: { openai: { deny: ['delete'] } },
      conversations: { r: { deny: ['edit'] } },
    });
    const facts = { agent: 'coder', provider: 'openai', group: 'r' };
    for (const who of [
      { ...branch, ...facts },
      { ...branch, above: [session(facts)] },
    ]) {
      expect(verdict(write, rules, who)).toBe('deny agents.coder.deny "write"');
      expect(verdict(fileCall('delete', 'a', 'delete'), rules, who)).toBe('deny providers.openai.deny "delete"');
      expect(verdict(fileCall('edit', 'a', 'write'), rules, who)).toBe('deny conversations.r.deny "edit"');
    }
  });

  it('gives a branch with another agent no more than the agents above it have, and no less of its own', () => {
    const rules = rulesOf({
      agents: {
        reviewer: { profile: 'minimal', subAgents: { deny: ['search'] } },
        coder: {
          deny: ['list'],
          rules: [{ tool: 'shell', effect: 'allow', when: { command: { exact: 'make' } } }],
        },
      },
    });
    const coder = { ...branch, agent: 'coder', above: [session({ agent: 'reviewer' })] };
    expect(verdict(write, rules, { agent: 'coder' })).toBe('run tier.workspace');
    expect(verdict(write, rules, coder)).toBe('deny agents.reviewer.profile "minimal"');
    expect(verdict(fileCall('search', 'a'), rules, coder)).toBe('deny agents.reviewer.subAgents.deny "search"');
    expect(verdict(fileCall('list', 'a'), rules, coder)).toBe('deny agents.coder.deny "list"');
    expect(verdict(read, rules, coder)).toBe('run tier.read_only');
    // What an agent above may run outside of the sandbox is not the child's.
    const make = shellCall('make', { sandbox: false });
    expect(verdict(make, rules, { agent: 'coder' })).toBe('run agents.coder.rules[0]');
    expect(verdict(make, rules, { ...branch, agent: 'other', above: [session({ agent: 'coder' })] })).toBe(
      'ask shell.outside',
    );
  });

  it('lets a child run outside of the sandbox, or reach, only what every session above it may', () => {
    const settings = {
      knownHosts: [],
      agents: {
        coder: {
          rules: [
            { name: 'make', tool: 'shell', effect: 'allow', when: { command: { exact: 'make' } } },
            { tool: 'fetch', effect: 'allow', when: { url: { host: 'example.org' } } },
          ],
        },
      },
    };
    const make = shellCall('make', { sandbox: false });
    const fetch = hostCall('example.org');
    const under = (...agents: string[]) => ({
      ...branch,
      agent: 'coder',
      depth: agents.length,
      above: agents.map((agent) => session({ agent })),
    });
    const rules = compileRules(settings as PolicySettings);
    for (const [who, ran, reached] of [
      [under('coder'), 'run agents.coder.rules "make"', 'run tier.read_only'],
      [under('default'), 'ask shell.outside', 'ask risk.unknown_host'],
      [under('coder', 'default'), 'ask shell.outside', 'ask risk.unknown_host'],
      [under('default', 'coder'), 'ask shell.outside', 'ask risk.unknown_host'],
    ] as const) {
      expect(verdict(make, rules, who)).toBe(ran);
      expect(verdict(fetch, rules, who)).toBe(reached);
    }
    // A section for sub-agents alone gives them nothing that their main session lacks.
    const { rules: allow } = settings.agents.coder;
    for (const sub of [{ subAgents: { rules: allow } }, { agents: { coder: { subAgents: { rules: allow } } } }]) {
      const only = compileRules({ knownHosts: [], ...sub } as PolicySettings);
      expect(verdict(make, only, under('coder'))).toBe('ask shell.outside');
      expect(verdict(fetch, only, under('coder'))).toBe('ask risk.unknown_host');
    }
  });

  it('holds a branch in a folder of the workspace to what rules say of that folder', () => {
    const inside = (folder: string, ...above: string[]) => ({
      ...branch,
      workspace: `${WORKSPACE}/${folder}`,
      above: [...above.map((one) => `${WORKSPACE}/${one}`), WORKSPACE].map((workspace) => session({ workspace })),
    });
    /** A call on a file of the branch's own workspace. */
    const on = (
      name: string,
      folder: string,
      file: string,
      access: 'read' | 'write' | 'delete' = 'read',
    ): CallFacts => {
      const canonical = file === '' ? `${WORKSPACE}/${folder}` : `${WORKSPACE}/${folder}/${file}`;
      const subject = {
        kind: 'path' as const,
        argument: 'path',
        path: file,
        canonical,
        relative: file,
        inside: true,
        access,
      };
      return { tool: tool(name), arguments: { path: file }, subjects: [{ ...subject, absolute: false }] };
    };
    for (const pattern of [{ under: 'a/keys' }, { glob: 'a/keys/**' }, { glob: '*/keys/x' }, { exact: 'a/keys/x' }]) {
      const rules = rulesOf({ rules: [{ tool: 'group:fs', effect: 'deny', when: { path: pattern } }] });
      expect(verdict(on('read', 'a', 'keys/x'), rules, inside('a'))).toBe('deny rules[0]');
      expect(verdict(on('read', 'a/keys', 'x'), rules, inside('a/keys'))).toBe('deny rules[0]');
      expect(verdict(on('read', 'a/keys', 'x'), rules, inside('a/keys', 'a'))).toBe('deny rules[0]');
      expect(verdict(on('read', 'b', 'keys/y'), rules, inside('b'))).toBe('run tier.read_only');
      expect(verdict(on('search', 'a', ''), rules, inside('a'))).toBe('deny rules[0]');
    }
    const top = `${WORKSPACE}/a`;
    const make = (rules: object[]): string => {
      const command = { kind: 'command' as const, argument: 'command', command: 'make', sandbox: false, env: {} };
      const subjects = [{ ...command, cwd: top, cwdInside: true, cwdRelative: '' }];
      return verdict(
        { tool: tool('shell'), arguments: { command: 'make' }, subjects },
        rulesOf({ rules }),
        inside('a'),
      );
    };
    const when = (place: string) => ({ command: { exact: 'make' }, cwd: { exact: place } });
    expect(make([{ tool: 'shell', effect: 'deny', when: when('a') }])).toBe('deny rules[0]');
    // What is allowed at the top of the workspace is not allowed wherever a branch begins.
    expect(make([{ tool: 'shell', effect: 'allow', when: when('.') }])).toBe('ask shell.outside');
    expect(make([{ tool: 'shell', effect: 'allow', when: when(top) }])).toBe('run rules[0]');
    const protect = rulesOf({ protect: ['deploy/**'] });
    expect(verdict(on('write', 'deploy', 'prod.yml', 'write'), protect, inside('deploy'))).toBe(
      'ask risk.protected_path',
    );
    expect(verdict(on('write', 'src', 'prod.yml', 'write'), protect, inside('src'))).toBe('run tier.workspace');
  });

  it('keeps sub-agent rules from main sessions', () => {
    const rules = rulesOf({ subAgents: { deny: ['write'] } });
    expect(verdict(write, rules)).toBe('run tier.workspace');
    expect(verdict(write, rules, branch)).toBe('deny subAgents.deny "write"');
    expect(verdict(write, rules, { ...branch, depth: 3 })).toBe('deny subAgents.deny "write"');
  });

  it('judges later calls of a session by new rules, and says which', () => {
    const before = rulesOf({});
    const after = rulesOf({ deny: ['write'] });
    const first = judge(write, session(), before, surroundings);
    const second = judge(write, session(), after, surroundings);
    expect([first.verdict, second.verdict]).toEqual(['run', 'deny']);
    expect(first.policy).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(second.policy).not.toBe(first.policy);
    expect(judge(write, session(), rulesOf({}), surroundings)).toEqual(first);
  });

  it('speaks of the sandbox only while the shell has one', () => {
    const rules = (backend: string) => rulesOf({ shell: { backend }, sandbox: { deny: ['write'] } });
    expect(verdict(write, rules('sandbox'))).toBe('deny sandbox.deny "write"');
    expect(verdict(write, rules('host'))).toBe('run tier.workspace');
    expect(verdict(shellCall('ls'), rulesOf({ sandbox: { ask: ['shell'] } }))).toBe('ask sandbox.ask "shell"');
  });
});
