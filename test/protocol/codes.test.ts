/** Codes of requests: what people read out, type, and sign by. */
import { expect, test } from 'vitest';
import { isCode, isCodeOf, isLongCode, longCode, shortCode } from '../../src/protocol/approval.ts';

const digest = `sha256:${'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'}`;

test('a long code goes on where the short one ends', () => {
  expect([shortCode(digest), longCode(digest)]).toEqual(['#ABCDEF', '#ABCDEFGHJKLMNPQRSTUVWXYZ']);
});

test.each([
  ['#ABCDEF', true],
  ['#abcdefg', true],
  ['#ABCDEFGHJKLM', true],
  ['#ABCDEFGHJKLMNPQRSTUVWXYZ23456789', true],
  ['#ABCDEG', false],
  ['#ABCDEFGHJKLL', false],
  ['#ABCDE', false],
  ['ABCDEF', false],
  ['#', false],
  ['#ABCDEFGHJKLMNPQRSTUVWXYZ23456789A', false],
])('%s is the code of the digest, as far as it goes: %s', (code, expected) => {
  expect(isCodeOf(code, digest)).toBe(expected);
});

// Two requests of one code are found by the root of what one for a given code takes: 2^60 digests, at five bits a letter.
test('a signature takes 24 letters', () => {
  const long = '#ABCDEFGHJKLMNPQRSTUVWXYZ';
  expect([long.slice(0, 13), long.slice(0, -1), long, `${long}2`].map(isLongCode)).toEqual([false, false, true, true]);
  expect(['call/main/one', '#ABCDEF\n', '#ABC-EF'].map(isCode)).toEqual([false, false, false]);
  expect(isLongCode('call/main/of-some-length')).toBe(false);
});
