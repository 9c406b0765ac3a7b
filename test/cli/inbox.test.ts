/** The inbox in a terminal of its own, against a real service. */
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it, vi } from 'vitest';
import { fileOutside, makePlace, sharedService } from './cli.fixture.ts';
import { type Pty, hasScript, openTerminal } from './pty.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

describe('without a terminal', () => {
  it.each([[['inbox']], [['inbox', '--json']]])('%j is refused with status 2, and says what to use', async (args) => {
    const place = await makePlace();
    const { status, stdout, stderr } = await place.cli(args);
    await place.remove();
    expect(status).toBe(2);
    expect(stdout + stderr).toContain('countersign pending');
  });
});

describe.skipIf(!hasScript)('on a terminal', () => {
  const { service, cli, json } = sharedService();

  /** A call that asks for the deletion of a file outside of the workspace. */
  async function ask(callId: string): Promise<string> {
    const file = await fileOutside(service());
    await cli(['call', 'delete', JSON.stringify({ path: file }), '--call-id', callId, '--no-wait']);
    return file;
  }

  const status = async (callId: string): Promise<unknown> => {
    const id = (await cli(['session', 'list', '--json'])).lines()[0]?.['id'];
    const [, story] = await json('audit', `call/${String(id)}/${callId}`);
    return (story['entries'] as Record<string, unknown>[]).find(({ what }) => what === 'ended')?.['status'] ?? 'open';
  };

  it('shows what waits, whatever else somebody puts into the namespace', async () => {
    const client = new Client({
      connection: await Connection.connect({ address: String(service().ready['address']) }),
    });
    for (const [name, waiting] of Object.entries({
      nothing: { for: 'approval' },
      text: { for: 'approval', request: 'text', tool: 'x' },
      half: { for: 'approval', tool: 'x', request: { digest: 7, route: null } },
    })) {
      await client.workflow.start('toolCall', {
        workflowId: `call/stranger/${name}`,
        taskQueue: 'nowhere',
        memo: { countersignWaiting: waiting },
        searchAttributes: { CountersignState: ['waiting'], CountersignSession: ['stranger'] },
      });
    }
    const query = 'CountersignSession="stranger"';
    await expect.poll(async () => (await client.workflow.count(query)).count).toBe(3);
    const { status, stdout } = await cli(['pending', '--json']);
    expect([status, stdout]).toEqual([0, '']);
    await client.connection.close();
  });

  it('approves, denies and edits what is looked at, and leaves the terminal as it was', async () => {
    const kept = await ask('kept');
    const editor = join(service().workspace, '..', 'editor.sh');
    const instead = await ask('instead');
    await writeFile(editor, `#!/bin/sh\necho '{"path":"${instead}"}' > "$1"\n`);
    await chmod(editor, 0o755);
    await using terminal = openTerminal(service(), ['inbox'], { EDITOR: editor });
    await terminal.shows('2 requests wait');
    terminal.type('\r');
    await terminal.shows('What it would do: delete this, for good');
    // A request that comes meanwhile moves the list, and nothing else.
    const later = await ask('later');
    expect(terminal.screen()).toContain(`"${instead}"`);
    terminal.type('n');
    await terminal.shows(', because:');
    terminal.type('\u001b[200~not\nthis\u001b[201~ one');
    await terminal.shows('because: not this one');
    terminal.type('\r');
    await terminal.shows('accepted │ The call ends as denied.');
    expect(await status('instead')).toBe('denied');
    expect([existsSync(instead), existsSync(kept), existsSync(later)]).toEqual([true, true, true]);

    await terminal.shows('2 requests wait');
    terminal.type('\u001b[F\r');
    await terminal.shows(`"${kept}"`);
    terminal.type('y');
    await terminal.shows('exactly as shown?');
    terminal.type('\r');
    await terminal.shows('accepted │ The call has it.');
    await expect.poll(() => existsSync(kept)).toBe(false);
    expect(existsSync(later)).toBe(true);

    await terminal.shows('1 request waits');
    terminal.type('\r');
    await terminal.shows(`"${later}"`);
    terminal.type('e');
    await terminal.shows('Changed. y approves it with your arguments');
    terminal.type('y');
    await terminal.shows('with your arguments in place of its own?');
    terminal.type('\r');
    await terminal.shows('accepted │ The call has it.');
    await expect.poll(() => existsSync(instead)).toBe(false);
    expect(existsSync(later)).toBe(true);

    await terminal.shows('Nothing waits for you.');
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
    expectRestored(terminal.output());
  });

  it('grants what is looked at: it goes on, and the same again runs without asking, until the grant is taken back', async () => {
    const file = await ask('granted');
    await using terminal = openTerminal(service(), ['inbox']);
    await terminal.shows('1 request waits');
    terminal.type('\r');
    await terminal.shows(`"${file}"`);
    // Asked for, and given up.
    terminal.type('g');
    await terminal.shows('Always allow exactly this, for (30m, 8h, 7d): 1h');
    terminal.type('\u001b');
    await terminal.shows('y approve');
    expect((await cli(['grant', 'list', '--json'])).stdout).toBe('');
    terminal.type('g');
    await terminal.shows('Always allow exactly this, for (30m, 8h, 7d): 1h');
    terminal.type('\r');
    await terminal.shows('is granted until');
    await expect.poll(() => existsSync(file)).toBe(false);
    expect(await status('granted')).toBe('completed');
    const [grant] = (await cli(['grant', 'list', '--json'])).lines();
    expect(grant).toMatchObject({ tool: 'delete', arguments: { path: { exact: file } } });
    expect(Number(grant?.['expiresAt']) - Number(grant?.['at'])).toBe(3_600_000);
    const again = ['call', 'delete', JSON.stringify({ path: file }), '--json'];
    expect((await cli(again)).json()).toMatchObject({ approval: { grant: grant?.['id'] } });
    await cli(['grant', 'revoke', String(grant?.['id'])]);
    const asked = (await cli(again)).json();
    expect(asked).toMatchObject({ status: 'waiting' });
    await cli(['cancel', `call/${String(asked['session'])}/${String(asked['callId'])}`]);
    expect((await cli(['pending', '--json'])).stdout).toBe('');
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
  });

  it.each([
    ['Ctrl-C', (terminal: Pty) => terminal.type('\u0003'), 130],
    ['SIGTERM', (terminal: Pty) => process.kill(terminal.pid(), 'SIGTERM'), 143],
    ['SIGHUP', (terminal: Pty) => process.kill(terminal.pid(), 'SIGHUP'), 129],
    ['SIGINT', (terminal: Pty) => process.kill(terminal.pid(), 'SIGINT'), 130],
    // The preloaded module throws where nobody catches.
    ['a crash', (terminal: Pty) => process.kill(terminal.pid(), 'SIGUSR2'), 70],
  ])('leaves it so after %s, too', async (name, end, expected) => {
    const crash = join(service().workspace, 'crash.mjs');
    await writeFile(crash, "process.on('SIGUSR2', () => { throw new Error('boom'); });");
    await using terminal = openTerminal(service(), ['inbox'], { NODE_OPTIONS: `--import=${crash}` });
    await terminal.shows('Countersign inbox');
    await terminal.shows('q quit');
    end(terminal);
    expect(await terminal.ended()).toBe(expected);
    expectRestored(terminal.output());
    if (name === 'a crash') expect(terminal.output().split('\u001b[?1049l')[1]).toContain('internal: boom');
  });
});

/** Cooked, with echo, wrapping, a cursor and no marks around pastes, back on the main screen. */
// oxlint-disable no-control-regex
function expectRestored(output: string): void {
  const modes = [...output.matchAll(/\u001b\[\?(\d+)([hl])/g)].map(([, mode, set]) => `${mode}${set}`);
  const last = (mode: string): string | undefined => modes.findLast((one) => one.slice(0, -1) === mode);
  expect(['1049', '25', '7', '2004'].map(last)).toEqual(['1049l', '25h', '7h', '2004l']);
  const after = output.slice(output.lastIndexOf('\u001b[?1049l'));
  expect(after).toMatch(/(?<!-)\bicanon\b/);
  expect(after).toMatch(/(?<!-)\becho\b/);
}
