import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { durationMs, loadConfig, parseCases, parseConfig } from '../../src/config/index.ts';
import { publishedSchema } from '../../src/config/publish.ts';
import { contradictions } from '../../src/policy/index.ts';
import { isCountersignError } from '../../src/protocol/errors.ts';

/** `message @ field` of the error that a text makes. */
function refusal(text: string): string {
  try {
    parseConfig(text, 'c.jsonc');
  } catch (error) {
    if (isCountersignError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('a configuration that is wrong', () => {
  it.each([
    ['{', 'invalid_config c.jsonc:1:2: is not valid JSON with comments (CloseBraceExpected)'],
    ['', 'invalid_config c.jsonc:1:1: is not valid JSON with comments (ValueExpected)'],
    ['[]', 'invalid_config c.jsonc:1:1: must be object'],
    [
      '{\n  // a comment\n  "denny": []\n}',
      'invalid_config c.jsonc:3:3: /denny: unknown name "denny"; did you mean "deny"?',
    ],
    ['{"Deny": []}', 'invalid_config c.jsonc:1:2: /Deny: unknown name "Deny"; did you mean "deny"?'],
    [
      '{"subagents": {}}',
      'invalid_config c.jsonc:1:2: /subagents: unknown name "subagents"; did you mean "subAgents"?',
    ],
    ['{"deny": "shell"}', 'invalid_config c.jsonc:1:10: /deny: must be array'],
    ['{"deny": ["shel"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "shel"; did you mean "shell"?'],
    ['{"deny": ["Shell"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "Shell"; did you mean "shell"?'],
    ['{"deny": ["ѕhell"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "ѕhell"; did you mean "shell"?'],
    ['{"deny": ["shell "]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "shell "; did you mean "shell"?'],
    [
      '{"allow": ["group:fss"]}',
      'invalid_config c.jsonc:1:12: /allow/0: unknown group "group:fss"; did you mean "group:fs"?',
    ],
    ['{"deny": ["bash"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "bash"; did you mean "shell"?'],
    ['{"deny": ["exec"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "exec"; did you mean "shell"?'],
    [
      '{"deny": ["delete_file"]}',
      'invalid_config c.jsonc:1:11: /deny/0: unknown tool "delete_file"; did you mean "delete"?',
    ],
    ['{"deny": ["fs"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown tool "fs"; did you mean "group:fs"?'],
    ['{"deny": ["group:mcp:a__b"]}', 'invalid_config c.jsonc:1:11: /deny/0: unknown group "group:mcp:a__b"'],
    ['{"allow": ["zzz*"]}', 'invalid_config c.jsonc:1:12: /allow/0: unknown tool "zzz*"'],
    ['{"allow": ["constructor"]}', 'invalid_config c.jsonc:1:12: /allow/0: unknown tool "constructor"'],
    [
      '{"agents": {"a": {"deny": ["wirte"]}}}',
      'invalid_config c.jsonc:1:28: /agents/a/deny/0: unknown tool "wirte"; did you mean "write"?',
    ],
    [
      '{"agents": {"a": {"providers": {"p": {"ask": ["x"]}}}}}',
      'invalid_config c.jsonc:1:47: /agents/a/providers/p/ask/0: unknown tool "x"',
    ],
    [
      '{"rules": [{"tool": "reed", "effect": "deny"}]}',
      'invalid_config c.jsonc:1:21: /rules/0/tool: unknown tool "reed"; did you mean "read"?',
    ],
    [
      '{"groups": {"group:x": ["reed"]}}',
      'invalid_config c.jsonc:1:25: /groups/group:x/0: unknown tool "reed"; did you mean "read"?',
    ],
    [
      '{"profile": "codin"}',
      'invalid_config c.jsonc:1:13: /profile: "codin" is none of minimal, coding, messaging, full; did you mean "coding"?',
    ],
    [
      '{"rules": [{"tool": "shell", "effect": "denny"}]}',
      'invalid_config c.jsonc:1:40: /rules/0/effect: "denny" is none of allow, ask, deny; did you mean "deny"?',
    ],
    ['{"rules": [{"tool": "shell"}]}', "invalid_config c.jsonc:1:12: /rules/0: must have required property 'effect'"],
    [
      '{"rules": [{"tool": "shell", "effect": "deny", "when": {"command": {"glb": "x"}}}]}',
      'invalid_config c.jsonc:1:69: /rules/0/when/command/glb: unknown name "glb"; did you mean "glob"?',
    ],
    [
      '{"shell": {"backend": "container"}}',
      'invalid_config c.jsonc:1:23: /shell/backend: "container" is none of sandbox, host, disabled (containers and remote nodes come in a later version)',
    ],
    [
      '{"shell": {"backend": "Sandbox"}}',
      'invalid_config c.jsonc:1:23: /shell/backend: "Sandbox" is none of sandbox, host, disabled (containers and remote nodes come in a later version); did you mean "sandbox"?',
    ],
    [
      '{"approvals": {"timeout": "3 days"}}',
      'invalid_config c.jsonc:1:27: /approvals/timeout: "3 days" does not have the right form (^[0-9]{1,9}(ms|s|m|h|d)$)',
    ],
    [
      '{"approvals": {"timeout": "3m", "timeoutMs": 5}}',
      'invalid_config c.jsonc:1:46: /approvals/timeoutMs: give timeout or timeoutMs, not both',
    ],
    [
      '{"approvals": {"requiredFor": {"shel": 2}}}',
      'invalid_config c.jsonc:1:40: /approvals/requiredFor/shel: unknown tier or tool "shel"; did you mean "shell"?',
    ],
    [
      '{"approvals": {"requiredFor": {"elevatd": 2}}}',
      'invalid_config c.jsonc:1:43: /approvals/requiredFor/elevatd: unknown tier or tool "elevatd"; did you mean "elevated"?',
    ],
    [
      '{"approvals": {"requiredFor": {"group:fss": 2}}}',
      'invalid_config c.jsonc:1:45: /approvals/requiredFor/group:fss: unknown group "group:fss"; did you mean "group:fs"?',
    ],
    [
      '{"approvals": {"requiredFor": {"elev*": 2}}}',
      'invalid_config c.jsonc:1:41: /approvals/requiredFor/elev*: unknown tier or tool "elev*"',
    ],
    [
      '{"approvals": {"requiredFor": {"agent:default": 2}}}',
      'invalid_config c.jsonc:1:49: /approvals/requiredFor/agent:default: unknown agent "agent:default"',
    ],
    [
      '{"approvals": {"approvers": [{"name": "ann", "may": ["shel"]}]}}',
      'invalid_config c.jsonc:1:54: /approvals/approvers/0/may/0: unknown tier or tool "shel"; did you mean "shell"?',
    ],
    [
      '{"agents": {"coder": {}}, "approvals": {"approvers": [{"name": "ann", "may": ["system", "agent:codr"]}]}}',
      'invalid_config c.jsonc:1:89: /approvals/approvers/0/may/1: unknown agent "agent:codr"; did you mean "agent:coder"?',
    ],
    [
      '{"approvals": {"approvers": [{"name": "ann", "may": ["agent:*"]}]}}',
      'invalid_config c.jsonc:1:54: /approvals/approvers/0/may/0: unknown agent "agent:*"',
    ],
    [
      '{"approvals": {"approvers": [{"name": "ann", "may": ["control:resum"]}]}}',
      'invalid_config c.jsonc:1:54: /approvals/approvers/0/may/0: unknown control "control:resum"; did you mean "control:resume"?',
    ],
    ['{"limits": {"running": 0}}', 'invalid_config c.jsonc:1:24: /limits/running: must be >= 1'],
    [
      '{"deny": ["shell"], "deny": []}',
      'invalid_config c.jsonc:1:21: the name "deny" stands here twice; one of them would be ignored',
    ],
    ['{"agents": {"__proto__": {}}}', 'invalid_config c.jsonc:1:13: the name "__proto__" is not allowed'],
    [
      '{"rules": [{"tool": "write", "effect": "deny", "when": {"pth": {"under": "x"}}}]}',
      'invalid_config c.jsonc:1:64: /rules/0/when/pth: write has no argument "pth"; did you mean "path"?',
    ],
    [
      '{"agents": {"a": {"rules": [{"tool": "group:runtime", "effect": "deny", "when": {"comand": {"glob": "x"}}}]}}}',
      'invalid_config c.jsonc:1:92: /agents/a/rules/0/when/comand: group:runtime has no argument "comand"; did you mean "command"?',
    ],
    [
      '{"rules": [{"tool": "read", "effect": "deny", "when": {"path": {"under": "~/.ssh"}}}]}',
      'invalid_config c.jsonc:1:64: /rules/0/when/path: "~/.ssh" matches nothing: paths have no ~ and no .. here',
    ],
    ...(
      [
        ['read', 'path', { exact: '../x' }, '"../x" matches nothing: paths have no ~ and no .. here'],
        ['group:fs', 'path', { glob: '~/**' }, '"~/**" matches nothing: paths have no ~ and no .. here'],
        ['shell', 'cwd', { exact: '~' }, '"~" matches nothing: paths have no ~ and no .. here'],
        ['shell', 'cwd', { glob: 'a/../b' }, '"a/../b" matches nothing: paths have no ~ and no .. here'],
        ['read', 'path', { host: 'x' }, 'path is of type path, which host never matches; use exact or glob or under'],
        [
          'group:fs',
          'path',
          { host: 'x' },
          'path is of type path, which host never matches; use exact or glob or under',
        ],
        ['shell', 'command', { host: 'x' }, 'command is of type command, which host never matches; use exact or glob'],
        [
          'shell',
          'command',
          { under: 'x' },
          'command is of type command, which under never matches; use exact or glob',
        ],
        [
          'write',
          'content',
          { under: 'x' },
          'content is of type text, which under never matches; use exact or glob or host',
        ],
        ['shell', 'timeout', { glob: '*' }, 'timeout is of type number, which glob never matches; use exact'],
        ['shell', 'env', { glob: '*' }, 'env is of type object, which glob never matches; use exact'],
        ['shell', 'sandbox', { exact: 'false' }, 'sandbox is of type boolean, and "false" is not'],
        ['shell', 'timeout', { exact: '5' }, 'timeout is of type number, and "5" is not'],
        ['shell', 'env', { exact: [] }, 'env is of type object, and [] is not'],
        ['search', 'limit', { exact: 1.5 }, 'limit is of type integer, and 1.5 is not'],
        ['read', 'path', { exact: 5 }, 'path is of type string, and 5 is not'],
      ] as const
    ).map(([tool, argument, pattern, why]): [string, string] => {
      const text = JSON.stringify({ rules: [{ effect: 'deny', tool, when: { [argument]: pattern } }] });
      const column = text.indexOf(JSON.stringify(pattern)) + 1;
      return [text, `invalid_config c.jsonc:1:${column}: /rules/0/when/${argument}: ${why}`];
    }),
    [
      JSON.stringify({ rules: [{ tool: 'read', effect: 'deny', when: { path: { glob: '{a,b}'.repeat(30) } } }] }),
      'invalid_config c.jsonc:1:57: /rules/0/when/path: the braces of a glob stand for 64 alternatives at most; write several',
    ],
    [
      JSON.stringify({ protect: ['{a,b}'.repeat(7)] }),
      'invalid_config c.jsonc:1:13: /protect/0: the braces of a glob stand for 64 alternatives at most; write several',
    ],
  ])('%j is refused with its place', (text, expected) => {
    expect(refusal(text)).toBe(expected);
  });

  it.each([
    [
      '{\n  "denny": [],\n  "profile": "codin",\n  "agents": { "a": { "denny": [], "askk": [] } },\n  "rules": [{}]\n}',
      '/denny',
      [
        'c.jsonc:2:3: /denny: unknown name "denny"; did you mean "deny"?',
        'c.jsonc:3:14: /profile: "codin" is none of minimal, coding, messaging, full; did you mean "coding"?',
        'c.jsonc:4:22: /agents/a/denny: unknown name "denny"; did you mean "deny"?',
        'c.jsonc:4:35: /agents/a/askk: unknown name "askk"; did you mean "ask"?',
        "c.jsonc:5:13: /rules/0: must have required property 'tool'",
        "c.jsonc:5:13: /rules/0: must have required property 'effect'",
      ],
    ],
    [
      '{"rules": [\n{"tool": "shell", "effect": "deny", "when": {"command": {"glb": "x"}}},\n{"tool": "shell", "effect": "deny", "when": {"command": {"glob": 5}}}]}',
      '/rules/0/when/command/glb',
      [
        'c.jsonc:2:58: /rules/0/when/command/glb: unknown name "glb"; did you mean "glob"?',
        'c.jsonc:3:66: /rules/1/when/command/glob: must be string',
      ],
    ],
    [
      '{"rules": [{"tool": "reed", "effect": "deny"}],\n"deny": ["shel"],\n"approvals": {"timeout": "3m", "timeoutMs": 5}}',
      '/rules/0/tool',
      [
        'c.jsonc:1:21: /rules/0/tool: unknown tool "reed"; did you mean "read"?',
        'c.jsonc:2:10: /deny/0: unknown tool "shel"; did you mean "shell"?',
        'c.jsonc:3:45: /approvals/timeoutMs: give timeout or timeoutMs, not both',
      ],
    ],
    [
      JSON.stringify({ deny: Array.from({ length: 13 }, () => 'nothing-like-it') }),
      '/deny/0',
      [
        ...Array.from({ length: 10 }, (_, i) => `c.jsonc:1:${10 + 18 * i}: /deny/${i}: unknown tool "nothing-like-it"`),
        'and 3 more',
      ],
    ],
  ])('%j is refused with all that is wrong, in the order of the file', (text, field, lines) => {
    expect(refusal(text)).toBe(`invalid_config ${lines.join('\n')}`);
    expect(() => parseConfig(text, 'c.jsonc')).toThrow(expect.objectContaining({ field }));
  });

  it.each([
    '{}',
    '{} // comment',
    '\ufeff{}',
    '{"deny": ["shell",],}',
    '{"deny": ["mcp__github__*", "group:mcp:github", "group:plugin:jira", "group:*", "*", "web_*"]}',
    '{"groups": {"group:mine": ["read"]}, "deny": ["group:mine"]}',
    '{"groups": {"group:mine": ["read"]}, "approvals": {"requiredFor": {"elevated": 2, "shell": 2, "group:mine": 2, "web_*": 2, "mcp__x__*": 2}}}',
    '{"agents": {"coder": {}}, "approvals": {"approvers": [{"name": "ann", "may": ["system", "w*", "group:mcp:x", "agent:default", "agent:coder", "control:resume"]}]}}',
    ...[
      ['read', { path: { exact: '~backup' } }],
      ['group:fs', { path: { under: '/srv' } }],
      ['*', { path: { host: 'x' } }],
      [
        'shell',
        { cwd: { under: 'infra' }, sandbox: { exact: false }, timeout: { exact: 5 }, env: { exact: { A: '1' } } },
      ],
      ['shell', { command: { glob: 'npm *' }, reason: { glob: '*' } }],
      ['mcp__x__y', { url: { host: 'example.org' }, any: { under: 'x' } }],
      ['web_fetch', { url: { host: 'example.org' } }],
    ].map(([tool, when]) => JSON.stringify({ rules: [{ tool, effect: 'deny', when }] })),
    '{"channels": {"ops": {}}, "conversations": {"any name at all": {"ask": ["shell"]}}}',
  ])('%j is accepted', (text) => {
    expect(refusal(text)).toBe('accepted');
  });
});

describe('what is loaded', () => {
  it('has every default', () => {
    const { config } = parseConfig('{}', 'c.jsonc');
    expect(config.approvals).toMatchObject({ timeoutMs: 3_600_000, signatures: 'optional', approvers: [] });
    expect({ ...config, approvals: undefined }).toEqual({
      workspaces: [],
      agents: { default: {} },
      channels: { inbox: {} },
      owners: [],
      shell: {
        backend: 'sandbox',
        security: 'safe-bin',
        approval: 'smart',
        safeBins: {},
        maxLength: 8192,
        maxParts: 50,
        env: [],
        sandbox: { readOnly: [] },
      },
      approvals: undefined,
      limits: {
        parameters: 20,
        schemaDepth: 5,
        arrayItems: 1_000,
        stringBytes: 102_400,
        fileBytes: 104_857_600,
        argumentDepth: 16,
        running: 10,
        queued: 100,
        pendingRequests: 1_000,
        sessionDepth: 3,
        sessionChildren: 100,
        correctionMs: 600_000,
      },
    });
  });

  it('keeps the default agent and the inbox beside what is declared', () => {
    const { config } = parseConfig('{"agents": {"coder": {}}, "channels": {"ops": {}}}', 'c.jsonc');
    expect(Object.keys(config.agents)).toEqual(['default', 'coder']);
    expect(Object.keys(config.channels)).toEqual(['inbox', 'ops']);
  });

  it('has a hash of what it says, not of how it is written', () => {
    const hash = (text: string) => parseConfig(text, 'c.jsonc').hash;
    expect(hash('{"deny":["shell"],"ask":["write"]}')).toBe(hash('// x\n{ "ask": ["write"],\n "deny": ["shell"] }'));
    expect(hash('{"deny":["shell"]}')).not.toBe(hash('{"deny":["write"]}'));
    expect(hash('{}')).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(parseConfig('{}', 'c').rules.hash).toBe(hash('{}'));
  });

  it('reads durations', () => {
    expect(['5ms', '5s', '5m', '5h', '5d'].map(durationMs)).toEqual([5, 5_000, 300_000, 18_000_000, 432_000_000]);
    expect(parseConfig('{"approvals": {"timeout": "30m"}}', 'c').config.approvals.timeoutMs).toBe(1_800_000);
    expect(parseConfig('{"approvals": {"timeoutMs": 1500}}', 'c').config.approvals.timeoutMs).toBe(1_500);
  });
});

describe('files', () => {
  it('takes the defaults when there is none, but not when one was named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-config-'));
    await expect(loadConfig(join(folder, 'missing.jsonc'))).rejects.toMatchObject({ code: 'invalid_config' });
    const path = join(folder, 'countersign.config.jsonc');
    await writeFile(path, '{"deny": ["shell"]}');
    expect((await loadConfig(path)).path).toBe(path);
  });

  it('has an example that is valid and does not contradict itself', async () => {
    const { config } = await loadConfig(new URL('../../examples/countersign.config.jsonc', import.meta.url).pathname);
    expect(contradictions(config)).toEqual([]);
  });

  it('publishes the schema that is used', () => {
    expect(readFileSync(new URL('../../countersign.config.schema.json', import.meta.url), 'utf8')).toBe(
      publishedSchema(),
    );
  });
});

describe('policy cases', () => {
  it('are read with comments', () => {
    expect(
      parseCases(
        '[ // one\n {"tool": "shell", "arguments": {"command": "ls"}, "expect": {"verdict": "run"}} ]',
        'p.jsonc',
      ),
    ).toEqual([{ tool: 'shell', arguments: { command: 'ls' }, expect: { verdict: 'run' } }]);
  });

  it('are refused with their place', () => {
    expect(() => parseCases('[{"tool": "shell", "arguments": {}, "expect": {"verdict": "alow"}}]', 'p.jsonc')).toThrow(
      'p.jsonc:1:59: /0/expect/verdict: "alow" is none of run, ask, deny, invalid',
    );
    expect(() => parseCases('[{"tol": "shell"}]', 'p.jsonc')).toThrow('unknown name "tol"; did you mean "tool"?');
  });
});
