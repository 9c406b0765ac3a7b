/** Each way in which a decision can be other than it says, and what is said of it. */
import { describe, expect, it } from 'vitest';
import { parsePublicKey } from '../../src/approval/public-key.ts';
import { admitDecision, verifyDecision } from '../../src/approval/verify.ts';
import type { Approver } from '../../src/approval/approvers.ts';
import type { Decision } from '../../src/protocol/approval.ts';
import { decisionPayload } from '../../src/approval/payload.ts';
import { NOW, approver, decision, request, signed, subject } from './support.ts';

const ada = approver('ada', { roles: ['lead'] });
const bob = approver('bob');
const listed = [ada.listed, bob.listed];

describe('a signed decision', () => {
  it('of a listed approver on this request is good, with the roles of the configuration', async () => {
    expect(verifyDecision(await signed(ada), subject(), listed, NOW)).toEqual({
      ok: true,
      approver: 'ada',
      roles: ['lead'],
      key: ada.listed.publicKey,
    });
  });

  it('covers these bytes and no others', () => {
    const whole = decision({ reason: 'because', arguments: { b: 1, a: [2] }, at: 5, override: true });
    expect(decisionPayload(whole).toString()).toBe(
      `{"approver":"ada","arguments":{"a":[2],"b":1},"at":5,"decision":"approve","digest":"sha256:${'a'.repeat(64)}","kind":"decision","override":true,"reason":"because","v":1}`,
    );
    expect(decisionPayload(decision({ at: 5 })).toString()).toBe(
      `{"approver":"ada","at":5,"decision":"approve","digest":"sha256:${'a'.repeat(64)}","kind":"decision","v":1}`,
    );
  });

  const altered: [string, Partial<Decision>][] = [
    ['another verdict', { decision: 'deny' }],
    ['a reason added', { reason: 'fine' }],
    ['arguments added', { arguments: { command: 'rm -rf /' } }],
    ['another time', { at: NOW - 1 }],
    ['an override added', { override: true }],
    ['another approver', { approver: 'bob' }],
  ];
  it.each(altered)('with %s is refused', async (_, change) => {
    const checked = verifyDecision({ ...(await signed(ada)), ...change }, subject(), listed, NOW);
    expect(checked).toMatchObject({ ok: false, code: 'bad_signature' });
  });

  it('with edited arguments is good for these, whatever their order, and for no others', async () => {
    const edited = await signed(ada, { arguments: { a: 1, b: { c: 'x', d: 2 } } });
    expect(verifyDecision({ ...edited, arguments: { b: { d: 2, c: 'x' }, a: 1 } }, subject(), listed, NOW).ok).toBe(
      true,
    );
    expect(verifyDecision({ ...edited, arguments: { a: 1, b: { c: 'y', d: 2 } } }, subject(), listed, NOW).ok).toBe(
      false,
    );
    const { arguments: _, ...without } = edited;
    expect(verifyDecision(without, subject(), listed, NOW).ok).toBe(false);
  });

  const elsewhere: [string, Partial<Decision>, RegExp][] = [
    ['another digest', { digest: `sha256:${'b'.repeat(64)}` }, /something else/],
    ['another call', { callId: 'c2' }, /something else/],
    ['another session', { session: 'other' }, /something else/],
  ];
  it.each(elsewhere)('on %s is refused, though it is well signed', async (_, over, reason) => {
    expect(verifyDecision(await signed(ada, over), subject(), listed, NOW)).toEqual({
      ok: false,
      code: 'bad_signature',
      reason: expect.stringMatching(reason) as string,
    });
  });

  it('moved to another call is refused', async () => {
    const moved = { ...(await signed(ada)), callId: 'c2' };
    expect(
      verifyDecision(moved, { ...subject({ callId: 'c2' }), digest: `sha256:${'b'.repeat(64)}` }, listed, NOW).ok,
    ).toBe(false);
  });

  const times: [string, number, number, boolean][] = [
    ['now', NOW, NOW, true],
    ['5 minutes ahead', NOW + 300_000, NOW, true],
    ['more than 5 minutes ahead', NOW + 300_001, NOW, false],
    ['before the request by more than clocks differ', NOW - 360_001, NOW, false],
    ['before the request by what clocks differ', NOW - 360_000, NOW, true],
    ['after the request expired', NOW + 3_900_001, NOW + 4_000_000, false],
  ];
  it.each(times)('made %s', async (_, at, now, ok) => {
    expect(verifyDecision(await signed(ada, {}, at), subject(), listed, now).ok).toBe(ok);
  });

  it('without a time is refused', async () => {
    const { at: _, ...timeless } = await signed(ada);
    expect(verifyDecision(timeless, subject(), listed, NOW).ok).toBe(false);
  });

  it('by a key that is not the one listed is refused', async () => {
    expect(verifyDecision(await signed(approver('ada')), subject(), listed, NOW)).toMatchObject({
      reason: 'The signature is not that of "ada" on this decision.',
    });
  });

  it('by one who was removed, or has no key, is refused', async () => {
    expect(verifyDecision(await signed(ada), subject(), [bob.listed], NOW)).toMatchObject({
      reason: 'The configuration lists no approver "ada".',
    });
    expect(verifyDecision(await signed(ada), subject(), [{ name: 'ada' }], NOW)).toMatchObject({
      reason: 'The configuration has no key for "ada".',
    });
  });

  const untils: [string, boolean][] = [
    ['2023-11-14', true],
    ['2023-11-13', false],
    ['2023-11-14T22:13:20Z', true],
    ['2023-11-14T22:13:19Z', false],
    ['2023-11-31x', false],
  ];
  // NOW is 2023-11-14T22:13:20Z.
  it.each(untils)('by one who may until %s', async (until, ok) => {
    expect(verifyDecision(await signed(ada), subject(), [{ ...ada.listed, until }], NOW).ok).toBe(ok);
  });

  const mays: [string[], boolean][] = [
    [['elevated'], true],
    [['system'], false],
    [['shell'], true],
    [['group:runtime'], true],
    [['group:fs'], false],
    [['sh*'], true],
    [['write', 'elevated'], false],
    [['agent:default'], true],
    [['agent:other'], false],
    [['agent:default', 'write'], false],
    [['agent:default', 'shell', 'elevated'], true],
    [['Shell'], false],
    [[], false],
  ];
  it.each(mays)('by one who may %j', async (may, ok) => {
    expect(verifyDecision(await signed(ada), subject(), [{ ...ada.listed, may }], NOW).ok).toBe(ok);
  });

  it('by one who may decide on lower tiers is good there', async () => {
    const listedAda = [{ ...ada.listed, may: ['system'] }];
    expect(verifyDecision(await signed(ada), subject({ tier: 'workspace' }), listedAda, NOW).ok).toBe(true);
  });

  const alike = ['Ada', 'ada ', '\u200bada', 'аda', 'ada\u0301'];
  it.each(alike)('in the name %j, which looks like a listed one, is refused', async (name) => {
    const fake = { ...ada, signer: { ...ada.signer, name } };
    expect(verifyDecision(await signed(fake), subject(), listed, NOW).ok).toBe(false);
  });

  it('claims an override only with the role', async () => {
    expect(verifyDecision(await signed(ada, { override: true }), subject(), listed, NOW)).toMatchObject({
      reason: '"ada" does not have the role emergency.',
    });
    const emergency = [{ ...ada.listed, roles: ['emergency'] }];
    expect(verifyDecision(await signed(ada, { override: true }), subject(), emergency, NOW).ok).toBe(true);
  });

  it('never makes the check throw', () => {
    const odd = {
      ...decision({ signature: 'A'.repeat(86), at: NOW }),
      arguments: { a: '\ud800', b: Number.NaN },
    } as Decision;
    expect(verifyDecision(odd, subject(), listed, NOW)).toMatchObject({ ok: false });
    expect(verifyDecision(null as unknown as Decision, subject(), listed, NOW)).toMatchObject({ ok: false });
  });
});

/** The order of the group (RFC 8032), little-endian: adding it to S gives a second encoding, which strict checks refuse. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function plusOrder(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url');
  let s = 0n;
  for (let i = 63; i >= 32; i -= 1) s = (s << 8n) | BigInt(bytes[i] ?? 0);
  s += L;
  for (let i = 32; i < 64; i += 1, s >>= 8n) bytes[i] = Number(s & 0xffn);
  return bytes.toString('base64url');
}

describe('the spelling of a signature', () => {
  const spellings: [string, (signature: string) => string][] = [
    ['S plus the order of the group', plusOrder],
    ['padding', (signature) => `${signature}==`],
    ['standard base64', (signature) => Buffer.from(signature, 'base64url').toString('base64')],
    ['hexadecimal', (signature) => Buffer.from(signature, 'base64url').toString('hex')],
    ['white space', (signature) => `${signature}\n`],
    ['other unused bits at the end', (signature) => signature.slice(0, -1) + nextLetter(signature.at(-1) ?? 'A')],
    ['one bit changed', (signature) => (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)],
    ['nothing', () => ''],
  ];
  it.each(spellings)('with %s is refused', async (_, respell) => {
    const good = await signed(ada);
    expect(verifyDecision({ ...good, signature: respell(good.signature ?? '') }, subject(), listed, NOW).ok).toBe(
      false,
    );
  });
});

/** 64 bytes leave 4 bits of the last letter unused. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const nextLetter = (letter: string): string => ALPHABET[ALPHABET.indexOf(letter) + 1] ?? 'A';

describe('a public key', () => {
  const raw = (hex: string): string => `ed25519:${Buffer.from(hex, 'hex').toString('base64')}`;
  const good = ada.listed.publicKey;
  const bad: [string, string][] = [
    ['without its kind', good.slice('ed25519:'.length)],
    ['of another kind', good.replace('ed25519', 'ed448')],
    ['in upper case', good.toUpperCase()],
    ['with white space', `${good} `],
    ['without padding', good.replace('=', '')],
    ['too short', raw('00'.repeat(31))],
    ['that is the identity', raw(`01${'00'.repeat(31)}`)],
    ['of order 2', raw(`ec${'ff'.repeat(30)}7f`)],
    ['of order 4', raw('00'.repeat(32))],
    ['of order 4, with the sign bit', raw(`${'00'.repeat(31)}80`)],
    ['of order 8', raw('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')],
    ['of order 8, the other', raw('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')],
    ['spelt past the field', raw(`f0${'ff'.repeat(30)}7f`)],
  ];
  it.each(bad)('%s is none', (_, text) => expect(parsePublicKey(text)).toBeUndefined());
  it('as it is printed is one', () => expect(parsePublicKey(good)?.asymmetricKeyType).toBe('ed25519'));
});

describe('a decision', () => {
  const required = (approvers: readonly Approver[]) => ({ signatures: 'required' as const, approvers });
  const optional = (approvers: readonly Approver[]) => ({ signatures: 'optional' as const, approvers });

  it('without a signature counts nowhere where signatures are required', () => {
    expect(admitDecision(decision(), subject(), required(listed), NOW)).toMatchObject({
      ok: false,
      code: 'bad_signature',
    });
    expect(admitDecision(decision({ decision: 'deny' }), subject(), required(listed), NOW)).toMatchObject({
      ok: false,
    });
  });

  it('without a signature counts unverified where they are optional', () => {
    expect(admitDecision(decision(), subject(), optional([]), NOW)).toMatchObject({
      ok: true,
      counted: { verified: false, identity: 'name:ada' },
    });
  });

  it('without a signature counts in a listed name only, where any is listed, and within what that one may', () => {
    expect(admitDecision(decision({ approver: 'carl' }), subject(), optional(listed), NOW)).toMatchObject({
      ok: false,
    });
    expect(admitDecision(decision(), subject(), optional([{ name: 'ada', may: ['write'] }]), NOW)).toMatchObject({
      ok: false,
    });
    expect(admitDecision(decision(), subject(), optional([{ name: 'ada', until: '2020-01-01' }]), NOW)).toMatchObject({
      ok: false,
    });
  });

  it('with a bad signature is refused also where signatures are optional', async () => {
    const forged = { ...(await signed(approver('ada'))), approver: 'ada' };
    expect(admitDecision(forged, subject(), optional(listed), NOW)).toMatchObject({ ok: false });
    expect(admitDecision(forged, subject(), optional([]), NOW)).toMatchObject({ ok: false });
  });

  it('without a signature never overrides', () => {
    expect(admitDecision(decision({ override: true }), subject(), optional([]), NOW)).toMatchObject({ ok: false });
  });

  it.each(['аda', '𝐚da', 'ada\u200b'])('in the name %j, which passes for another, is refused', (name) => {
    expect(admitDecision(decision({ approver: name }), subject(), optional([]), NOW)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('not what it seems') as string,
    });
  });

  it('in a name of one other script counts, and is one with the Latin name that it is drawn like', () => {
    const names = ['Ада', 'сосо', 'coco'].map((name) =>
      admitDecision(decision({ approver: name }), subject(), optional([]), NOW),
    );
    expect(names.map((one) => one.ok && one.counted.identity)).toEqual(['name:aдa', 'name:coco', 'name:coco']);
  });

  it('signed or not, is of one and the same approver', async () => {
    const bare = admitDecision(decision(), subject(), optional(listed), NOW);
    const good = admitDecision(await signed(ada), subject(), optional(listed), NOW);
    expect([bare, good].map((one) => one.ok && one.counted.identity)).toEqual([
      ada.listed.publicKey,
      ada.listed.publicKey,
    ]);
  });

  it('is judged by the request’s own facts', async () => {
    expect(request().tier).toBe('elevated');
    expect(
      admitDecision(
        await signed(ada),
        subject({ agent: 'other' }),
        required([{ ...ada.listed, may: ['agent:default'] }]),
        NOW,
      ).ok,
    ).toBe(false);
  });
});
