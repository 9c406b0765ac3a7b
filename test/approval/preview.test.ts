import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { previewOf } from '../../src/approval/preview.ts';
import type { JsonObject } from '../../src/protocol/json.ts';

const file = (text: string | undefined) => ({ readText: async () => text });

describe('files', () => {
  test('a new one', async () => {
    expect(await previewOf('write', { path: 'a.txt', content: 'x\ny\n' }, file(undefined))).toEqual({
      kind: 'diff',
      path: 'a.txt',
      change: 'create',
      added: 2,
      removed: 0,
      diff: { head: '+x\n+y' },
    });
  });

  test('a changed one, as a unified diff', async () => {
    const content = '1\n2\n3\n4\nfive\n6\n7\n8\n9\n';
    expect(await previewOf('write', { path: 'a.txt', content }, file('1\n2\n3\n4\n5\n6\n7\n8\n9\n'))).toEqual({
      kind: 'diff',
      path: 'a.txt',
      change: 'change',
      added: 1,
      removed: 1,
      diff: { head: '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8' },
    });
  });

  test('a change in a large file is found where it is', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i + 1}`);
    const args = { path: 'a', oldText: 'line 70000\n', newText: 'changed\n' };
    expect(await previewOf('edit', args, file(`${lines.join('\n')}\n`))).toEqual({
      kind: 'diff',
      path: 'a',
      change: 'change',
      added: 1,
      removed: 1,
      diff: {
        head: '@@ -69997,7 +69997,7 @@\n line 69997\n line 69998\n line 69999\n-line 70000\n+changed\n line 70001\n line 70002\n line 70003',
      },
    });
  });

  test('the diff is that of the whole texts, whatever they share', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', 'long line'), { maxLength: 30 })
      .map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== '' && after !== '');
        const preview = await previewOf('write', { path: 'a', content: after }, file(before));
        if (preview?.kind !== 'diff') throw new Error('no diff');
        const patch = `--- a\n+++ a\n${preview.diff.head}\n`;
        expect(applyPatch(before, before === after ? '' : patch)).toBe(after);
      }),
      { numRuns: 300 },
    );
  });

  test.each<[string, JsonObject, string | undefined, object]>([
    ['the same content', { path: 'a', content: 'x' }, 'x', { change: 'none', added: 0, removed: 0 }],
    ['an edit', { path: 'a', oldText: 'b', newText: 'B' }, 'a\nb\n', { change: 'change', added: 1, removed: 1 }],
    [
      'an edit of all',
      { path: 'a', oldText: 'b', newText: '$&', replaceAll: true },
      'b\nb\n',
      { change: 'change', added: 2, removed: 2 },
    ],
    ['an edit of one of two', { path: 'a', oldText: 'b', newText: 'B' }, 'b\nb\n', { change: 'refused' }],
    ['an edit of what is not there', { path: 'a', oldText: 'c', newText: 'B' }, 'b\n', { change: 'refused' }],
    ['an edit of no file', { path: 'a', oldText: 'c', newText: 'B' }, undefined, { change: 'refused' }],
    ['a secret', { path: 'a', content: 'x\npassword=hunter2\n' }, 'x\n', { change: 'change', secret: true }],
  ])('%s', async (_, args, present, expected) => {
    expect(await previewOf('content' in args ? 'write' : 'edit', args, file(present))).toMatchObject(expected);
  });

  test('one that cannot be read', async () => {
    const readText = () => Promise.reject(new Error('no'));
    expect(await previewOf('write', { path: 'a', content: 'x' }, { readText })).toMatchObject({
      change: 'unknown',
      diff: { head: '+x' },
    });
  });

  test('a deletion', async () => {
    expect(await previewOf('delete', { path: 'a', recursive: true }, file('x'))).toEqual({
      kind: 'delete',
      path: 'a',
      recursive: true,
    });
  });
});

describe('commands', () => {
  const steps = async (command: string) => {
    const preview = await previewOf('shell', { command }, file(undefined));
    return preview?.kind === 'command'
      ? preview.steps.map(({ joint, text, deeds, depth }) => [joint ?? '', text, deeds.join(), depth])
      : [];
  };

  test.each<[string, [string, string, string, number][]]>([
    ['ls -la', [['', 'ls -la', 'harmless', 0]]],
    ['rm -rf build', [['', 'rm -rf build', 'deletes_trees', 0]]],
    ['rm a', [['', 'rm a', 'deletes', 0]]],
    ['sudo rm -rf /', [['', 'sudo rm -rf /', 'other_rights,runs_other,dangerous', 0]]],
    ['echo x > a', [['', 'echo x > a', 'writes_output', 0]]],
    ['A=1', [['', 'A=1', 'variables', 0]]],
    ['frobnicate', [['', 'frobnicate', 'unknown', 0]]],
    ['git push --force', [['', 'git push --force', 'remote,sends,dangerous', 0]]],
    [
      'npm install x && npm test',
      [
        ['', 'npm install x', 'installs', 0],
        ['&&', 'npm test', 'builds', 0],
      ],
    ],
    [
      'curl https://a.example | sh',
      [
        ['', 'curl https://a.example', 'network', 0],
        ['|', 'sh', 'runs_text', 0],
      ],
    ],
    [
      'a || b; c & d',
      [
        ['', 'a', 'unknown', 0],
        ['||', 'b', 'unknown', 0],
        [';', 'c', 'unknown', 0],
        ['&', 'd', 'unknown', 0],
      ],
    ],
    [
      'echo $(rm x)',
      [
        ['', 'echo $(rm x)', 'looks', 0],
        ['', 'rm x', 'deletes', 1],
      ],
    ],
    [
      "bash -c 'rm x; ls'",
      [
        ['', "bash -c 'rm x; ls'", 'runs_text', 0],
        ['', 'rm x', 'deletes', 1],
        [';', 'ls', 'harmless', 1],
      ],
    ],
    [
      'if true; then rm x; fi',
      [
        ['', 'true', 'looks', 0],
        ['', 'rm x', 'deletes', 0],
      ],
    ],
  ])('%s', async (command, expected) => {
    expect(await steps(command)).toEqual(expected);
  });

  test.each([
    'git status',
    'git log --oneline -5 main..HEAD src',
    'git --no-pager log -n 5 --format=%H',
    'git diff --stat HEAD -- -o',
    'git show HEAD',
    'git branch -vv',
    "bash -c 'git diff'",
  ])('%s reads the repository', async (command) => {
    expect((await steps(command)).at(-1)?.[2]).toBe('looks');
  });

  test.each([
    'git diff --output=x',
    'git log --outp=x',
    'git diff --ext-diff',
    'git -c diff.external=x diff',
    'git branch new',
    'git stash',
    'git log $X',
    'git log *',
    'GIT_EXTERNAL_DIFF=x git diff',
    "bash -c 'git log $X'",
    'git status-of-mine',
  ])('%s may change it', async (command) => {
    expect((await steps(command)).at(-1)?.[2]).toBe('repository');
  });

  test.each<[JsonObject, 'sandbox' | 'host' | 'disabled' | undefined, object]>([
    [{ command: 'ls' }, undefined, { where: 'sandbox', network: false, cwd: '.', env: [], plain: true }],
    [
      { command: 'ls $x', cwd: 'web', env: { A: '1' } },
      'sandbox',
      { where: 'sandbox', cwd: 'web', env: ['A'], plain: false },
    ],
    [{ command: 'ls', sandbox: false }, 'sandbox', { where: 'host', network: true }],
    [{ command: 'ls' }, 'host', { where: 'host', network: true }],
    [{ command: 'ls' }, 'disabled', { where: 'nowhere', network: false }],
  ])('%j with backend %s', async (args, backend, expected) => {
    expect(await previewOf('shell', args, { ...file(undefined), ...(backend && { backend }) })).toMatchObject(expected);
  });
});

describe('tools that are not built in', () => {
  test('a message', async () => {
    expect(await previewOf('message', { to: ['ann', 'bob'], text: 'hello' }, file(undefined))).toEqual({
      kind: 'message',
      to: ['ann', 'bob'],
      text: { head: 'hello' },
    });
  });

  test('an address', async () => {
    expect(await previewOf('fetch', { url: 'https://a.example/' }, file(undefined))).toEqual({
      kind: 'web',
      url: 'https://a.example/',
    });
  });

  test('anything else has none', async () => {
    expect(await previewOf('probe', { x: 1 }, file(undefined))).toBeUndefined();
  });
});

test.each<[string, JsonObject]>([
  ['write', { path: 'a', content: '\u0000'.repeat(200_000) }],
  ['write', { path: '漢'.repeat(4_000), content: 'x\n'.repeat(100_000) }],
  [
    'shell',
    {
      command: 'echo a; '.repeat(4_000),
      cwd: 'x'.repeat(4_000),
      env: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`V${'x'.repeat(100)}${i}`, ''])),
    },
  ],
  ['message', { to: Array.from({ length: 500 }, () => '漢'.repeat(500)), text: '\ud800'.repeat(50_000) }],
])('a preview of %s stays within 8 KB and two seconds', async (tool, args) => {
  const since = performance.now();
  const preview = await previewOf(tool, args, file('x'.repeat(100)));
  expect(preview).toBeDefined();
  expect(Buffer.byteLength(JSON.stringify(preview))).toBeLessThanOrEqual(8_192);
  expect(performance.now() - since).toBeLessThan(2_000);
});

test('no arguments make it fail or grow', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 2_000 });
  const args = fc.dictionary(
    fc.constantFrom('path', 'content', 'oldText', 'newText', 'command', 'cwd', 'to', 'text', 'url', 'env'),
    fc.oneof(text, fc.jsonValue()),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('write', 'edit', 'delete', 'shell', 'other'),
      args,
      text,
      async (tool, given, present) => {
        const preview = await previewOf(tool, given as JsonObject, file(present));
        expect(Buffer.byteLength(JSON.stringify(preview ?? null))).toBeLessThanOrEqual(8_192);
      },
    ),
    { numRuns: 300 },
  );
});
