/**
 * A private key under a passphrase: PKCS #8 with PBES2, its key by scrypt (RFC 7914) and AES-256 in CBC mode; OpenSSL reads it.
 * Node's own export takes PBKDF2 with 2,048 rounds, which a graphics card guesses through.
 */
import { type KeyObject, createCipheriv, randomBytes, scryptSync } from 'node:crypto';

/** The largest N whose memory (16 MB) OpenSSL takes without being told to. */
const N = 16_384;
const R = 8;
const P = 1;

/** PEM, `-----BEGIN ENCRYPTED PRIVATE KEY-----`. */
export function encryptedPem(key: KeyObject, passphrase: string): string {
  const salt = randomBytes(16);
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', scryptSync(passphrase, salt, 32, { N, r: R, p: P }), iv);
  const plain = key.export({ type: 'pkcs8', format: 'der' });
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  const kdf = sequence(SCRYPT, sequence(octets(salt), integer(N), integer(R), integer(P)));
  const der = sequence(sequence(PBES2, sequence(kdf, sequence(AES_256_CBC, octets(iv)))), octets(sealed));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN ENCRYPTED PRIVATE KEY-----', ...lines, '-----END ENCRYPTED PRIVATE KEY-----', ''].join('\n');
}

/** Object identifiers with their tag: 1.2.840.113549.1.5.13, 1.3.6.1.4.1.11591.4.11 and 2.16.840.1.101.3.4.1.42. */
const PBES2 = Buffer.from('06092a864886f70d01050d', 'hex');
const SCRYPT = Buffer.from('06092b06010401da47040b', 'hex');
const AES_256_CBC = Buffer.from('060960864801650304012a', 'hex');

/** One value in DER; everything here is shorter than 64 KB. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...items: Buffer[]): Buffer => tagged(0x30, Buffer.concat(items));
const octets = (bytes: Buffer): Buffer => tagged(0x04, bytes);

/** Positive; a leading zero keeps the highest bit from being a sign. */
function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}
