/** Private keys on disk: made closed, refused when open. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey, listKeys, openSigner } from '../../src/approval/keys.ts';
import { isSignature, parsePublicKey } from '../../src/approval/public-key.ts';

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'countersign-keys-'));
  folder = join(base, 'config', 'approvers');
});
afterEach(() => rmSync(base, { recursive: true }));

const noPassphrase = (): Promise<string> => Promise.reject(new Error('asked for a passphrase'));
const signs = async (publicKey: string, ask = noPassphrase): Promise<boolean> => {
  const signer = await openSigner(folder, 'ada', ask);
  const bytes = Buffer.from('text');
  const key = parsePublicKey(publicKey);
  return key !== undefined && isSignature(key, bytes, Buffer.from(await signer.sign(bytes)).toString('base64url'));
};

describe('a new key', () => {
  it('is readable by its owner alone, and signs for the public key that is printed', async () => {
    const { path, publicKey } = createKey(folder, 'ada');
    expect(path).toBe(join(folder, 'ada.key'));
    expect(publicKey).toMatch(/^ed25519:[A-Za-z0-9+/]{43}=$/);
    expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readFileSync(path, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(await signs(publicKey)).toBe(true);
  });

  it('under a passphrase is encrypted, and opens with that one only', async () => {
    const { path, publicKey } = createKey(folder, 'ada', 'correct horse');
    expect(readFileSync(path, 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    expect(await signs(publicKey, async () => 'correct horse')).toBe(true);
    // scrypt, 1.3.6.1.4.1.11591.4.11, with N = 16,384, r = 8, p = 1.
    const der = Buffer.from(readFileSync(path, 'utf8').replace(/-----.*-----|\n/g, ''), 'base64').toString('hex');
    expect(der).toContain('06092b06010401da47040b');
    expect(der).toContain('02024000020108020101');
    await expect(openSigner(folder, 'ada', async () => 'wrong horse')).rejects.toMatchObject({
      code: 'invalid_usage',
      message: 'The passphrase is wrong.',
    });
    await expect(openSigner(folder, 'ada', async () => '')).rejects.toMatchObject({ code: 'invalid_usage' });
  });

  it('takes no other’s place', () => {
    const { path } = createKey(folder, 'ada');
    const before = readFileSync(path, 'utf8');
    expect(() => createKey(folder, 'ada')).toThrow(/no key is overwritten/);
    symlinkSync(join(base, 'elsewhere'), join(folder, 'bob.key'));
    expect(() => createKey(folder, 'bob')).toThrow(/no key is overwritten/);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each(['', '.', '..', '../ada', 'a/b', '-x', 'a\nb', 'é', 'x'.repeat(65)])('has no name like %j', (name) => {
    expect(() => createKey(folder, name)).toThrow(/can name no key file/);
  });

  it('is not put in a folder that others may enter', () => {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    chmodSync(folder, 0o755);
    expect(() => createKey(folder, 'ada')).toThrow(/is open to others; close it: chmod 700/);
  });
});

describe('a key that is not private', () => {
  it.each([0o640, 0o604, 0o660, 0o601])('is not used: mode %o', async (mode) => {
    const { path } = createKey(folder, 'ada');
    chmodSync(path, mode);
    await expect(openSigner(folder, 'ada', noPassphrase)).rejects.toThrow(/is open to others; close it: chmod 600/);
  });

  it('is not used through a link', async () => {
    const { path } = createKey(folder, 'bob');
    symlinkSync(path, join(folder, 'ada.key'));
    await expect(openSigner(folder, 'ada', noPassphrase)).rejects.toThrow(/There is no key/);
  });

  it.runIf(process.getuid?.() === 0)('is not used where it is another user’s', async () => {
    const { path } = createKey(folder, 'ada');
    const { chownSync } = await import('node:fs');
    chownSync(path, 1234, 1234);
    await expect(openSigner(folder, 'ada', noPassphrase)).rejects.toThrow(/belongs to another user/);
  });

  it('is not used where it is of another kind, or none', async () => {
    createKey(folder, 'bob');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(join(folder, 'ada.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    await expect(openSigner(folder, 'ada', noPassphrase)).rejects.toThrow(/is no Ed25519 key/);
    writeFileSync(join(folder, 'ada.key'), 'nothing');
    await expect(openSigner(folder, 'ada', noPassphrase)).rejects.toThrow(/holds no private key/);
  });
});

it('keys are listed by name, and none where there is no folder', () => {
  expect(listKeys(folder)).toEqual([]);
  const bob = createKey(folder, 'bob', 'secret').publicKey;
  createKey(folder, 'ada');
  rmSync(join(folder, 'ada.pub'));
  writeFileSync(join(folder, 'notes.txt'), '');
  expect(listKeys(folder)).toEqual([
    { name: 'ada', path: join(folder, 'ada.key'), encrypted: false },
    { name: 'bob', path: join(folder, 'bob.key'), encrypted: true, publicKey: bob },
  ]);
});
