import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { folderSessionId } from '../../src/cli/sessions/main-session.ts';
import { fileOutside, sharedService, startedService } from './cli.fixture.ts';

// Every step is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const { service, cli, json } = sharedService();

describe('sessions', () => {
  it('are opened, found again, listed, shown and closed', async () => {
    const [status, opened] = await json('session', 'open', '--id', 'one');
    expect([status, opened]).toEqual([
      0,
      {
        id: 'one',
        kind: 'main',
        main: 'one',
        depth: 0,
        workspace: service().workspace,
        agent: 'default',
        channel: 'inbox',
        state: 'open',
      },
    ]);
    expect((await json('session', 'open', '--id', 'one'))[0]).toBe(0);
    const lines = (await cli(['session', 'list', '--json'])).lines();
    expect(lines).toContainEqual({ ...opened });
    expect(await json('session', 'show', 'one')).toMatchObject([
      0,
      { id: 'one', state: 'open', children: [], pending: 0, notices: [] },
    ]);
    expect(await json('session', 'close', 'one')).toMatchObject([
      0,
      { id: 'one', state: 'closed', callsEnded: 0, callsLeft: 0, childrenLeft: [] },
    ]);
    expect(await json('session', 'close', 'one')).toMatchObject([0, { id: 'one', state: 'closed' }]);
    expect(await json('session', 'show', 'one')).toMatchObject([0, { id: 'one', state: 'closed' }]);
    expect((await cli(['session', 'list', '--json'])).lines().map(({ id }) => id)).not.toContain('one');
    expect((await cli(['session', 'list', '--all', '--json'])).lines()).toContainEqual({
      ...opened,
      state: 'closed',
    });
    expect(await json('call', 'list', '--session', 'one')).toMatchObject([
      2,
      { error: { kind: 'PermissionDenied', code: 'session_closed' } },
    ]);
    expect(await json('session', 'open', '--id', 'one')).toMatchObject([2, { error: { code: 'session_closed' } }]);
  });

  it('of one id have one workspace', async () => {
    await mkdir(join(service().workspace, 'sub'));
    await json('session', 'open', '--id', 'two');
    expect(await json('session', 'open', '--id', 'two', '--workspace', 'sub')).toMatchObject([
      2,
      { error: { code: 'session_exists' } },
    ]);
  });

  it.each(['/etc', '/nonexistent', '..'])('work in no folder that is not trusted: %s', async (folder) => {
    expect(await json('session', 'open', '--workspace', folder)).toMatchObject([
      2,
      { error: { code: 'untrusted_workspace' } },
    ]);
  });

  it('have declared agents and channels only; with channel none nobody can be asked', async () => {
    expect(await json('session', 'open', '--agent', 'stranger')).toMatchObject([2, { error: { code: 'undeclared' } }]);
    expect(await json('session', 'open', '--channel', 'pager')).toMatchObject([2, { error: { code: 'undeclared' } }]);
    expect(await json('session', 'open', '--id', 'deaf', '--channel', 'none')).toMatchObject([0, { channel: null }]);
    expect(await json('call', 'delete', '{"path":"/var/tmp/none"}', '--session', 'deaf')).toMatchObject([
      1,
      { status: 'denied', error: { code: 'no_approver' } },
    ]);
  });

  it('that were refused are none: not listed, not found, no warning, and their id is free', async () => {
    let log = '';
    service().child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    expect(await json('session', 'open', '--id', 'later', '--agent', 'stranger')).toMatchObject([
      2,
      { error: { code: 'undeclared' } },
    ]);
    await expect
      .poll(() => json('session', 'show', 'later'), { timeout: 10_000 })
      .toMatchObject([2, { error: { code: 'session_not_found' } }]);
    expect((await cli(['session', 'list', '--all', '--json'])).lines().map(({ id }) => id)).not.toContain('later');
    expect(await json('session', 'open', '--id', 'later')).toMatchObject([0, { id: 'later', state: 'open' }]);
    expect((await cli(['session', 'list', '--all', '--json'])).lines().map(({ id }) => id)).toContain('later');
    expect(log).not.toContain('Workflow failed');
  });

  it('of kind worker only read, and tools says why', async () => {
    await json('session', 'open', '--id', 'boss');
    expect(await json('session', 'open', '--kind', 'worker', '--parent', 'boss', '--id', 'helper')).toMatchObject([
      0,
      { kind: 'worker', parent: 'boss', main: 'boss', depth: 1, channel: null },
    ]);
    const [, { tools, missing }] = (await json('tools', '--session', 'helper')) as [
      number,
      { tools: { name: string }[]; missing: { name: string; reason: string }[] },
    ];
    expect(tools.map(({ name }) => name)).toEqual(['read', 'list', 'stat', 'search']);
    expect(missing.find(({ name }) => name === 'shell')?.reason).toContain('worker session');
    expect(await json('explain', 'write', '{"path":"a","content":""}', '--session', 'helper')).toMatchObject([
      0,
      { verdict: 'deny' },
    ]);
    expect(await json('call', 'write', '{"path":"a","content":""}', '--session', 'helper')).toMatchObject([
      1,
      { status: 'denied' },
    ]);
  });

  it('of a folder follow each other: a closed one is never reused', async () => {
    const id = folderSessionId(service().workspace);
    await json('call', 'list');
    expect((await json('session', 'close', id))[0]).toBe(0);
    expect(await json('call', 'list')).toMatchObject([0, { session: `${id}-2` }]);
    expect(await json('call', 'list')).toMatchObject([0, { session: `${id}-2` }]);
  });
});

describe('the whole service', () => {
  it('ends with status 0 at Ctrl-C, and finds what waits when it is back', async () => {
    const other = await startedService();
    try {
      const outside = await fileOutside(other);
      const asked = await other.cli([
        'call',
        'delete',
        JSON.stringify({ path: outside }),
        '--call-id',
        'kept',
        '--json',
      ]);
      expect(asked.status).toBe(4);
      expect(await other.stop()).toBe(0);
      expect((await other.cli(['pending'])).status).toBe(3);
      const again = await startedService([], other);
      expect(again.ready).toMatchObject({ waiting: { approval: 1, correction: 0 } });
      expect((await other.cli(['approve', `call/${folderSessionId(other.workspace)}/kept`])).status).toBe(0);
      expect(await again.stop()).toBe(0);
    } finally {
      await other.remove();
    }
  });

  it('ends with status 3 when its server dies, and says so; so does who waits for a call of it', async () => {
    const other = await startedService();
    try {
      const ended = new Promise<number | null>((resolve) => other.child.once('close', resolve));
      let stderr = '';
      other.child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const asking = other.cli(['call', 'delete', '{"path":"/var/tmp/none"}', '--wait', '5m', '--json']);
      await expect.poll(async () => (await other.cli(['pending', '--json'])).lines()).toHaveLength(1);
      const pid = Number((await readFile(join(other.home, 'state', 'temporal.pid'), 'utf8')).split('\n')[0]);
      process.kill(pid, 'SIGKILL');
      expect(await ended).toBe(3);
      expect(stderr).toContain('server_stopped: The Temporal server ended by SIGKILL');
      const asked = await asking;
      expect([asked.status, asked.json()]).toMatchObject([3, { error: { code: 'no_service' } }]);
      expect(asked.stderr).toContain('The Temporal server does not answer. It is asked again for a few seconds …\n');
    } finally {
      await other.remove();
    }
  });
});
