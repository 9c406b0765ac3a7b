/** Public keys as the configuration names them, `ed25519:<base64>`, and signatures by them. */
import { type KeyObject, createPublicKey, verify } from 'node:crypto';

const FORM = /^ed25519:([A-Za-z0-9+/]{43}=)$/;
/** Of a SubjectPublicKeyInfo (RFC 8410), before the key's 32 bytes. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Points of small order (RFC 7748, section 7, as y coordinates): under such a key one signature fits many messages.
 * The last two are other spellings of the first two.
 */
const WEAK: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** The key in its one spelling, or undefined for what is none. Never throws. */
export function parsePublicKey(text: string): KeyObject | undefined {
  const raw = Buffer.from(FORM.exec(text)?.[1] ?? '', 'base64');
  if (raw.length !== 32 || publicKeyText(raw) !== text || !isSound(raw)) return undefined;
  try {
    return createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** As it stands in the configuration. */
export function publicKeyText(key: KeyObject | Uint8Array): string {
  const raw = key instanceof Uint8Array ? key : key.export({ format: 'der', type: 'spki' }).subarray(SPKI.length);
  return `ed25519:${Buffer.from(raw).toString('base64')}`;
}

/** Whether these 86 characters of base64url, in their one spelling, are the key's signature over the bytes. */
export function isSignature(key: KeyObject, bytes: Uint8Array, signature: string): boolean {
  const raw = Buffer.from(signature, 'base64url');
  if (raw.length !== 64 || raw.toString('base64url') !== signature) return false;
  return verify(null, bytes, key, raw);
}

/** No point of small order, and below the field's prime: one key has one spelling, so that keys can be counted. */
function isSound(raw: Buffer): boolean {
  const y = Buffer.from(raw);
  y[31] = (y[31] ?? 0) & 0x7f;
  if (WEAK.has(y.toString('hex'))) return false;
  const aboveEd = (y[0] ?? 0) >= 0xed && y[31] === 0x7f && y.subarray(1, 31).every((byte) => byte === 0xff);
  return !aboveEd;
}
