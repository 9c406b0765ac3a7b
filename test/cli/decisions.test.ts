import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Ran, fileOutside, nameOf, sharedService } from './cli.fixture.ts';

// Every step is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const { service, cli, json } = sharedService();
const me = userInfo().username;

interface Asked {
  id: string;
  /** A file outside of the workspace, whose deletion the call asks for. */
  file: string;
  ran: Ran;
}

async function ask(session?: string): Promise<Asked> {
  const file = await fileOutside(service());
  const within = session === undefined ? [] : ['--session', session];
  const ran = await cli(['call', 'delete', JSON.stringify({ path: file }), ...within, '--json']);
  return { id: nameOf(ran.json()), file, ran };
}

const pendingLines = async (...args: string[]) => (await cli(['pending', '--json', ...args])).lines();

describe('a call that asks', () => {
  it('is status 4, waits in the list, is shown, runs when approved, and tells its story', async () => {
    const { id, file, ran } = await ask();
    expect([ran.status, ran.json()]).toMatchObject([
      4,
      { status: 'waiting', waitingFor: 'approval', attempts: 1, tries: 0 },
    ]);
    const waiting = (await pendingLines()).find((line) => line['id'] === id);
    expect(waiting).toMatchObject({
      tool: 'delete',
      tier: 'elevated',
      waitingFor: 'approval',
      code: expect.stringMatching(/^#[A-Z2-9]{6}$/) as string,
    });
    expect(waiting?.['route']).toEqual([id.split('/')[1]]);
    const code = String(waiting?.['code']);
    expect(await json('show', code)).toMatchObject([
      0,
      { id, code, arguments: { path: file }, tier: 'elevated', agent: 'default', workspace: service().workspace },
    ]);
    expect((await cli(['pending'])).stdout).toContain(code);
    expect(existsSync(file)).toBe(true);

    expect(await json('approve', code.toLowerCase(), '--reason', 'tidy up')).toMatchObject([
      0,
      { answer: 'accepted', call: id },
    ]);
    await expect.poll(() => existsSync(file)).toBe(false);
    expect(await json('approve', id)).toMatchObject([0, { answer: 'already_decided' }]);
    // The code of a request that is decided is found again, too.
    expect(await json('approve', code)).toMatchObject([0, { answer: 'already_decided' }]);
    expect(await json('deny', id, '--reason', 'late')).toMatchObject([5, { answer: 'conflict' }]);

    const [status, story] = await json('audit', id);
    expect(status).toBe(0);
    expect(story).toMatchObject({ kind: 'call', id, facts: { agent: 'default', kind: 'main' } });
    const entries = story['entries'] as Record<string, unknown>[];
    expect(entries.map(({ what }) => what)).toEqual([
      'called',
      'judged',
      'asks',
      'routed',
      'notified',
      'decided',
      'executed',
      'ended',
      'decision',
      'decision',
      'decision',
    ]);
    expect(entries[0]).toMatchObject({ tool: 'delete', arguments: { path: file } });
    expect(entries[1]).toMatchObject({ attempt: 1, verdict: 'ask', tier: 'elevated', rule: 'risk.delete_outside' });
    expect(entries[4]).toMatchObject({ channel: 'inbox', kind: 'requested', told: ['log'], failed: [] });
    expect(entries[5]).toMatchObject({ approver: me, verified: false, decision: 'approve', reason: 'tidy up' });
    expect(entries[6]).toMatchObject({
      try: 1,
      status: 'completed',
      where: 'activity',
      worker: expect.stringContaining(String(service().child.pid)) as string,
    });
    expect(entries[7]).toMatchObject({ status: 'completed', attempts: 1, tries: 1 });
    expect(entries.slice(8).map(({ answer }) => answer)).toEqual(['already_decided', 'already_decided', 'conflict']);
    const text = (await cli(['audit', id])).stdout;
    for (const words of [
      'called delete',
      'judged ask',
      'asks for approval #',
      `approved by ${me} (unverified): tidy up`,
      'try 1 on',
      'people are told in channel inbox: by log',
      'decision not taken (conflict)',
    ]) {
      expect(text).toContain(words);
    }
    const markdown = await cli(['audit', id, '--format', 'markdown']);
    expect([markdown.status, markdown.stdout]).toEqual([0, expect.stringMatching(/^# call\/[^\n]+\n\n- session: /)]);
    expect(markdown.stdout).toContain(`**approved** by ${me} (unverified): tidy up\n`);
    expect((await cli(['audit', id, '--format', 'json'])).json()).toEqual(story);
    expect((await cli(['audit', id, '--json', '--format', 'markdown'])).status).toBe(2);
  });

  it('ends denied with status 1 for who waits for it; the model is told the reason', async () => {
    const file = await fileOutside(service());
    const args = ['call', 'delete', JSON.stringify({ path: file }), '--call-id', 'denied-1'];
    const waiter = cli([...args, '--wait', '30s', '--json']);
    await expect
      .poll(async () => (await pendingLines()).some((line) => String(line['id']).endsWith('/denied-1')), {
        timeout: 15_000,
      })
      .toBe(true);
    const id = String((await pendingLines()).find((line) => String(line['id']).endsWith('/denied-1'))?.['id']);
    expect(await json('deny', id, '--reason', 'keep it')).toMatchObject([0, { answer: 'accepted' }]);
    const ran = await waiter;
    expect(ran.stderr).toMatch(/Waits for approval: countersign show '#[A-Z2-9]{24}'\n/);
    expect([ran.status, ran.json()]).toMatchObject([
      1,
      {
        status: 'denied',
        error: { code: 'approval_denied', message: `${me} denied this call: keep it` },
        approval: { approver: me, verified: false, decision: 'deny', reason: 'keep it' },
      },
    ]);
    expect(existsSync(file)).toBe(true);
  });

  it('is shown with both ends of long texts, and whole with --full', async () => {
    const command = Array.from({ length: 60 }, (_, i) => `touch /srv/file-${i}`).join('\n');
    const asked = JSON.stringify({ command, sandbox: false, reason: 'many' });
    const id = nameOf((await cli(['call', 'shell', asked, '--json'])).json());
    const some = (await cli(['show', id])).stdout;
    expect(some).not.toContain('│ touch /srv/file-30\n');
    expect(some).toMatch(/countersign show '#[A-Z2-9]{24}' --full\n$/);
    expect((await cli(['show', id, '--full'])).stdout).toContain('│ touch /srv/file-30\n');
    await cli(['cancel', id]);
  });

  it('runs edited arguments; a bad edit leaves it waiting, with status 5', async () => {
    const { id, file } = await ask();
    const instead = await fileOutside(service());
    expect(await json('approve', id, '--edit', '{"pth":"x"}')).toMatchObject([
      5,
      { answer: 'invalid_edit', field: '/path' },
    ]);
    expect(await json('approve', id, '--edit', JSON.stringify({ path: instead }))).toMatchObject([
      0,
      { answer: 'accepted' },
    ]);
    await expect.poll(() => existsSync(instead)).toBe(false);
    expect(existsSync(file)).toBe(true);
    // Its session tells what ran.
    const [, session] = await json('audit', String(id.split('/')[1]));
    const line = (session['entries'] as Record<string, unknown>[]).find((entry) => entry['id'] === id);
    expect(line?.['summary']).toBe(`delete: ${instead} (edited by its approver)`);
  });

  it('is ended by cancel', async () => {
    const { id, file } = await ask();
    expect(await json('cancel', id)).toMatchObject([0, { status: 'cancelled' }]);
    expect(await json('approve', id)).toMatchObject([5, { answer: 'not_pending' }]);
    expect(existsSync(file)).toBe(true);
  });

  it('comes up from a branch hop by hop, and the branch goes on meanwhile', async () => {
    await json('session', 'open', '--id', 'top');
    await json('session', 'open', '--kind', 'branch', '--parent', 'top', '--id', 'below');
    const { id } = await ask('below');
    expect(await json('call', 'list', '--session', 'below')).toMatchObject([0, { status: 'completed' }]);
    expect((await pendingLines()).find((line) => line['id'] === id)?.['route']).toEqual(['below', 'top']);
    expect(await json('deny', id, '--reason', 'no')).toMatchObject([0, { answer: 'accepted' }]);
    const [, story] = await json('audit', id);
    const entries = story['entries'] as Record<string, unknown>[];
    expect(entries.filter(({ what }) => what === 'routed').map(({ session }) => session)).toEqual(['below', 'top']);
    const [, main] = await json('audit', 'top');
    const about = main['entries'] as Record<string, unknown>[];
    expect(about).toContainEqual(
      expect.objectContaining({ what: 'child', session: 'below', kind: 'branch', state: 'open' }),
    );
    expect(about).toContainEqual(
      expect.objectContaining({
        what: 'decision',
        decision: 'deny',
        approver: me,
        answer: 'accepted',
        session: 'below',
      }),
    );
    const [, branch] = await json('audit', 'below');
    expect((branch['entries'] as Record<string, unknown>[]).filter(({ what }) => what === 'call')).toHaveLength(2);
    // Of main, the calls below it are checked, too.
    const [verified, checked] = await json('audit', 'top', '--verify');
    expect([verified, checked['session'], checked['holds']]).toEqual([0, 'top', true]);
    const ofDenied = (checked['calls'] as Record<string, unknown>[]).find(({ call }) => call === id);
    expect(ofDenied).toMatchObject({
      holds: true,
      checks: [{ what: 'request' }, { what: 'decision' }, { what: 'outcome' }],
    });
    const strict = join(service().workspace, 'strict.jsonc');
    await writeFile(strict, '{"approvals":{"signatures":"required"}}');
    const [refused, against] = await json('audit', 'top', '--verify', '--config', strict);
    expect([refused, against['holds']]).toEqual([1, false]);
    expect((await cli(['audit', 'top', '--verify', '--config', strict])).stdout).toMatch(
      new RegExp(`It does NOT hold\\.\\n {2}${id}\\n$`),
    );
  });
});

describe('a decision on nothing', () => {
  it.each([['#AAAAAA'], ['call/nobody/none']])('%s is status 5, with its answer on stdout', async (name) => {
    expect(await json('approve', name)).toMatchObject([
      5,
      { answer: 'not_pending', message: expect.any(String) as string },
    ]);
    expect(await json('deny', name, '--reason', 'x')).toMatchObject([5, { answer: 'not_pending' }]);
  });
});

describe('result', () => {
  it('says what came of a call that was approved, by its name and its code, with or without #', async () => {
    const { id } = await ask();
    expect(await json('result', id)).toMatchObject([4, { status: 'waiting', waitingFor: 'approval', attempts: 1 }]);
    const [, { code, longCode }] = await json('show', id);
    const waits = await cli(['result', String(code).slice(1)]);
    expect([waits.status, waits.stdout]).toEqual([4, expect.stringContaining(`countersign approve '${longCode}'`)]);
    const approved = await cli(['approve', String(code).slice(1)]);
    expect(approved.stdout).toContain(`See what came of it: countersign result ${id}\n`);
    const ended = [0, { status: 'completed', tries: 1, approval: { approver: me, decision: 'approve' } }];
    expect(await json('result', id, '--wait', '30s')).toMatchObject(ended);
    expect(await json('result', String(longCode))).toMatchObject(ended);
    expect((await cli(['result', id])).stdout).toContain(`approved by ${me} (unverified)`);
  });

  it('is status 1 of a call that ended otherwise, and prints what the tool put out', async () => {
    const [, denied] = await json('call', 'read', '{"path":"../outside"}');
    expect(await json('result', nameOf(denied))).toMatchObject([1, { status: 'denied', tool: 'read' }]);
    const [, line] = await json('call', 'shell', '{"command":"echo said; exit 3"}');
    const ran = await cli(['result', nameOf(line)]);
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/^said\n[^]*exit status 3/)]);
    const story = (await cli(['audit', nameOf(line)])).stdout;
    expect(story).toMatch(/try 1 on .*: completed, exit status 3 after /);
    expect(story).toMatch(/ completed, exit status 3 \(attempts 1, tries 1\)/);
  });

  it('is status 4 of a call that runs', async () => {
    const [, line] = await json('call', 'shell', '{"command":"sleep 60"}', '--no-wait');
    const id = nameOf(line);
    const ran = await cli(['result', id]);
    expect([ran.status, ran.stdout]).toEqual([4, expect.stringContaining(`countersign result ${id}`)]);
    const none = await cli(['show', id]);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('it runs, or is still being judged')]);
    await cli(['cancel', id]);
  });
});

describe('a call that waits for no approval', () => {
  it('is told from one that is not there, and says how it stands', async () => {
    const saying = (words: string) => ({ message: expect.stringContaining(words) as string });
    const says = async (id: string, words: string) => {
      expect(await json('show', id)).toMatchObject([2, { error: { code: 'call_not_found', ...saying(words) } }]);
      expect(await json('deny', id, '--reason', 'x')).toMatchObject([5, { answer: 'not_pending', ...saying(words) }]);
    };
    const [, wrong] = await json('call', 'read', '{"pth":1}');
    await says(nameOf(wrong), `for corrected arguments: countersign amend ${nameOf(wrong)} `);
    const [, done] = await json('call', 'list');
    await says(nameOf(done), `it has ended (completed). Its story: countersign audit ${nameOf(done)}`);
    await says('call/nobody/x', 'There is no call call/nobody/x');
    await json('cancel', nameOf(wrong));
  });

  it('is found by the code of its request still: how it was decided, its story and its result', async () => {
    const { id } = await ask();
    const code = String((await json('show', id))[1]['code']);
    await json('deny', id, '--reason', 'no');
    await expect.poll(async () => (await json('result', id))[0]).toBe(1);
    const none = await cli(['show', code]);
    expect(none.stderr).toContain(`Call ${id} waits for no approval: it has ended (denied, denied by ${me})`);
    expect(await json('audit', code)).toMatchObject([0, { kind: 'call', id }]);
    expect(await json('audit', code, '--verify')).toMatchObject([0, { call: id }]);
    expect(await json('cancel', code)).toMatchObject([1, { status: 'denied' }]);
  });
});

describe('pending', () => {
  it('names amend where only corrections wait, and show where an approval does', async () => {
    await json('session', 'open', '--id', 'corrections');
    const [, line] = await json('call', 'read', '{"pth":1}', '--session', 'corrections');
    const pending = () => cli(['pending', '--all', '--session', 'corrections']);
    expect((await pending()).stderr).toContain(`Correct one: countersign amend ${nameOf(line)} '{…}'`);
    const { id } = await ask('corrections');
    await json('call', 'read', '{"pth":1}', '--session', 'corrections');
    expect((await pending()).stderr).toMatch(/\nLook at one: countersign show '#[A-Z2-9]{6}'\n$/);
    await cli(['cancel', id]);
  });

  it('lists corrections with --all', async () => {
    const [, line] = await json('call', 'read', '{"pth":1}');
    const id = nameOf(line);
    expect((await pendingLines()).some((line) => line['id'] === id)).toBe(false);
    expect((await pendingLines('--all')).find((line) => line['id'] === id)).toMatchObject({
      waitingFor: 'correction',
      error: { code: 'invalid_arguments' },
    });
  });
});
