import { describe, expect, test } from 'vitest';
import { redact, redactJson } from '../../src/approval/redact.ts';

describe('what looks like a secret', () => {
  test.each([
    ['curl -H "Authorization: Bearer abc.def"', 'curl -H "Authorization: Bearer …'],
    ['login --password hunter2 now', 'login --password … now'],
    ['run password hunter2', 'run password …'],
    ['/etc/passwd is outside of the workspace', '/etc/passwd is outside of the workspace'],
    ['AWS_SECRET_ACCESS_KEY=abc123 make', 'AWS_SECRET_ACCESS_KEY=… make'],
    ['{"apiKey": "abc"}', '{"apiKey": "…"}'],
    ['https://ann:pw@example.org/', 'https://ann:…@example.org/'],
    ['push ghp_abcdefghijklmnop', 'push …'],
    ['eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln', '…'],
    ['a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n', 'a\n…'],
    ['npm test', 'npm test'],
  ])('%j', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  test('under a name that says so', () => {
    expect(redactJson({ token: 'abc', deep: { password: 'x', list: ['k=v', 'secret=v'] }, n: 1 })).toEqual({
      token: '…',
      deep: { password: '…', list: ['k=v', 'secret=…'] },
      n: 1,
    });
  });
});

// Arguments take up to 256 KB; the patterns once took minutes for some of these.
test.each(
  [
    'a',
    '-',
    'a-',
    'token',
    'secret-',
    'password ',
    'token"',
    'eyJaaaaaaaaaa-',
    'eyJaaaaaaaaaaaa.',
    '://a:',
    'sk-',
    '-----BEGIN A',
    'authorization: ',
  ].map((piece): [string] => [piece]),
)('250 KB of %j take less than a second', (piece) => {
  const text = piece.repeat(Math.ceil(250_000 / piece.length)) + ' '.repeat(5_000);
  const since = performance.now();
  redact(text);
  expect(performance.now() - since).toBeLessThan(1_000);
});
