import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { folderSessionId } from '../../src/cli/sessions/main-session.ts';
import { nameOf, sharedService } from './cli.fixture.ts';

// Every step is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const { service, cli, json } = sharedService();
beforeAll(() => writeFile(join(service().workspace, 'a.txt'), 'one\ntwo\n'));

const call = (...args: string[]) => json('call', ...args);

describe('start', () => {
  it('prints one object when calls can run, and has run one', () => {
    expect(service().ready).toMatchObject({
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
      namespace: 'default',
      pid: service().child.pid,
      from: 'embedded',
      firstCall: { tool: 'list', status: 'completed' },
      waiting: { approval: 0, correction: 0 },
    });
  });

  it('is refused beside another service on the same state', async () => {
    expect(await json('start', '--port', '0', '--no-ui')).toMatchObject([
      2,
      { error: { code: 'invalid_usage', message: expect.stringContaining(String(service().child.pid)) as string } },
    ]);
  });
});

describe('a call', () => {
  it('that completes is status 0, and its line has the names of the contract only', async () => {
    const [status, line] = await call('read', '{"path":"a.txt"}', '--call-id', 'read-1');
    expect(status).toBe(0);
    expect(line).toMatchObject({
      callId: 'read-1',
      session: folderSessionId(service().workspace),
      tool: 'read',
      status: 'completed',
      attempts: 1,
      tries: 1,
    });
    expect(Object.keys(line)).toEqual([
      'callId',
      'session',
      'tool',
      'status',
      'output',
      'display',
      'attempts',
      'tries',
      'durationMs',
    ]);
  });

  it('of the same id and content is the same call; with other content it is refused', async () => {
    const [, first] = await call('read', '{"path":"a.txt"}', '--call-id', 'same');
    const [again, second] = await call('read', '{"path":"a.txt"}', '--call-id', 'same');
    expect([again, second['output']]).toEqual([0, first['output']]);
    const [status, other] = await call('read', '{"path":"b.txt"}', '--call-id', 'same');
    expect([status, other]).toMatchObject([2, { error: { kind: 'ValidationError', code: 'call_id_reused' } }]);
  });

  it('takes arguments from standard input', async () => {
    const ran = await cli(['call', 'write', '-', '--json'], { stdin: '{"path":"b.txt","content":"from stdin"}' });
    expect([ran.status, ran.json()['status']]).toEqual([0, 'completed']);
  });

  it('comes from the same session by way of a link to the folder', async () => {
    const link = join(service().workspace, '..', 'link');
    await symlink(service().workspace, link);
    const ran = await cli(['call', 'list', '--json'], { cwd: link });
    expect(ran.json()['session']).toBe(folderSessionId(service().workspace));
  });

  it('that fails or is denied is status 1, with its error', async () => {
    expect(await call('read', '{"path":"none.txt"}')).toMatchObject([
      1,
      { status: 'failed', error: { kind: 'ExecutionError', code: 'file_not_found' } },
    ]);
    expect(await call('write', '{"path":"../x","content":""}')).toMatchObject([
      1,
      { status: 'denied', error: { code: 'outside_workspace' } },
    ]);
  });

  it('says on a terminal what it made, how it stands, and its name', async () => {
    const { status, stdout, stderr } = await cli(['call', 'read', '{"path":"a.txt"}', '--call-id', 'text']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/│ one\n {4}│ two\n.*\ncompleted {2}read {2}.* {2}call\/project-[0-9a-f]{12}\/text\n$/s);
  });
});

describe('a call with wrong arguments', () => {
  it('waits for a correction with status 4, goes on with it, and takes no second one', async () => {
    const [status, line] = await call('read', '{"pth":"a.txt"}');
    expect([status, line]).toMatchObject([4, { status: 'waiting', waitingFor: 'correction', attempts: 1, tries: 0 }]);
    expect(line['error']).toMatchObject({
      kind: 'ValidationError',
      code: 'invalid_arguments',
      field: '/pth',
      schema: { type: 'object' },
    });
    expect(await json('amend', nameOf(line), '{"path":"a.txt"}')).toMatchObject([
      0,
      { callId: line['callId'], tool: 'read', status: 'completed', attempts: 2, tries: 1 },
    ]);
    expect(await json('amend', nameOf(line), '{"path":"a.txt"}')).toMatchObject([
      2,
      { error: { code: 'not_waiting_for_correction' } },
    ]);
  });

  it('ends invalid with status 1 after three attempts', async () => {
    const [, line] = await call('read', '{"a":1}');
    expect((await cli(['amend', nameOf(line), '{"b":1}'])).status).toBe(4);
    expect(await json('amend', nameOf(line), '{"c":1}')).toMatchObject([
      1,
      { status: 'invalid', attempts: 3, tries: 0, error: { code: 'invalid_arguments', field: '/c' } },
    ]);
  });

  it('of 20 levels is sent back, of 1 MB refused at once', async () => {
    const deep = `{"path":${'['.repeat(19)}${']'.repeat(19)}}`;
    expect(await call('read', deep)).toMatchObject([
      4,
      { error: { code: 'invalid_arguments', message: expect.stringContaining('16 levels') as string } },
    ]);
    const large = await cli(['call', 'write', '-', '--json'], {
      stdin: JSON.stringify({ path: 'l', content: 'x'.repeat(1_000_000) }),
    });
    expect([large.status, large.json()]).toMatchObject([
      2,
      { error: { kind: 'ValidationError', code: 'arguments_too_large' } },
    ]);
  });

  it.each(['{"__proto__":{"path":"a"}}', '{"constructor":1,"path":"a.txt"}'])('%s is sent back', async (args) => {
    expect(await call('read', args)).toMatchObject([
      4,
      { waitingFor: 'correction', error: { code: 'invalid_arguments' } },
    ]);
  });
});

describe('names that mean nothing', () => {
  it.each([
    ['raed', 'Did you mean read?'],
    ['constructor', 'countersign tools'],
    ['__proto__', 'countersign tools'],
  ])('tool %s is an error that helps', async (tool, words) => {
    const [status, line] = await call(tool);
    expect([1, 4]).toContain(status);
    expect(line['error']).toMatchObject({
      kind: 'ValidationError',
      code: 'unknown_tool',
      message: expect.stringContaining(words) as string,
    });
  });

  it.each([
    [['call', 'list', '--call-id', 'a/b'], 'invalid_id'],
    [['call', 'list', '--session', 'a/b'], 'invalid_id'],
    [['call', 'list', '--session', 'nobody'], 'session_not_found'],
    [['session', 'show', 'nobody'], 'session_not_found'],
    [['session', 'close', 'a/b'], 'session_not_found'],
    [['session', 'open', '--id', 'a/b'], 'invalid_id'],
    [['cancel', 'call/nobody/x'], 'call_not_found'],
    [['amend', 'call/nobody/x', '{}'], 'call_not_found'],
    [['audit', 'call/nobody/x'], 'call_not_found'],
    [['audit', 'nobody'], 'session_not_found'],
    [['show', 'call/nobody/x'], 'call_not_found'],
    [['show', '#AAAAAA'], 'call_not_found'],
  ])('%j is status 2, %s', async (args, code) => {
    const ran = await cli([...args, '--json']);
    expect([ran.status, ran.stderr, ran.json()]).toMatchObject([2, '', { error: { code } }]);
  });

  it.each([['cancel'], ['amend', '{}']])(
    '%s of an unknown call names the list with corrections',
    async (name, ...args) => {
      const ran = await cli([name, 'call/nobody/x', ...args]);
      expect(ran.stderr).toMatch(/There is no call call\/nobody\/x\. List what waits: countersign pending --all\n$/);
    },
  );
});

describe('waiting for a call', () => {
  it('is left out with --no-wait, ends at --wait with status 4, and cancel ends the call', async () => {
    const [status, line] = await call('shell', '{"command":"sleep 60"}', '--no-wait');
    expect([status, line['status']]).toEqual([0, 'running']);
    const same = ['shell', '{"command":"sleep 60"}', '--call-id', String(line['callId'])];
    expect(await call(...same, '--wait', '1s')).toMatchObject([4, { status: 'running' }]);
    expect(await json('cancel', nameOf(line))).toMatchObject([
      0,
      { tool: 'shell', status: 'cancelled', error: { code: 'cancelled' } },
    ]);
    expect((await cli(['cancel', nameOf(line)])).status).toBe(0);
  });

  it('is interrupted by Ctrl-C with status 130; the call goes on', async () => {
    const began = join(service().workspace, 'began');
    const args = ['shell', '{"command":"touch began; sleep 3; touch went-on"}', '--call-id', 'interrupted'];
    const ran = await cli(['call', ...args, '--json'], {
      started: (child) =>
        void expect
          .poll(() => existsSync(began), { timeout: 30_000 })
          .toBe(true)
          .then(() => child.kill('SIGINT')),
    });
    expect([ran.status, ran.stdout]).toEqual([130, '']);
    expect(ran.stderr).toMatch(/countersign cancel call\/project-[0-9a-f]+\/interrupted/);
    expect(await call(...args)).toMatchObject([0, { status: 'completed', tries: 1 }]);
    expect(existsSync(join(service().workspace, 'went-on'))).toBe(true);
  });

  it('cancel of a call that had completed is status 1', async () => {
    const [, line] = await call('list');
    expect(await json('cancel', nameOf(line))).toMatchObject([1, { status: 'completed' }]);
  });
});

describe('call --jsonl', () => {
  it('answers every line, whatever it is, and is status 0', async () => {
    const lines = [
      '{"tool":"list","arguments":{},"expect":"ignored"}',
      'no json',
      '',
      '{"tool":"read","arguments":{"path":"none"},"callId":"l4"}',
      '{"tool":"list","callId":"a/b","arguments":{}}',
      '{"tool":"list","session":"nobody","arguments":{}}',
      '{"tool":"read","arguments":{"pth":1}}',
      '{"tool":"list","arguments":"{}"}',
      '{"__proto__":{"tool":"list"}}',
      `{"tool":"write","arguments":{"path":"x","content":"${'x'.repeat(300_000)}"}}`,
      'x'.repeat(3_000_000),
      `{"tool":"list","arguments":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      '\ud800 \u0000',
      '{"tool":"write","arguments":{"path":"../x","content":""}}',
    ];
    const ran = await cli(['call', '--jsonl'], { stdin: lines.join('\n') });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    const answers = ran.lines().toSorted((a, b) => Number(a['line']) - Number(b['line']));
    expect(
      answers.map(({ line, status, error }) => [line, status, (error as { code?: string } | undefined)?.code]),
    ).toEqual([
      [1, 'completed', undefined],
      [2, 'invalid', 'invalid_json'],
      [4, 'failed', 'file_not_found'],
      [5, 'invalid', 'invalid_id'],
      [6, expect.stringMatching(/invalid|denied/), 'session_not_found'],
      [7, 'waiting', 'invalid_arguments'],
      [8, 'invalid', 'invalid_arguments'],
      [9, 'invalid', 'invalid_usage'],
      [10, 'invalid', 'arguments_too_large'],
      [11, 'invalid', 'arguments_too_large'],
      [12, 'invalid', 'invalid_arguments'],
      [13, 'invalid', 'invalid_json'],
      [14, 'denied', 'outside_workspace'],
    ]);
    expect(answers[2]).toMatchObject({ callId: 'l4', session: folderSessionId(service().workspace), tool: 'read' });
  });

  it('runs as many at a time as it is told', async () => {
    const lines = Array.from(
      { length: 6 },
      (_, i) => `{"tool":"shell","arguments":{"command":"sleep 1"},"callId":"c${i}"}`,
    ).join('\n');
    const since = Date.now();
    const ran = await cli(['call', '--jsonl', '--concurrency', '6'], { stdin: lines });
    expect(ran.lines().map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'completed'));
    expect(Date.now() - since).toBeLessThan(6_000);
  });

  it('ends quietly when its reader goes away', async () => {
    const ran = await cli(['call', '--jsonl'], {
      stdin: '{"tool":"list","arguments":{}}\n'.repeat(50),
      started: ({ stdout }) => void stdout?.once('data', () => stdout.destroy()),
    });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
  });
});

describe('a folder that nobody trusts', () => {
  it('is refused with status 2, and not once it was added', async () => {
    const other = join(service().workspace, '..', 'other');
    await mkdir(other);
    const ran = await cli(['call', 'list', '--json'], { cwd: other });
    expect([ran.status, ran.json()]).toMatchObject([
      2,
      {
        error: {
          kind: 'PermissionDenied',
          code: 'untrusted_workspace',
          message: expect.stringContaining('countersign workspace add') as string,
        },
      },
    ]);
    await cli(['workspace', 'add', other]);
    expect((await cli(['call', 'list'], { cwd: other })).status).toBe(0);
  });
});

describe('colours', () => {
  it('are for terminals, unless FORCE_COLOR says otherwise', async () => {
    expect((await cli(['session', 'list'])).stdout).not.toContain('\u001b');
    expect((await cli(['session', 'list'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[2m');
    expect((await cli(['session', 'list'], { env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b');
  });
});
