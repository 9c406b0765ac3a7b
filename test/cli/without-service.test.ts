import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/program.ts';
import { type Place, makePlace } from './cli.fixture.ts';

let place: Place;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => place.remove());

describe('help', () => {
  it('lists every command of the contract', async () => {
    const names = [
      'start',
      'session',
      'workspace',
      'call',
      'amend',
      'result',
      'cancel',
      'explain',
      'pending',
      'show',
      'approve',
      'deny',
      'grant',
      'approver',
      'inbox',
      'halt',
      'resume',
      'policy',
      'tools',
      'audit',
      'setup',
      'doctor',
    ];
    expect([...COMMAND_NAMES]).toEqual(names);
    const { status, stdout, stderr } = await place.cli(['--help']);
    expect([status, stderr]).toEqual([0, '']);
    for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  it.each([
    ...['call', 'explain', 'pending', 'session', 'workspace', 'grant', 'policy', 'approver'],
    ...['session open', 'workspace add', 'policy test'],
  ])('of %s has examples', async (name) => {
    const words = name.split(' ');
    const { status, stdout } = await place.cli([...words, '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain(`Usage: countersign ${name} `);
    expect(stdout).toContain(`\nExamples:\n  countersign ${words[0]}`);
  });

  it.each([
    [['grant', 'add'], '--for <duration>'],
    [['policy', 'dry-run'], '--since <duration>'],
    [['deny'], '--reason <text>'],
  ])('of %j says that %s is required, and of no other option', async (words, option) => {
    const { stdout } = await place.cli([...words, '--help']);
    const options = stdout.slice(stdout.indexOf('Options:'), stdout.indexOf('Examples:')).split(/\n  (?=-)/);
    expect(options.filter((text) => text.replaceAll(/\s+/g, ' ').includes('(required)'))).toEqual([
      expect.stringContaining(option) as string,
    ]);
  });
});

describe('wrong usage is status 2, one line, and nothing on stdout', () => {
  it.each([
    [['pendng'], 'Did you mean pending?'],
    [['help', 'aprove'], "unknown command 'aprove' (Did you mean approve?)"],
    [['help', 'constructor'], "unknown command 'constructor'"],
    [['approve', '#AAAAAA', '--as', ''], "--as <name>' argument '' is invalid. It needs a name"],
    [['policy', 'test', 'nosuch.json'], 'nosuch.json: there is no such file. What a file of cases looks like: '],
    [['policy', 'test', '.'], 'No cases can be read from .: it is a folder.'],
    [['pending', '--al'], 'Did you mean --all?'],
    [['session', 'opne'], 'Did you mean open?'],
    [['call'], 'name a tool'],
    [['call', 'list', '{'], 'invalid_json'],
    [['call', 'list', '[]'], 'invalid_arguments'],
    [['call', 'list', '{}', 'more'], 'too many arguments'],
    [['call', 'list', '--wait', 'soon'], 'as 30s'],
    [['call', '--jsonl', 'list'], 'leave them out'],
    [['call', '--jsonl', '--call-id', 'a'], '--call-id'],
    [['deny', '#AAAAAA'], '--reason'],
    [['show'], "quote the code, for the shell drops what follows a bare #: countersign show '#…'"],
    [['deny'], "quote the code, for the shell drops what follows a bare #: countersign deny '#…'"],
    [['audit'], "countersign audit '#…'"],
    [['audit', 'call/nosuch'], 'Use its full name, call/<session>/<call id>'],
    [['audit', 'call/nosuch', '--verify'], 'Use its full name, call/<session>/<call id>'],
    [['approve', 'build'], 'names no call'],
    [['approve', 'call/a/b/c'], 'names no call'],
    [['approve', '#AAAAAA', '--edit', '{'], 'invalid_json'],
    [['session', 'open', '--kind', 'chief'], 'Allowed choices are main, branch, worker'],
    [['session', 'open', '--kind', 'branch'], 'needs --parent'],
    [['session', 'open', '--kind', 'main', '--parent', 'a'], 'has no parent'],
    [['session', 'open', '--parent', 'a', '--channel', 'inbox'], 'leave out --channel'],
    [['tools', '--format', 'xml'], 'Allowed choices are json, anthropic, openai, gemini'],
    [['start', '--port', '70000'], '65535'],
    [['explain', 'list', '{}', '--session', 'a', '--workspace', '.'], '--session or --workspace'],
    [['explain', 'list', '{}', '--session', 'a', '--agent', 'coder'], '--session or --agent'],
    [['explain', 'list', '{}', '--session', 'a', '--kind', 'main'], '--session or --kind'],
    [['explain', 'list', '{}', '--kind', 'chief'], 'Allowed choices are main, branch, worker'],
    [['explain', 'list', '{}', '--agent', 'defalt'], 'did you mean "default"?'],
    [['explain', '--jsonl', '--owner', 'mallory'], 'declares no owner "mallory"'],
  ])('%j', async (args, words) => {
    const { status, stdout, stderr } = await place.cli(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^countersign: [a-z_]+: .*\n$/);
    expect(stderr).toContain(words);
  });

  it.each([
    [['pendng'], 'countersign --help'],
    [['pending', '--al'], 'countersign pending --help'],
    [['session', 'opne'], 'countersign session --help'],
    [['session', 'open', '--kind', 'chief'], 'countersign session open --help'],
    [['grant', 'add', 'shell'], 'countersign grant add --help'],
  ])('%j points to %s', async (args, help) => {
    expect((await place.cli(args)).stderr).toMatch(new RegExp(`\\(see ${help}\\)\\n$`));
  });

  it('with --json it is an object on stdout', async () => {
    const ran = await place.cli(['pending', '--json', '--al']);
    expect([ran.status, ran.stderr]).toEqual([2, '']);
    expect(ran.json()).toEqual({
      error: { kind: 'ValidationError', code: 'invalid_usage', message: expect.stringContaining('--all') as string },
    });
  });
});

describe('with no service', () => {
  it.each([
    [['pending']],
    [['call', 'list']],
    [['show', '#AAAAAA']],
    [['audit', 'x']],
    [['session', 'list']],
    [['call', '--jsonl']],
    [['explain', 'list', '{}', '--session', 'x']],
  ])('%j is status 3 and says what to do', async (args) => {
    const { status, stdout, stderr } = await place.cli(args);
    expect([status, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^countersign: no_service: .*countersign start.*TEMPORAL_ADDRESS.*\n$/);
  });

  it('is an object on stdout with --json', async () => {
    const ran = await place.cli(['--json', 'pending']);
    expect([ran.status, ran.stderr, ran.json()]).toMatchObject([
      3,
      '',
      { error: { kind: 'ExecutionError', code: 'no_service' } },
    ]);
  });

  it('is said of an address where nobody answers, too', async () => {
    const { status, stderr } = await place.cli(['pending'], { env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect(status).toBe(3);
    expect(stderr).toContain('127.0.0.1:1');
  });
});

describe('explain', () => {
  const explain = async (...args: string[]) => {
    const ran = await place.cli(['explain', ...args, '--json']);
    expect(ran.status).toBe(0);
    return ran.json();
  };

  it('says run, with the rules that said so', async () => {
    const answer = await explain('list');
    expect(answer).toMatchObject({
      verdict: 'run',
      tier: 'read_only',
      tierReasons: [],
      rule: 'tier.read_only',
      reason: 'read_only calls run without asking',
    });
    expect(answer['trace']).toContainEqual({
      layer: 'tier',
      rule: 'tier.read_only',
      effect: 'allow',
      reason: 'read_only calls run without asking',
    });
    expect(Object.keys(answer)).toEqual(['verdict', 'tier', 'tierReasons', 'rule', 'reason', 'trace']);
  });

  it('says ask where a person would be asked', async () => {
    const path = '/var/tmp/x';
    expect(await explain('delete', JSON.stringify({ path }))).toMatchObject({
      verdict: 'ask',
      tier: 'elevated',
      tierReasons: [`${path} is outside of the workspace`],
      rule: 'risk.delete_outside',
    });
  });

  it('tells people what decided apart from what raised the tier', async () => {
    const config = join(place.home, 'asks.jsonc');
    await writeFile(config, '{ "ask": ["delete"] }');
    const { stdout } = await place.cli(['explain', 'delete', '{"path":"/var/tmp/x"}', '--config', config]);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'ask  delete  a person would be asked',
      '  decided by ask "delete"',
      '  tier elevated: /var/tmp/x is outside of the workspace',
    ]);
  });

  it('says deny, with the error that the call would end with', async () => {
    expect(await explain('write', '{"path":"../x","content":""}')).toMatchObject({
      verdict: 'deny',
      error: { kind: 'PermissionDenied', code: 'outside_workspace' },
    });
  });

  it('says invalid, with the failing field and the schema', async () => {
    expect(await explain('read', '{"pth":"a"}')).toMatchObject({
      verdict: 'invalid',
      tier: 'read_only',
      tierReasons: [],
      rule: null,
      reason: null,
      trace: [],
      error: { kind: 'ValidationError', code: 'invalid_arguments', field: '/pth', schema: { type: 'object' } },
    });
  });

  it.each([
    ['raed', 'read'],
    ['constructor', 'countersign tools'],
    ['__proto__', 'countersign tools'],
    ['toString', 'countersign tools'],
    ['', 'countersign tools'],
  ])('of tool %j names the nearest', async (tool, words) => {
    expect(await explain(tool)).toMatchObject({
      verdict: 'invalid',
      tier: null,
      error: { code: 'unknown_tool', message: expect.stringContaining(words) as string },
    });
  });

  it.each(['{"__proto__":{"path":"a"}}', '{"constructor":1,"path":"a"}', '{"path":{"__proto__":1}}'])(
    'of arguments %s is invalid',
    async (args) => {
      expect(await explain('read', args)).toMatchObject({ verdict: 'invalid', error: { code: 'invalid_arguments' } });
    },
  );

  it('goes by --workspace and --config', async () => {
    const other = join(place.home, '..', 'other');
    await mkdir(other);
    await writeFile(join(other, 'strict.jsonc'), '{ "deny": ["list"] }');
    expect(await explain('read', JSON.stringify({ path: join(other, 'a') }), '--workspace', other)).toMatchObject({
      verdict: 'run',
    });
    expect(await explain('read', JSON.stringify({ path: join(other, 'a') }))).toMatchObject({ verdict: 'deny' });
    expect(await explain('list', '{}', '--config', join(other, 'strict.jsonc'))).toMatchObject({
      verdict: 'deny',
      error: { code: 'policy_denied' },
    });
  });

  it.each([
    ['list', ['--agent', 'coder'], 'agents.coder.deny "list"'],
    ['stat', ['--agent', 'coder', '--kind', 'branch'], 'agents.coder.subAgents.deny "stat"'],
    ['list', ['--channel', 'support'], 'channels.support.deny "list"'],
    ['list', ['--kind', 'branch', '--channel', 'support'], 'channels.support.deny "list"'],
    ['list', ['--provider', 'acme'], 'providers.acme.deny "list"'],
    ['list', ['--group', 'room'], 'conversations.room.deny "list"'],
  ])('of %s goes by the session that %j describe', async (tool, session, rule) => {
    const config = join(place.home, 'session.jsonc');
    const deny = ['list'];
    const agents = { coder: { deny, subAgents: { deny: ['stat'] } } };
    const rules = { agents, channels: { support: { deny } }, providers: { acme: { deny } } };
    await writeFile(config, JSON.stringify({ ...rules, conversations: { room: { deny } } }));
    const args = tool === 'stat' ? '{"path":"."}' : '{}';
    expect(await explain(tool, args, '--config', config)).toMatchObject({ verdict: 'run' });
    expect(await explain(tool, args, '--config', config, ...session)).toMatchObject({ verdict: 'deny', rule });
  });

  it('lets owners have what is for owners, and nobody else', async () => {
    const config = join(place.home, 'owners.jsonc');
    await writeFile(config, '{ "owners": ["ann"], "ownerOnly": ["list"] }');
    expect(await explain('list', '{}', '--config', config)).toMatchObject({ verdict: 'deny' });
    expect(await explain('list', '{}', '--config', config, '--owner', 'ann')).toMatchObject({ verdict: 'run' });
  });

  it('refuses a broken configuration by line and field', async () => {
    const file = join(place.home, 'broken.jsonc');
    await writeFile(file, '{\n  "shell": { "backend": "sandbax" }\n}');
    const { status, stderr } = await place.cli(['explain', 'list', '{}', '--config', file]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^countersign: invalid_config: .*broken\.jsonc:2:\d+: \/shell\/backend: .*sandbox/);
  });

  it('answers line by line with --jsonl, whatever the lines are', async () => {
    const lines = [
      '{"tool":"list","arguments":{}}',
      'x',
      '',
      '{"tool":"raed","arguments":{}}',
      '{"tool":"list","arguments":[]}',
      '{"tool":"write","arguments":{"path":"../x","content":""}}',
    ];
    const ran = await place.cli(['explain', '--jsonl'], { stdin: lines.join('\n') });
    expect(ran.status).toBe(0);
    expect(ran.lines().map(({ line, verdict }) => [line, verdict])).toEqual([
      [1, 'run'],
      [2, 'invalid'],
      [4, 'invalid'],
      [5, 'invalid'],
      [6, 'deny'],
    ]);
  });
});

describe('tools', () => {
  it('lists what a main session of this folder may call, and what is missing and why', async () => {
    const ran = await place.cli(['tools', '--json', '--config', await configFile('{ "deny": ["delete"] }')]);
    const { tools, missing } = ran.json() as { tools: { name: string; parameters: object }[]; missing: object[] };
    expect(tools.map(({ name }) => name)).toContain('read');
    expect(tools.map(({ name }) => name)).not.toContain('delete');
    expect(missing).toContainEqual({ name: 'delete', reason: expect.stringMatching(/delete|denied/) as string });
  });

  it.each(['anthropic', 'openai', 'gemini'])('prints one array for %s', async (format) => {
    const ran = await place.cli(['tools', '--format', format]);
    expect(Array.isArray(JSON.parse(ran.stdout))).toBe(true);
    expect(ran.stdout).toContain('"read"');
  });

  const configFile = async (text: string): Promise<string> => {
    const file = join(place.home, 'tools.jsonc');
    await writeFile(file, text);
    return file;
  };
});

describe('workspace', () => {
  it('adds, lists and removes folders, by their real paths', async () => {
    expect((await place.cli(['workspace', 'add', '.', '--json'])).json()).toEqual({
      workspace: place.workspace,
      trusted: true,
    });
    expect((await place.cli(['workspace', 'list'])).stdout).toBe(`${place.workspace}\n`);
    expect((await place.cli(['workspace', 'remove', place.workspace, '--json'])).json()).toMatchObject({
      removed: true,
    });
    expect((await place.cli(['workspace', 'list', '--json'])).json()).toEqual({ workspaces: [] });
  });

  it.each(['/', '/etc', '/nonexistent/x'])('never trusts %s', async (folder) => {
    const { status, stderr } = await place.cli(['workspace', 'add', folder]);
    expect(status).toBe(2);
    expect(stderr).toContain('untrusted_workspace');
  });
});

describe('start', () => {
  it('does not start on a broken configuration', async () => {
    const file = join(place.home, 'start.jsonc');
    await writeFile(file, '{ "agents": 7 }');
    const ran = await place.cli(['start', '--config', file, '--json']);
    expect(ran.status).toBe(2);
    expect(ran.json()).toMatchObject({ error: { code: 'invalid_config', field: '/agents' } });
  });
});

describe('start-up', () => {
  it('of pending and approve loads no worker, no schema library and no policy', async () => {
    const hooks = join(place.home, 'hooks.mjs');
    await writeFile(
      hooks,
      `import { registerHooks } from 'node:module';
       const seen = [];
       registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
       process.on('exit', () => process.stderr.write('\\nLOADED ' + JSON.stringify(seen) + '\\n'));`,
    );
    for (const args of [['pending'], ['approve', '#AAAAAA']]) {
      const { stderr } = await place.cli(args, { env: { NODE_OPTIONS: `--import=${hooks}` } });
      const loaded = JSON.parse(/LOADED (.*)/.exec(stderr)?.[1] ?? '[]') as string[];
      expect(loaded.length).toBeGreaterThan(50);
      expect(
        loaded.filter((url) =>
          /@temporalio\/(worker|core-bridge|activity|workflow)\/|\/node_modules\/(ajv|typebox|pino|execa)\/|\/src\/(policy|tools|context|activities)\//.test(
            url,
          ),
        ),
      ).toEqual([]);
    }
  });
});
