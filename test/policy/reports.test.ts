import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import {
  argumentsOverLimit,
  contradictions,
  judge,
  policyDiff,
  runPolicyCases,
  toolOverLimit,
  toolsPrompt,
} from '../../src/policy/index.ts';
import { fileCall, rulesOf, session, surroundings } from './support.ts';

describe('policy cases', () => {
  it('say what differs', async () => {
    const rules = rulesOf({ deny: ['write'] });
    const results = await runPolicyCases(
      [
        { name: 'reads', tool: 'read', arguments: { path: 'a' }, expect: { verdict: 'run' } },
        { tool: 'write', arguments: { path: 'a' }, expect: { verdict: 'run', tier: 'workspace' } },
        {
          tool: 'write',
          arguments: { path: 'a' },
          expect: { verdict: 'deny', rule: 'deny "write"', code: 'policy_denied' },
        },
        { tool: 'nothing', arguments: {}, expect: { verdict: 'invalid' } },
      ],
      ({ tool, arguments: { path } }) => {
        if (tool === 'nothing') throw new Error('no such tool');
        return judge(fileCall(tool, String(path), tool === 'read' ? 'read' : 'write'), session(), rules, surroundings);
      },
    );
    expect(results.map(({ name, passed, differences }) => ({ name, passed, differences }))).toEqual([
      { name: 'reads', passed: true, differences: [] },
      {
        name: '2: write',
        passed: false,
        differences: ['verdict: expected run, got deny (deny "write": write is denied)'],
      },
      { name: '3: write', passed: true, differences: [] },
      {
        name: '4: nothing',
        passed: false,
        differences: ['it could not be judged: no such tool'],
      },
    ]);
  });
});

describe('a dry run', () => {
  it('lists the calls that would be judged otherwise', () => {
    const call = (name: string) => ({
      call: fileCall(name, 'a', name === 'read' ? 'read' : 'write'),
      session: session(),
    });
    const calls = [
      { id: 'call/s1/1', ...call('read'), before: { verdict: 'run', rule: 'tier.read_only', tier: 'read_only' } },
      { id: 'call/s1/2', ...call('write'), before: { verdict: 'run', rule: 'tier.workspace', tier: 'workspace' } },
      { id: 'call/s1/3', ...call('edit'), before: { verdict: 'deny', rule: 'deny "edit"', tier: 'workspace' } },
    ] as const;
    expect(policyDiff(calls, rulesOf({ ask: ['write'] }), surroundings)).toEqual([
      {
        id: 'call/s1/2',
        tool: 'write',
        before: calls[1].before,
        now: { verdict: 'ask', rule: 'ask "write"', tier: 'workspace', reason: 'write needs an approval here' },
        direction: 'stricter',
      },
      {
        id: 'call/s1/3',
        tool: 'edit',
        before: calls[2].before,
        now: {
          verdict: 'run',
          rule: 'tier.workspace',
          tier: 'workspace',
          reason: 'workspace calls run without asking',
        },
        direction: 'laxer',
      },
    ]);
  });
});

describe('contradictions', () => {
  it.each([
    [{}, []],
    [{ allow: ['write'], deny: ['write'] }, ['/allow/0: write is also denied here; deny wins']],
    [{ ask: ['write'], deny: ['group:fs'] }, ['/ask/0: write is also denied here; deny wins']],
    [{ allow: ['group:fs'], deny: ['write'] }, []],
    [{ allow: [] }, ['/allow: an empty allow list lets no tool through']],
    [{ alsoAllow: ['message'] }, ['/alsoAllow: the profile full has every tool already']],
    [
      { agents: { a: { alsoAllow: ['message'] } } },
      ['/agents/a/alsoAllow: it adds to the profile of this section, which has none'],
    ],
    [
      { allow: ['read'], ask: ['write'] },
      ['/ask/0: write is not on the allow list, so it is denied before anybody is asked'],
    ],
    [
      { deny: ['shell'], agents: { a: { allow: ['shell'] } } },
      ['/agents/a/allow/0: shell is denied for everybody; a section can only narrow'],
    ],
    [
      { allow: ['read'], channels: { c: { allow: ['write'] } } },
      ['/channels/c/allow/0: write is not on the global allow list; a section can only narrow'],
    ],
    [
      {
        rules: [
          { tool: 'read', effect: 'allow' },
          { tool: 'read', effect: 'deny' },
        ],
      },
      ['/rules/0: rule 1 says deny of the same calls and wins'],
    ],
    [{ ownerOnly: ['message'] }, ['/ownerOnly: no owners are declared, so nobody may use these tools']],
    [
      { shell: { approval: 'auto' } },
      [
        '/shell/approval: auto has no effect with the sandbox: inside nothing asks, outside is elevated, which always asks',
      ],
    ],
    [
      { shell: { security: 'full' } },
      ['/shell/security: full has no effect with the sandbox: commands outside of it stay elevated'],
    ],
    [
      { shell: { safeBins: { python3: {} } } },
      ['/shell/safeBins/python3: python3 runs whatever it is given; name its subcommands'],
    ],
    [
      { shell: { security: 'paranoid', safeBins: { x: {} } } },
      ['/shell/safeBins/x: safeBins are not used with security paranoid'],
    ],
    [
      {
        subAgents: { rules: [{ tool: 'shell', effect: 'ask' }] },
        agents: {
          a: { subAgents: { rules: [{ tool: 'shell', effect: 'allow', when: { command: { exact: 'make' } } }] } },
        },
      },
      [
        '/agents/a/subAgents/rules/0: an allow rule for sub-agents alone lets nothing through; allow it where their main session is meant too',
      ],
    ],
    [{ channels: { ops: {}, Ops: {} } }, ['/channels/Ops: another one differs from it by case alone']],
  ])('%j: %j', (settings, expected) => {
    const { config } = parseConfig(JSON.stringify(settings), 'c.jsonc');
    expect(contradictions(config).map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
  });
});

describe('limits', () => {
  const limits = { parameters: 2, schemaDepth: 2, arrayItems: 3, stringBytes: 10, argumentDepth: 3 };
  const object = (properties: object) => ({ type: 'object', properties });
  const text = { type: 'string' };

  it('bound a tool', () => {
    expect(toolOverLimit('t', object({ a: text, b: text }), limits)).toBeUndefined();
    expect(toolOverLimit('t', object({ a: text, b: text, c: text }), limits)).toEqual({
      field: '/properties',
      message: 't has 3 parameters; at most 2 are allowed (limits.parameters)',
    });
    expect(toolOverLimit('t', object({ a: object({ b: text }) }), limits)).toBeUndefined();
    expect(toolOverLimit('t', object({ a: object({ b: { type: 'array', items: text } }) }), limits)?.message).toBe(
      'the schema of t is 3 levels deep; at most 2 are allowed (limits.schemaDepth)',
    );
  });

  it('bound arguments, and say where', () => {
    expect(argumentsOverLimit({ a: [1, 2, 3], b: 'é'.repeat(5) }, limits)).toBeUndefined();
    expect(argumentsOverLimit({ a: [1, 2, 3, 4] }, limits)).toEqual({
      field: '/a',
      message: 'a list of 4 elements; at most 3 are allowed (limits.arrayItems)',
    });
    expect(argumentsOverLimit({ 'a/b': { c: 'é'.repeat(6) } }, limits)).toEqual({
      field: '/a~1b/c',
      message: 'a text of 12 bytes; at most 10 are allowed (limits.stringBytes)',
    });
    expect(argumentsOverLimit({ a: { b: { c: {} } } }, limits)).toEqual({
      field: '/a/b/c',
      message: 'arguments are nested deeper than 3 levels (limits.argumentDepth)',
    });
  });
});

describe('the prompt', () => {
  it('describes tools from their schema', () => {
    const parameters = {
      type: 'object',
      required: ['path'],
      properties: {
        path: { type: 'string', description: 'From the workspace.' },
        mode: { enum: ['a', 'b'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
    };
    expect(toolsPrompt([{ name: 'read', description: 'Reads a file.', parameters, tier: 'read_only' }])).toBe(
      [
        '# Tools',
        '',
        '## read',
        '',
        'Reads a file.',
        'Changes nothing.',
        '',
        'Arguments:',
        '- `path` (string): From the workspace.',
        '- `mode` ("a" or "b", optional)',
        '- `tags` (list of string, optional)',
        '',
        '## What happens to a call',
        '',
        'Arguments that do not fit come back with the failing field and the schema; correct them, at most twice.',
        'A call that needs an approval waits for a person; go on with other work meanwhile. A denied call stays denied: do not repeat it in other words.',
        '',
      ].join('\n'),
    );
    expect(toolsPrompt([])).toBe('You have no tools in this session.\n');
  });
});
