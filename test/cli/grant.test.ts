import { userInfo } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { sharedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

const { cli } = sharedService();

describe('grant', () => {
  it('is added, lets the call run, is listed, and is revoked', async () => {
    const call = ['call', 'shell', '{"command":"rm -f gone","sandbox":false,"reason":"tidy"}', '--json'];
    expect(await cli(call)).toMatchObject({ status: 4 });

    const exact = '{"command":"rm -f gone","sandbox":false,"reason":"tidy"}';
    const added = await cli(['grant', 'add', 'shell', exact, '--for', '1h', '--id', 'tidy', '--as', 'ada', '--json']);
    expect(added.status).toBe(0);
    expect(added.json()).toMatchObject({
      id: 'tidy',
      tool: 'shell',
      by: 'ada',
      arguments: { command: { exact: 'rm -f gone' } },
    });

    const ran = await cli(call);
    expect(ran.status).toBe(0);
    expect(ran.json()).toMatchObject({
      status: 'completed',
      approval: { approver: 'ada', verified: false, grant: 'tidy' },
    });

    // Policy alone, as its help says.
    expect((await cli(['explain', 'shell', exact, '--json'])).json()).toMatchObject({ verdict: 'ask' });
    const listed = await cli(['grant', 'list']);
    expect(listed.stdout).toMatch(/^tidy {2}shell command="rm -f gone" .* by ada \(unsigned\) {2}until /);
    const revoked = await cli(['grant', 'revoke', 'tidy', '--as', 'eva']);
    expect([revoked.status, revoked.stdout]).toEqual([0, 'tidy is revoked, on record as by eva (unverified).\n']);
    expect((await cli(['grant', 'list', '--json'])).stdout).toBe('');
    expect(await cli(call)).toMatchObject({ status: 4 });
  });

  it('is made for an agent with --agent', async () => {
    const call = ['call', 'shell', '{"command":"rm -f agents","sandbox":false,"reason":"tidy"}', '--json'];
    const add = ['grant', 'add', 'shell', call[2] ?? '', '--for', '1h', '--json', '--agent'];
    const other = await cli([...add, 'other']);
    expect(other.json()).toMatchObject({ scope: { agent: 'other' } });
    expect(await cli(call)).toMatchObject({ status: 4 });
    const own = await cli([...add, 'default', '--id', 'agents']);
    expect(own.json()).toMatchObject({ scope: { agent: 'default' } });
    expect((await cli(['grant', 'list'])).stdout).toMatch(/^agents {2}shell .*  agent default in \//m);
    expect((await cli(call)).json()).toMatchObject({ status: 'completed', approval: { grant: 'agents' } });
    await cli(['grant', 'revoke', 'agents']);
    await cli(['grant', 'revoke', String(other.json()['id'])]);
  });

  it('is revoked by the beginning of its id, where only one begins so', async () => {
    const add = (id: string) =>
      cli(['grant', 'add', 'delete', `{"path":"${id}"}`, '--for', '1h', '--id', id, '--json']);
    for (const id of ['begun-aa', 'begun-ab', 'begun']) expect((await add(id)).status).toBe(0);
    const ids = async () => (await cli(['grant', 'list', '--json'])).lines().map(({ id }) => id);
    const unclear = await cli(['grant', 'revoke', 'begun-a']);
    expect([unclear.status, unclear.stdout, unclear.stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/ambiguous_name: .*begun-aa, begun-ab/) as string,
    ]);
    expect((await cli(['grant', 'revoke', 'begun-aa', '--json'])).json()).toMatchObject({ id: 'begun-aa' });
    const one = await cli(['grant', 'revoke', 'begun-', '--as', 'eva']);
    expect([one.status, one.stdout]).toEqual([0, 'begun-ab is revoked, on record as by eva (unverified).\n']);
    expect(await ids()).toEqual(['begun']);
    expect((await cli(['grant', 'revoke', 'begun'])).status).toBe(0);
    expect(await ids()).toEqual([]);
  });

  it('that is not listed is said to be so, and its id is barred all the same', async () => {
    const by = userInfo().username;
    await cli(['grant', 'add', 'delete', '{"path":"tidy"}', '--for', '1h', '--id', 'tidy-up', '--json']);
    const ran = await cli(['grant', 'revoke', 'tidy-ip']);
    expect([ran.status, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toMatch(/^No grant tidy-ip is listed here; .* still hold\. Did you mean tidy-up\?\n/);
    expect((await cli(['grant', 'list', '--json'])).json()).toMatchObject({ id: 'tidy-up' });
    await cli(['grant', 'revoke', 'tidy-up']);

    const unknown = await cli(['grant', 'revoke', 'nothing', '--json']);
    expect([unknown.status, unknown.json()]).toEqual([1, { id: 'nothing', revoked: false, listed: false, by }]);
    expect((await cli(['grant', 'revoke', 'nothing'])).stderr).toMatch(/See what holds: countersign grant list/);
    const barred = await cli(['grant', 'add', 'delete', '{"path":"x"}', '--for', '1h', '--id', 'nothing', '--json']);
    expect(barred.json()).toMatchObject({ error: { code: 'invalid_id' } });
  });

  it.each([
    [['grant', 'add', 'shell', '{}'], /--for/],
    [['grant', 'add', 'shell', '{}', '--for', '31d'], /within 30 days/],
    [['grant', 'revoke', 'tidy', '--as', ''], /--as <name>' argument '' is invalid\. It needs a name/],
    [['grant', 'add', 'shel', '{}', '--for', '1h'], /no tool "shel"/],
    [['grant', 'add', 'shell', '{}', '--glob', 'x', '--for', '1h'], /NAME=PATTERN/],
    [
      ['grant', 'add', 'delete', '{}', '--for', '1h'],
      /never be used: every call of delete has "path", .* as in --glob 'path=…'\./,
    ],
    [
      ['grant', 'add', 'edit', '{}', '--glob', 'path=docs/*', '--for', '1h'],
      /every call of edit has "oldText", "newText",/,
    ],
    [['grant', 'add', 'delete', '{"path":7}', '--for', '1h'], /never be used: delete: "path" must be string/],
    [['grant', 'add', 'delete', '{"path":"a","recursiv":true}', '--for', '1h'], /did you mean "recursive"\?\n$/],
    [
      ['grant', 'add', 'shell', '{"command":"git log -3","sandbox":false,"reason":"r"}', '--for', '1h'],
      /never be used: what runs other programs .* one by one \(countersign pending .* in the sandbox/,
    ],
    [['grant', 'add', 'shell', '{}', '--glob', 'command=git push *', '--for', '1h'], /never be used/],
    [['grant', 'add', 'shell', '{}', '--glob', 'command=* push', '--for', '1h'], /begins with the name of a program/],
    [
      ['grant', 'add', 'shell', '{"sandbox":false,"reason":"r"}', '--glob', 'command=tar *', '--for', '1h'],
      /never be used: outside of the sandbox tar may run more than its words say\. .* by an allow rule for exactly its words/,
    ],
    [
      ['grant', 'add', 'shell', '{"command":"touch x && no-such-program","sandbox":false,"reason":"r"}', '--for', '1h'],
      /never be used: outside of the sandbox no program "no-such-program" was found/,
    ],
  ])('%j is refused with what to do', async (args, message) => {
    const ran = await cli(args);
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringMatching(message) as string]);
  });
});
