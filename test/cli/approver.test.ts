import { chmod, readFile, writeFile } from 'node:fs/promises';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Place, fileOutside, makePlace, nameOf, sharedService } from './cli.fixture.ts';
import { hasScript, openTerminal } from './pty.fixture.ts';

// Every step is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

/** Whoever runs the tests by hand has one. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

describe('countersign approver', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace();
  });
  afterAll(() => place.remove());

  it('makes a key, lists it, and overwrites none', async () => {
    const key = join(place.home, 'config', 'approvers', 'ada.key');
    const made = await place.cli(['approver', 'init', '--name', 'ada', '--json']);
    expect([made.status, made.json()]).toMatchObject([
      0,
      { name: 'ada', path: key, publicKey: expect.stringMatching(/^ed25519:/) as string },
    ]);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const before = await readFile(key, 'utf8');
    expect((await place.cli(['approver', 'init', '--name', 'ada'])).status).toBe(2);
    expect(await readFile(key, 'utf8')).toBe(before);
    const { publicKey } = made.json();
    expect((await place.cli(['approver', 'list', '--json'])).json()).toEqual({
      keys: [{ name: 'ada', path: key, encrypted: false, publicKey }],
    });
    expect((await place.cli(['approver', 'list'])).stdout).toBe(`ada  ${String(publicKey)}\n`);
  });

  it('prints the line for the configuration, and nothing else, on stdout', async () => {
    const { stdout, stderr } = await place.cli(['approver', 'init', '--name', 'bob']);
    expect(stdout).toMatch(/^ {2}"approvers": \[\{"name":"bob","publicKey":"ed25519:[A-Za-z0-9+/]{43}="\}\]\n$/);
    expect(stderr).toMatch(/of use only once the configuration lists it\. Until then decide with --no-sign/);
  });

  it.skipIf(hasTerminal())('asks for a passphrase on a terminal only', async () => {
    const ran = await place.cli(['approver', 'init', '--name', 'carl', '--passphrase', '--json']);
    expect([ran.status, ran.json()]).toMatchObject([2, { error: { code: 'invalid_usage' } }]);
    expect(existsSync(join(place.home, 'config', 'approvers', 'carl.key'))).toBe(false);
  });
});

describe('a key that the configuration does not list', () => {
  const { service, json } = sharedService(async (place) => {
    await place.cli(['approver', 'init', '--name', 'ada']);
    return [];
  });
  const told = (unsigned: string) =>
    expect.stringMatching(
      new RegExp(`lists no approver "ada". Put the line that countersign approver init printed .*${unsigned}\\.`),
    ) as string;

  it('signs nothing, and its owner is told what to do: by approve, deny, grant add and resume', async () => {
    const outside = await fileOutside(service());
    const [, asked] = await json('call', 'delete', JSON.stringify({ path: outside }));
    const code = String(asked['longCode']);
    const answer = { answer: 'bad_signature', message: told('or leave the signature out: --no-sign') };
    expect(await json('approve', code)).toMatchObject([5, answer]);
    expect(await json('deny', code, '--reason', 'no')).toMatchObject([5, answer]);
    const grant = ['grant', 'add', 'delete', JSON.stringify({ path: outside }), '--for', '1h'];
    const error = { code: 'bad_signature', message: told('or leave the signature out: --no-sign') };
    expect(await json(...grant)).toMatchObject([2, { error }]);
    expect(await json('deny', code, '--reason', 'no', '--no-sign')).toMatchObject([0, { answer: 'accepted' }]);

    expect((await json('halt', '--reason', 'fire'))[0]).toBe(0);
    const resume = ['resume', '--reason', 'over'];
    expect(await json(...resume)).toMatchObject([5, answer]);
    expect(await json(...resume, '--no-sign')).toMatchObject([0, { halted: false }]);
    expect(existsSync(outside)).toBe(true);
  });
});

describe('where signatures are required', () => {
  const config = (approvers: unknown[]) => JSON.stringify({ approvals: { signatures: 'required', approvers } });
  const { service, cli, json } = sharedService(async (place) => {
    const keys = await Promise.all(
      ['ada', 'gone'].map(async (name) => (await place.cli(['approver', 'init', '--name', name, '--json'])).json()),
    );
    const file = join(place.home, 'signed.jsonc');
    await writeFile(file, config([{ name: 'ada', publicKey: keys[0]?.['publicKey'] }]));
    return ['--config', file];
  });

  it('approve signs with the key of the name, and what is not signed is refused', async () => {
    const outside = await fileOutside(service());
    const [, asked] = await json('call', 'delete', JSON.stringify({ path: outside }));
    const approve = (...args: string[]) => json('approve', String(asked['longCode']), ...args);
    expect(await approve('--as', 'ada', '--no-sign')).toMatchObject([5, { answer: 'bad_signature' }]);
    expect(await approve('--as', 'gone')).toMatchObject([
      5,
      { answer: 'bad_signature', message: expect.stringMatching(/shows the key again\)\. The request/) as string },
    ]);
    expect(await approve()).toMatchObject([2, { error: { code: 'invalid_usage' } }]);
    const key = join(service().home, 'config', 'approvers', 'ada.key');
    await chmod(key, 0o644);
    expect(await approve('--as', 'ada')).toMatchObject([2, { error: { code: 'invalid_usage' } }]);
    await chmod(key, 0o600);
    expect(existsSync(outside)).toBe(true);
    expect(await approve('--as', 'ada')).toMatchObject([0, { answer: 'accepted' }]);
    await expect.poll(() => existsSync(outside), { timeout: 10_000 }).toBe(false);
    // By the running service's configuration; by one without approvers nothing can be said, which is not said as forgery.
    const holds = await cli(['audit', nameOf(asked), '--verify']);
    expect([holds.status, holds.stdout]).toEqual([
      0,
      expect.stringMatching(/Checked by \S+signed\.jsonc \(the running service’s\)\.\nAll of it holds\.\n$/) as string,
    ]);
    const none = join(service().home, 'none.jsonc');
    await writeFile(none, '{}');
    const unsaid = await cli(['audit', nameOf(asked), '--verify', '--config', none]);
    expect(unsaid.status).toBe(1);
    expect(unsaid.stdout).toMatch(/^\? decision .*approve by ada: signed; no approvers are known here/m);
    expect(unsaid.stdout).not.toContain('✗');
    expect(unsaid.stdout).toMatch(
      /It cannot be checked: no approvers here\. Give the configuration .* --verify --config FILE\n$/,
    );
    expect((await json('audit', nameOf(asked), '--verify', '--config', none))[1]).toMatchObject({ holds: false });
  });

  it('a signed decision by a name or a short code is refused where nobody can be shown what it is on', async () => {
    const outside = await fileOutside(service());
    const [, asked] = await json('call', 'delete', JSON.stringify({ path: outside }));
    const code = String(asked['longCode']);
    for (const name of [nameOf(asked), code.slice(0, 7), code.slice(0, 12)]) {
      expect(await json('approve', name, '--as', 'ada')).toMatchObject([2, { error: { code: 'invalid_usage' } }]);
      const { status, stderr } = await cli(['deny', name, '--as', 'ada', '--reason', 'no']);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`countersign show '${name}'`)]);
      expect(stderr).toContain("countersign deny '#…' --reason '…'");
    }
    expect(existsSync(outside)).toBe(true);
    expect((await cli(['show', nameOf(asked)])).stdout).toContain(`countersign approve '${code}'`);
    expect(await json('deny', code.toLowerCase(), '--as', 'ada', '--reason', 'no')).toMatchObject([
      0,
      { answer: 'accepted', call: nameOf(asked) },
    ]);
    // A repeat signs nothing.
    expect(await json('deny', nameOf(asked), '--as', 'ada', '--reason', 'no')).toMatchObject([
      0,
      { answer: 'already_decided' },
    ]);
  });

  it.skipIf(!hasScript)('on a terminal it shows the request and asks', async () => {
    const outside = await fileOutside(service());
    const [, asked] = await json('call', 'delete', JSON.stringify({ path: outside }));
    const approve = () => openTerminal(service(), ['approve', nameOf(asked), '--as', 'ada']);
    const question = 'Approve exactly this? [y/N]';
    for (const answer of ['\r', 'n\r', '\u0004']) {
      await using terminal = approve();
      await terminal.shows(question);
      expect(terminal.screen()).toContain(`"${outside}"`);
      terminal.type(answer);
      await terminal.shows('Nothing was decided');
      expect(await terminal.ended()).toBe(5);
    }
    expect(existsSync(outside)).toBe(true);
    await using terminal = approve();
    await terminal.shows(question);
    terminal.type('y\r');
    await terminal.shows('accepted  The call has it.');
    expect(await terminal.ended()).toBe(0);
    await expect.poll(() => existsSync(outside), { timeout: 10_000 }).toBe(false);
  });

  it('resume ends a halt with the key of one who may, and not without', async () => {
    expect((await cli(['halt', '--reason', 'fire', '--by', 'anybody'])).status).toBe(0);
    const resume = (...args: string[]) => json('resume', '--reason', 'over', ...args);
    expect(await resume('--as', 'ada', '--no-sign')).toMatchObject([5, { halted: true, answer: 'bad_signature' }]);
    expect(await resume('--as', 'gone')).toMatchObject([5, { halted: true, answer: 'bad_signature' }]);
    expect(await json('halt', '--status')).toMatchObject([0, { halted: true, by: 'anybody' }]);
    expect(await resume('--as', 'ada')).toMatchObject([0, { halted: false, was: { by: 'anybody', reason: 'fire' } }]);
    expect(await json('halt', '--status')).toEqual([0, { halted: false }]);
  });
});
