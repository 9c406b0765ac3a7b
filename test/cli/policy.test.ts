import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { caseSession } from '../../src/cli/judge/case-session.ts';
import { type Place, makePlace, nameOf, sharedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

describe('policy test', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace();
    await writeFile(
      join(place.workspace, 'strict.jsonc'),
      '{ "deny": ["shell"], "channels": { "team": { "deny": ["write"] } } }',
    );
  });
  afterAll(() => place.remove());

  const test = async (cases: unknown, ...args: string[]) => {
    await writeFile(join(place.workspace, 'cases.jsonc'), typeof cases === 'string' ? cases : JSON.stringify(cases));
    return place.cli(['policy', 'test', 'cases.jsonc', ...args]);
  };

  const CASES = [
    {
      name: 'list runs',
      tool: 'list',
      arguments: {},
      expect: { verdict: 'run', tier: 'read_only', rule: 'tier.read_only' },
    },
    { tool: 'shell', arguments: { command: 'ls' }, expect: { verdict: 'run' } },
    {
      name: 'a name that hides\u202e',
      tool: 'delete',
      arguments: { path: '/var/tmp/x' },
      expect: { verdict: 'ask', tier: 'elevated' },
    },
    { name: 'wrong', tool: 'read', arguments: { pth: 'a' }, expect: { verdict: 'invalid', code: 'invalid_arguments' } },
    { name: 'none', tool: 'raed', arguments: {}, expect: { verdict: 'invalid', code: 'unknown_tool' } },
    {
      name: 'a worker writes nothing',
      session: { kind: 'worker' },
      tool: 'write',
      arguments: { path: 'a', content: '' },
      expect: { verdict: 'deny' },
    },
  ];

  it('is status 0 when all are as expected', async () => {
    const { status, stdout, stderr } = await test(CASES);
    expect([status, stdout, stderr]).toEqual([
      0,
      '6 cases as expected\njudged by the defaults: no configuration is here\n',
      '',
    ]);
  });

  it('is status 1 with a table when one differs', async () => {
    const { status, stdout } = await test(CASES, '--config', 'strict.jsonc');
    expect(status).toBe(1);
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'CASE      DIFFERENCE',
      '2: shell  verdict: expected run, got deny (deny "shell": shell is denied)',
      '',
      '1 of 6 cases otherwise than expected',
    ]);
    expect(stdout).toMatch(/\njudged by \S+strict\.jsonc\n$/);
  });

  it('prints one line a case with --json', async () => {
    const ran = await test(CASES.slice(0, 2), '--config', 'strict.jsonc', '--json');
    expect(ran.status).toBe(1);
    expect(ran.lines().map(({ name, passed, differences }) => ({ name, passed, differences }))).toEqual([
      { name: 'list runs', passed: true, differences: [] },
      {
        name: '2: shell',
        passed: false,
        differences: ['verdict: expected run, got deny (deny "shell": shell is denied)'],
      },
    ]);
  });

  it('holds a branch to the channel of its main session', async () => {
    const write = { tool: 'write', arguments: { path: 'a', content: '' } };
    const cases = [
      { ...write, session: { kind: 'branch', channel: 'team' }, expect: { verdict: 'deny' } },
      { ...write, session: { kind: 'branch' }, expect: { verdict: 'run' } },
    ];
    expect((await test(cases, '--config', 'strict.jsonc')).stdout).toMatch(/^2 cases as expected\n/);
  });

  it('fails a case whose session a service would refuse, with the nearest name', async () => {
    const list = { tool: 'list', arguments: {}, expect: { verdict: 'run' } };
    const cases = [
      { ...list, name: 'agent', session: { agent: 'defalt' } },
      { ...list, name: 'channel', session: { kind: 'branch', channel: 'taem' }, expect: { verdict: 'invalid' } },
      { ...list, name: 'owner', session: { owner: 'mallory' } },
      { ...list, name: 'declared', session: { agent: 'default', channel: 'team', provider: 'any', group: 'any' } },
      { ...list, name: 'nowhere', session: { channel: null } },
    ];
    const ran = await test(cases, '--config', 'strict.jsonc', '--json');
    expect(ran.status).toBe(1);
    expect(ran.lines().map(({ name, passed, differences }) => [name, passed, differences])).toEqual([
      ['agent', false, [expect.stringContaining('declares no agent "defalt"; did you mean "default"? Name one')]],
      ['channel', false, [expect.stringContaining('declares no channel "taem"; did you mean "team"? Name one')]],
      ['owner', false, [expect.stringContaining('declares no owner "mallory". Name one')]],
      ['declared', true, []],
      ['nowhere', true, []],
    ]);
  });

  it.each([
    ['{}', 'invalid_config'],
    ['[{"tool":"read"}]', 'invalid_config'],
    ['[{"tool":"read","arguments":{},"expect":{"verdict":"maybe"}}]', 'cases.jsonc:1:'],
  ])('refuses %s', async (cases, words) => {
    const { status, stdout, stderr } = await test(cases);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('says when there is no such file', async () => {
    const { status, stderr } = await place.cli(['policy', 'test', 'nowhere.jsonc']);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /^countersign: invalid_usage: No cases can be read from .*nowhere\.jsonc: there is no such file\. .*\n$/,
    );
  });
});

describe('the session of a case', () => {
  const main = {
    id: 'main',
    kind: 'main',
    main: 'main',
    depth: 0,
    workspace: '/w',
    agent: 'default',
    channel: 'inbox',
  } as const;
  it('is a main session of the folder where nothing is said', () => {
    expect(caseSession(main)).toEqual(main);
  });
  it('is below one where it is a branch, and takes its workspace from the folder', () => {
    const above = { ...main, agent: 'coder', channel: 'team', workspace: '/w/sub' };
    expect(caseSession(main, { kind: 'branch', agent: 'coder', channel: 'team', workspace: 'sub' })).toEqual({
      ...above,
      id: 'child',
      kind: 'branch',
      parent: 'main',
      depth: 1,
      channel: null,
      above: [above],
    });
  });
});

describe('tools --prompt', () => {
  it('is text with one section a tool that is offered', async () => {
    const place = await makePlace();
    try {
      await writeFile(join(place.workspace, 'few.jsonc'), '{ "allow": ["read", "list"] }');
      const { status, stdout } = await place.cli(['tools', '--prompt', '--config', 'few.jsonc']);
      expect([status, stdout.match(/^#+ .*$/gm)?.toSorted()]).toEqual([
        0,
        ['# Tools', '## What happens to a call', '## list', '## read'],
      ]);
      expect(stdout).toContain('- `path` (string, optional)');
      expect((await place.cli(['tools', '--prompt', '--config', 'few.jsonc', '--json'])).json()['prompt']).toBe(stdout);
      expect((await place.cli(['tools', '--prompt', '--format', 'openai'])).status).toBe(2);
    } finally {
      await place.remove();
    }
  });
});

describe('policy dry-run', () => {
  const { service, cli, json } = sharedService();
  beforeAll(() => mkdir(join(service().workspace, 'docs')));

  const call = async (tool: string, args: object): Promise<string> =>
    nameOf((await json('call', tool, JSON.stringify(args)))[1]);

  it('lists the calls that the rules of now judge otherwise, by the arguments that were judged last', async () => {
    const wrote = await call('write', { path: 'a.txt', content: 'token=1' });
    const listed = await call('list', {});
    const asked = await call('delete', { path: '/var/tmp/nothing-there' });
    const amended = await call('write', { path: 'b.txt' });
    expect((await cli(['amend', amended, '{"path":"docs/b.txt","content":""}'])).status).toBe(0);

    const since = ['policy', 'dry-run', '--since', '1h'];
    await expect
      .poll(async () => (await cli(since)).stderr, { timeout: 20_000 })
      .toBe('5 calls judged, 0 would change\njudged by the defaults, as the running service\n');
    expect((await cli(since)).stdout).toBe('');

    await writeFile(
      join(service().workspace, 'next.jsonc'),
      '{ "deny": ["delete"], "rules": [{ "name": "docs", "tool": "write", "when": { "path": { "glob": "docs/**" } }, "effect": "ask" }] }',
    );
    const ran = await cli([...since, '--config', 'next.jsonc', '--json']);
    expect(ran.status).toBe(0);
    expect(ran.stderr).toMatch(/^5 calls judged, 2 would change\njudged by \S+next\.jsonc\n$/);
    const lines = ran.lines();
    expect(lines.find(({ id }) => id === asked)).toMatchObject({
      tool: 'delete',
      before: { verdict: 'ask', rule: 'risk.delete_outside', tier: 'elevated' },
      now: { verdict: 'deny', rule: 'deny "delete"' },
      direction: 'stricter',
    });
    expect(lines.find(({ id }) => id === amended)).toMatchObject({
      before: { verdict: 'run' },
      now: { verdict: 'ask', rule: 'rules "docs"' },
    });
    expect(lines.some(({ id }) => id === wrote || id === listed)).toBe(false);
    const table = (await cli([...since, '--config', 'next.jsonc'])).stdout;
    expect(table).toMatch(/^IS NOW +TOOL +VERDICT +CALL +BECAUSE$/m);
    expect(table).toMatch(/^stricter +delete +ask → deny +call\/\S+ +deny "delete": delete is denied$/m);
  });

  it('needs --since', async () => {
    const { status, stderr } = await cli(['policy', 'dry-run']);
    expect(status).toBe(2);
    expect(stderr).toContain('--since');
  });
});
