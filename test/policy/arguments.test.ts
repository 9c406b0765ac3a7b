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

  it.each<
    [pattern: object, tool: string, path: string, match: boolean, facts?: { folder?: boolean; recursive?: boolean }]
  >([
    [{ under: 'secrets/keys' }, 'delete', 'secrets', true],
    [{ under: 'secrets/keys' }, 'delete', 'secrets', false, { folder: false }],
    [{ under: 'secrets/keys' }, 'search', '.', true],
    [{ under: 'secrets/keys' }, 'list', '.', false],
    [{ under: 'secrets/keys' }, 'delete', 'public', false],
    [{ under: '/work/site/secrets/keys' }, 'delete', 'secrets', true],
    [{ glob: 'db/migrations/**' }, 'delete', 'db', true],
    [{ glob: 'db/migrations/**' }, 'delete', 'db/migrations', true],
    [{ glob: 'db/migrations/**' }, 'search', '.', true],
    [{ glob: 'db/migrations/**' }, 'delete', 'public', false],
    [{ glob: 'db/migrations/**' }, 'list', 'db', false],
    [{ glob: '{src,db}/*.sql' }, 'delete', 'db', true],
    [{ glob: '{src,db}/*.sql' }, 'delete', 'db/a', false],
    [{ glob: 'd?/*.sql' }, 'search', 'db', true],
    [{ glob: '/work/*/db/**' }, 'delete', '.', true],
    [{ glob: '**/*.pem' }, 'search', 'secrets', true],
    [{ glob: '**/*.pem' }, 'delete', 'keys', true, { folder: true }],
    [{ glob: '**/*.pem' }, 'delete', 'notes.md', false, { folder: false }],
    [{ glob: '**/*.pem' }, 'delete', 'notes.md', true, { folder: false, recursive: true }],
    [{ glob: '**/*.pem' }, 'search', 'notes.md', false, { folder: false }],
    [{ glob: '**/*.pem' }, 'read', 'keys', false],
    [{ exact: '.env' }, 'search', '.', true],
    [{ exact: 'a/.env' }, 'delete', 'a', true],
    [{ exact: '/work/site/a/.env' }, 'delete', 'a', true],
    [{ exact: 'a/.env' }, 'delete', 'b', false],
    [{ exact: 'a/.env' }, 'list', 'a', false],
  ])('%j, %s %s takes it in: %j (%j)', (pattern, name, at, match, { folder, recursive } = {}) => {
    const subject = {
      ...pathSubject(at, name === 'delete' ? 'delete' : 'read'),
      ...(folder !== undefined && { folder }),
    };
    const call = { tool: tool(name), arguments: { path: at, ...(recursive && { recursive }) }, subjects: [subject] };
    expect(matches({ ...path(pattern), tool: name }, call)).toBe(match);
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
    [
      { env: { exact: { A: '1', B: ['x', { C: true, D: null }] } } },
      { env: { B: ['x', { D: null, C: true }], A: '1' } },
      true,
    ],
    [{ env: { exact: { A: '1', B: '2' } } }, { env: { A: '1' } }, false],
    [{ list: { exact: ['a', 'b'] } }, { list: ['b', 'a'] }, false],
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

  it.each<[pattern: object, cwd: string, match: boolean]>([
    [{ under: '/work/site/infra' }, '/work/site/infra/prod', true],
    [{ under: '/work/site/infra' }, '/work/site', false],
    [{ under: '/work/site' }, '/work/site', true],
    [{ under: 'infra' }, '/work/site/infra/prod', true],
    [{ under: 'infra' }, '/work/site/infra2', false],
    [{ under: 'infra' }, '/infra', false],
    [{ glob: 'infra/**' }, '/work/site/infra/prod', true],
    [{ glob: '**/infra' }, '/work/site/infra', true],
    [{ glob: '/work/*/infra' }, '/work/site/infra', true],
    [{ glob: 'infra/*' }, '/work/site', false],
    [{ exact: 'infra' }, '/work/site/infra', true],
    [{ exact: './infra/' }, '/work/site/infra', true],
    [{ exact: '/work/site/infra' }, '/work/site/infra', true],
    [{ exact: '/infra' }, '/work/site/infra', false],
    [{ exact: '.' }, '/work/site', true],
    [{ exact: '.' }, '/work/site/infra', false],
  ])('%j, a command that runs in %s, whatever the model wrote: %j', (pattern, cwd, match) => {
    const rule = { tool: 'shell', when: { cwd: pattern } } as Omit<ArgumentRule, 'effect'>;
    expect(matches(rule, shellCall('ls', { cwd }))).toBe(match);
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
    expect(verdict(fileCall('write', '.gitmodules', 'write'), rulesOf({ rules: allow }))).toBe(
      'ask risk.protected_path',
    );
    expect(verdict(fileCall('delete', '/tmp/a', 'delete'), rulesOf({ rules: allow }))).toBe('ask risk.delete_outside');
    expect(verdict(shellCall('npm i', { sandbox: false }), rulesOf({ rules: allow }))).toBe('ask shell.outside');
    expect(
      verdict({ tool: tool('pay', { tier: 'elevated' }), arguments: {}, subjects: [] }, rulesOf({ rules: allow })),
    ).toBe('ask tier.elevated');
  });
});
