/** Approvers' private keys on their own machine: PKCS #8 in PEM, one file a name, readable by nobody else. */
import { type KeyObject, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  fsyncSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../common/errno.ts';
import { CountersignError } from '../protocol/errors.ts';
import { encryptedPem } from './encrypt-key.ts';
import { parsePublicKey, publicKeyText } from './public-key.ts';
import { type Signer, signerOf } from './sign.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const SUFFIX = '.key';

/** Where keys lie, in the user's configuration folder. */
export const approversFolder = (configFolder: string): string => join(configFolder, 'approvers');

export interface NewKey {
  path: string;
  /** As it goes into the configuration. */
  publicKey: string;
}

/**
 * Makes a key pair and keeps the private one in `<folder>/<name>.key`, mode 0600, in a folder of mode 0700. With a passphrase it is
 * encrypted (scrypt, AES-256).
 * Throws `invalid_usage` for a name that can be no file's, for a key that is already there, and for a folder that others may enter.
 */
export function createKey(folder: string, name: string, passphrase?: string): NewKey {
  const path = keyPath(folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkPrivate(folder, lstatSync(folder), 'directory');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const plain = (): string => String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeNew(path, passphrase === undefined ? plain() : encryptedPem(privateKey, passphrase));
  // Beside it, so that it can be told without the passphrase.
  writeFileSync(path.replace(/key$/, 'pub'), `${publicKeyText(publicKey)}\n`, { mode: 0o600 });
  return { path, publicKey: publicKeyText(publicKey) };
}

export interface StoredKey {
  name: string;
  path: string;
  encrypted: boolean;
  /** As it goes into the configuration; absent where the file beside the key is gone. */
  publicKey?: string;
}

/** The keys in the folder, by name; none where there is no folder. */
export function listKeys(folder: string): StoredKey[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
  return names
    .filter((file) => file.endsWith(SUFFIX) && NAME.test(file.slice(0, -SUFFIX.length)))
    .toSorted()
    .map((file) => {
      const path = join(folder, file);
      const publicKey = readPublic(path.replace(/key$/, 'pub'));
      return {
        name: file.slice(0, -SUFFIX.length),
        path,
        encrypted: isEncrypted(readPrivate(path)),
        ...(publicKey !== undefined && { publicKey }),
      };
    });
}

/**
 * The signer of this name. `ask` is asked for the passphrase where the key has one.
 * Throws `invalid_usage` where there is no such key, where others may read it, and for a wrong passphrase.
 */
export async function openSigner(folder: string, name: string, ask: () => Promise<string>): Promise<Signer> {
  const pem = readPrivate(keyPath(folder, name));
  const passphrase = isEncrypted(pem) ? await ask() : undefined;
  return signerOf(name, privateKeyOf(pem, passphrase));
}

function privateKeyOf(pem: string, passphrase: string | undefined): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    throw new CountersignError(
      'invalid_usage',
      passphrase === undefined ? 'The key file holds no private key.' : 'The passphrase is wrong.',
      { cause: error },
    );
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new CountersignError('invalid_usage', 'The key is no Ed25519 key; make one: countersign approver init');
  return key;
}

function keyPath(folder: string, name: string): string {
  if (!NAME.test(name)) {
    throw new CountersignError(
      'invalid_usage',
      `${JSON.stringify(name.slice(0, 80))} can name no key file: letters, digits, . _ @ -, 64 at most.`,
    );
  }
  return join(folder, `${name}${SUFFIX}`);
}

function readPublic(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return parsePublicKey(text) === undefined ? undefined : text;
  } catch {
    return undefined;
  }
}

const isEncrypted = (pem: string): boolean => pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----');

/** What is checked is what is read: the open file, and no link. */
function readPrivate(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new CountersignError(
      'invalid_usage',
      `There is no key ${path} that can be used. Make one: countersign approver init`,
      { cause: error },
    );
  }
  try {
    checkPrivate(path, fstatSync(fd), 'file');
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function checkPrivate(
  path: string,
  stats: { uid: number; mode: number; isFile(): boolean; isDirectory(): boolean },
  kind: 'file' | 'directory',
): void {
  const refuse = (why: string): never => {
    throw new CountersignError('invalid_usage', `${path} ${why}. Whoever else can reach it could sign in your name.`);
  };
  if (!(kind === 'file' ? stats.isFile() : stats.isDirectory())) refuse(`is no ${kind === 'file' ? 'file' : 'folder'}`);
  if (process.getuid !== undefined && stats.uid !== process.getuid()) refuse('belongs to another user');
  if ((stats.mode & 0o077) !== 0)
    refuse(`is open to others; close it: chmod ${kind === 'file' ? '600' : '700'} ${path}`);
}

function writeNew(path: string, text: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    throw new CountersignError(
      'invalid_usage',
      `${path} is there already, and no key is overwritten. Take another --name, or move it away.`,
      { cause: error },
    );
  }
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}
