/** A key under a passphrase, which is asked for at each signature, in a terminal. */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createKey } from '../../src/approval/keys.ts';
import { fileOutside, nameOf, sharedService } from './cli.fixture.ts';
import { type Pty, hasScript, openTerminal } from './pty.fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const SECRET = 'correct horse';
const QUESTION = 'Passphrase of eve: ';
const asked = (terminal: Pty): number => terminal.output().split(QUESTION).length - 1;

describe.skipIf(!hasScript)('a key under a passphrase', () => {
  const { service, json } = sharedService(async (place) => {
    const { publicKey } = createKey(join(place.home, 'config', 'approvers'), 'eve', SECRET);
    const file = join(place.home, 'signed.jsonc');
    const approvers = [{ name: 'eve', publicKey }];
    await writeFile(file, JSON.stringify({ approvals: { signatures: 'required', approvers } }));
    return ['--config', file];
  });

  /** A call that asks for the deletion of a file outside of the workspace. */
  async function ask() {
    const file = await fileOutside(service());
    const [, line] = await json('call', 'delete', JSON.stringify({ path: file }), '--no-wait');
    const id = nameOf(line);
    await vi.waitUntil(async () => (await json('show', id))[0] === 0, { timeout: 20_000, interval: 100 });
    return { file, id, code: String((await json('show', id))[1]['longCode']) };
  }

  it('is made on a terminal, of the same passphrase given twice', async () => {
    const init = async (...answers: string[]) => {
      await using terminal = openTerminal(service(), ['approver', 'init', '--name', 'mia', '--passphrase']);
      for (const [n, answer] of answers.entries()) {
        await terminal.shows(['New passphrase: ', 'Once more: '][n] ?? '');
        terminal.type(`${answer}\r`);
      }
      return await terminal.ended();
    };
    const key = join(service().home, 'config', 'approvers', 'mia.key');
    expect([await init('short'), await init(SECRET, 'another horse'), existsSync(key)]).toEqual([2, 2, false]);
    expect(await init(SECRET, SECRET)).toBe(0);
    expect(await readFile(key, 'utf8')).toContain('BEGIN ENCRYPTED PRIVATE KEY');
    await rm(key);
  });

  it('is asked for by each approve; a wrong one and none sign nothing', async () => {
    const { file, code } = await ask();
    // A shell takes what begins with # for a comment.
    const approve = () => openTerminal(service(), ['approve', `\\${code}`, '--as', 'eve']);
    for (const answer of ['wrong horse\r', '\u0003']) {
      await using terminal = approve();
      await terminal.shows(QUESTION);
      terminal.type(answer);
      expect(await terminal.ended()).toBe(2);
    }
    expect(existsSync(file)).toBe(true);
    await using terminal = approve();
    await terminal.shows(QUESTION);
    terminal.type(`${SECRET}\r`);
    await terminal.shows('accepted');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.output()).not.toContain(SECRET);
    await expect.poll(() => existsSync(file)).toBe(false);
  });

  it('is asked for by the inbox at each decision', async () => {
    const [first, second] = [await ask(), await ask()];
    await using terminal = openTerminal(service(), ['inbox', '--as', 'eve']);
    for (const [n, { file }] of [second, first].entries()) {
      await terminal.shows(n === 0 ? '2 requests wait' : '1 request waits');
      terminal.type('\r');
      await terminal.shows(`"${file}"`);
      terminal.type('y');
      await terminal.shows('exactly as shown?');
      terminal.type('\r');
      await expect.poll(() => asked(terminal), { timeout: 20_000 }).toBe(n + 1);
      expect(existsSync(file)).toBe(true);
      terminal.type(`${SECRET}\r`);
      await terminal.shows('accepted │ The call has it.');
      await expect.poll(() => existsSync(file)).toBe(false);
    }
    await terminal.shows('Nothing waits for you.');
    expect(asked(terminal)).toBe(2);
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.output()).not.toContain(SECRET);
    const [, story] = await json('audit', first.id);
    expect(story['entries']).toContainEqual(
      expect.objectContaining({ what: 'decided', approver: 'eve', verified: true }),
    );
  });

  it('ends on a terminal exactly the halt that is shown there', async () => {
    expect((await json('halt', '--reason', 'fire'))[0]).toBe(0);
    const answered = async (answer: string, said: string) => {
      await using terminal = openTerminal(service(), ['resume', '--as', 'eve', '--reason', 'over']);
      await terminal.shows(QUESTION);
      terminal.type(`${SECRET}\r`);
      await terminal.shows('The service is halted by');
      await terminal.shows('End exactly this halt? [y/N]');
      terminal.type(`${answer}\r`);
      await terminal.shows(said);
      return await terminal.ended();
    };
    expect(await answered('n', 'The halt stands.')).toBe(5);
    expect((await json('halt', '--status'))[1]).toMatchObject({ halted: true });
    expect(await answered('y', 'Calls run again.')).toBe(0);
    expect((await json('halt', '--status'))[1]).toMatchObject({ halted: false });
  });
});
