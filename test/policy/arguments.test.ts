import { describe, expect, it } from 'vitest';
import type { ArgumentRule, CallFacts } from '../../src/policy/index.ts';
import { fileCall, pathSubject, rulesOf, shellCall, tool, verdict } from './support.ts';

const matches = (rule: Omit<ArgumentRule, 'effect'>, call: CallFacts): boolean =>
  verdict(call, rulesOf({ rules: [{ name: 'r', effect: 'deny', ...rule }] })) === 'deny rules "r"';
const on = (path: string, resolved?: string): CallFacts => ({
  tool: tool('read'),
  arguments: { path },
  subjects: [pathSubject(path, 'read', resolved)],
});
const path = (pattern: object) => ({ tool: 'read', when: { path: pattern } }) as Omit<ArgumentRule, 'effect'>;

describe('patterns on paths', () => {
  const TABLE: [pattern: object, path: string, match: boolean, resolved?: string][] = [
    [{ under: 'secrets' }, 'secrets/a', true],
    [{ under: 'secrets' }, 'secrets', true],
    [{ under: 'secrets/' }, 'secrets/a/b', true],
    [{ under: './secrets' }, 'secrets/a', true],
    [{ under: 'secrets' }, 'secrets2/a', false],
    [{ under: 'secrets' }, 'a/secrets', false],
    [{ under: 'secrets' }, './x/../secrets/a', true],
    [{ under: 'secrets' }, 'link', true, '/work/site/secrets/a'],
    [{ under: 'secrets' }, 'secrets/link', false, '/work/site/public/a'],
    [{ under: '/work/site/secrets' }, 'secrets/a', true],
    [{ under: '/work/site/secret' }, 'secrets/a', false],
    [{ glob: 'secrets/*' }, 'secrets/a', true],
    [{ glob: 'secrets/*' }, 'secrets/a/b', false],
    [{ glob: 'secrets/**' }, 'secrets/a/b', true],
    [{ glob: '**/*.pem' }, 'a.pem', true],
    [{ glob: '**/*.pem' }, 'a/b/c.pem', true],
    [{ glob: '*.pem' }, 'a/c.pem', false],
    [{ glob: '**/*.{pem,key}' }, 'a/c.key', true],
    [{ glob: '**/.env?' }, 'a/.env1', true],
    [{ glob: '/work/site/**' }, 'a', true],
    [{ glob: '**/*.pem' }, 'a', true, '/work/site/x.pem'],
    [{ exact: 'a.txt' }, 'a.txt', true],
    [{ exact: 'a.txt' }, './a.txt', true],
    [{ exact: './a.txt' }, 'a.txt', true],
    [{ exact: 'a.txt' }, 'b', true, '/work/site/a.txt'],
    [{ exact: '/work/site/a.txt' }, 'a.txt', true],
    [{ exact: 'a.txt' }, 'a.txt2', false],
    [{ exact: '' }, '.', true],
  ];
  it.each(TABLE)('%j, %j: %j', (pattern, written, match, resolved) => {
    expect(matches(path(pattern), on(written, resolved))).toBe(match);
  });

  it('finds what a deleted or searched folder takes in', () => {
    const rule = (name: string) =>
      ({ tool: name, when: { path: { under: 'secrets/keys' } } }) as Omit<ArgumentRule, 'effect'>;
    expect(matches(rule('delete'), fileCall('delete', 'secrets', 'delete'))).toBe(true);
    expect(matches(rule('search'), fileCall('search', '.'))).toBe(true);
    expect(matches(rule('list'), fileCall('list', '.'))).toBe(false);
    expect(matches(rule('delete'), fileCall('delete', 'public', 'delete'))).toBe(false);
  });
});

describe('patterns on other arguments', () => {
  const call = (args: CallFacts['arguments']): CallFacts => ({ tool: tool('message'), arguments: args, subjects: [] });
  const TABLE: [when: object, args: CallFacts['arguments'], match: boolean][] = [
    [{ to: { exact: 'ann' } }, { to: 'ann' }, true],
    [{ to: { exact: 'ann' } }, { to: 'Ann' }, false],
    [{ to: { exact: 'ann' } }, {}, false],
    [{ urgent: { exact: true } }, { urgent: true }, true],
    [{ urgent: { exact: true } }, { urgent: 'true' }, false],
    [{ count: { exact: 1 } }, { count: 1 }, true],
    [{ to: { glob: '*@example.com' } }, { to: 'ann@example.com' }, true],
    [{ to: { glob: '*@example.com' } }, { to: 'ann@example.com.evil' }, false],
    [{ to: { glob: '*@evil.net' } }, { to: ['a@b.c', 'x@evil.net'] }, true],
    [{ to: { glob: '*' } }, {}, false],
    [{ url: { host: 'example.com' } }, { url: 'https://example.com/a' }, true],
    [{ url: { host: 'example.com' } }, { url: 'https://EXAMPLE.com:8080/a' }, true],
    [{ url: { host: 'example.com' } }, { url: 'https://x@example.com/a' }, true],
    [{ url: { host: 'example.com' } }, { url: 'https://example.com@evil.net/a' }, false],
    [{ url: { host: 'example.com' } }, { url: 'https://notexample.com' }, false],
    [{ url: { host: '*.example.com' } }, { url: 'https://a.b.example.com' }, true],
    [{ url: { host: '*.example.com' } }, { url: 'https://example.com' }, false],
    [{ to: { exact: 'ann' }, urgent: { exact: true } }, { to: 'ann', urgent: true }, true],
    [{ to: { exact: 'ann' }, urgent: { exact: true } }, { to: 'ann' }, false],
    [{ constructor: { glob: '*' } }, { to: 'x' }, false],
    [{ toString: { glob: '*' } }, {}, false],
  ];
  it.each(TABLE)('%j, %j: %j', (when, args, match) => {
    expect(matches({ tool: 'message', when: when as NonNullable<ArgumentRule['when']> }, call(args))).toBe(match);
  });

  it('knows where a command runs, also when the model did not say', () => {
    const rule = { tool: 'shell', when: { cwd: { under: '/work/site/infra' } } } as const;
    expect(matches(rule, shellCall('ls', { cwd: '/work/site/infra/prod' }))).toBe(true);
    expect(matches(rule, shellCall('ls', { cwd: '/work/site' }))).toBe(false);
    expect(matches({ tool: 'shell', when: { cwd: { under: '/work/site' } } }, shellCall('ls'))).toBe(true);
  });
});

describe('several rules', () => {
  it('hears the strictest, with its reason', () => {
    const rules = [
      { tool: 'write', effect: 'allow' },
      { tool: 'write', effect: 'ask', when: { path: { under: 'db' } }, reason: 'A person reads migrations.' },
      { tool: 'group:fs', effect: 'deny', when: { path: { glob: 'db/prod/**' } }, reason: 'Production is closed.' },
    ];
    expect(verdict(fileCall('write', 'a', 'write'), rulesOf({ rules }))).toBe('run tier.workspace');
    expect(verdict(fileCall('write', 'db/a', 'write'), rulesOf({ rules }))).toBe('ask rules[1]');
    expect(verdict(fileCall('write', 'db/prod/a', 'write'), rulesOf({ rules }))).toBe('deny rules[2]');
  });

  it('never lets an allow rule lower what stands: lists, paths, protection, elevation', () => {
    const allow = [{ tool: '*', effect: 'allow' }];
    expect(verdict(fileCall('write', 'a', 'write'), rulesOf({ rules: allow, ask: ['write'] }))).toBe('ask ask "write"');
    expect(verdict(fileCall('write', 'a', 'write'), rulesOf({ rules: allow, deny: ['write'] }))).toBe(
      'deny deny "write"',
    );
    expect(verdict(fileCall('write', '../a', 'write'), rulesOf({ rules: allow }))).toBe('deny risk.outside_workspace');
    expect(verdict(fileCall('write', '.git/config', 'write'), rulesOf({ rules: allow }))).toBe(
      'ask risk.protected_path',
    );
    expect(verdict(fileCall('delete', '/tmp/a', 'delete'), rulesOf({ rules: allow }))).toBe('ask risk.delete_outside');
    expect(verdict(shellCall('npm i', { sandbox: false }), rulesOf({ rules: allow }))).toBe('ask shell.outside');
    expect(
      verdict({ tool: tool('pay', { tier: 'elevated' }), arguments: {}, subjects: [] }, rulesOf({ rules: allow })),
    ).toBe('ask tier.elevated');
  });
});
