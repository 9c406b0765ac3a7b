import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/index.ts';
import { fileCall, pathSubject, rulesOf, session, surroundings, tool, verdict } from './support.ts';

type Access = 'read' | 'write' | 'delete';
const TOOL: Record<Access, string> = { read: 'read', write: 'write', delete: 'delete' };

/** A call on a path as written, and what it leads to where links are in it. */
const said = (access: Access, path: string, resolved?: string): string =>
  verdict(
    { tool: tool(TOOL[access]), arguments: { path }, subjects: [pathSubject(path, access, resolved)] },
    rulesOf({}),
  );

const OUTSIDE = 'deny risk.outside_workspace';
const PROTECTED = 'ask risk.protected_path';
const OWN = 'deny risk.own_files';
const GIT = 'deny risk.git_control';

describe('hostile paths', () => {
  const TABLE: [access: Access, path: string, expected: string, resolved?: string][] = [
    // Out of the workspace
    ['read', '../secret', OUTSIDE],
    ['read', 'src/../../secret', OUTSIDE],
    ['read', '/etc/passwd', OUTSIDE],
    ['read', '//etc/passwd', OUTSIDE, '/etc/passwd'],
    ['read', '/work/site/../other', OUTSIDE],
    ['read', '/work/site-2/a', OUTSIDE],
    ['read', '/work/sit', OUTSIDE],
    ['read', '/work', OUTSIDE],
    ['read', '/', OUTSIDE],
    ['read', 'link', OUTSIDE, '/etc/passwd'],
    ['read', 'a/link/b', OUTSIDE, '/work/site2/b'],
    ['write', '../x', OUTSIDE],
    ['write', '/etc/cron.d/x', OUTSIDE],
    ['write', '/proc/self/mem', OUTSIDE],
    ['write', '/dev/sda', OUTSIDE],
    ['write', 'link', OUTSIDE, '/root/.bashrc'],
    ['write', '/WORK/site/a', OUTSIDE],
    ['delete', '../x', OUTSIDE],
    ['delete', 'link/x', OUTSIDE, '/var/x'],
    ['delete', '/var/x', 'ask risk.delete_outside'],
    ['delete', '/var/../etc', 'ask risk.delete_outside'],
    // Countersign's own
    ['read', '/home/ann/.countersign/keys/ann', OWN],
    ['write', '/home/ann/.countersign/state.db', OWN],
    ['delete', '/home/ann/.countersign', OWN],
    ['delete', '/home/ann', OWN],
    ['delete', '/home', OWN],
    ['delete', '/', OWN],
    ['delete', '/work', OWN],
    ['read', 'link', OWN, '/home/ann/.countersign/keys/ann'],
    ['write', 'countersign.config.jsonc', OWN],
    ['write', './countersign.config.jsonc', OWN],
    ['delete', 'countersign.config.jsonc', OWN],
    ['delete', '.', OWN],
    ['write', 'alias.jsonc', OWN, '/work/site/countersign.config.jsonc'],
    ['read', 'countersign.config.jsonc', 'run tier.read_only'],
    // What git obeys: no person is asked, for no tool would do it
    ['write', '.git/hooks/pre-commit', GIT],
    ['write', '.git/hooks', GIT],
    ['write', '.git/config', GIT],
    ['write', '.git/config.worktree', GIT],
    ['write', '.git', GIT],
    ['delete', '.git', GIT],
    ['write', '.GIT/config', GIT],
    ['write', '.Git/Hooks/pre-commit', GIT],
    ['write', '.g\u200cit/config', GIT],
    ['write', '.git\u200d/hooks/x', GIT],
    ['write', '．git/config', GIT],
    ['write', '.git./config', GIT],
    ['write', '.git /config', GIT],
    ['write', 'GIT~1/config', GIT],
    ['write', '.git::$INDEX_ALLOCATION/config', GIT],
    ['write', '.git/./hooks//x', GIT],
    ['write', 'src/../.git/config', GIT],
    ['write', 'link/x', GIT, '/work/site/.git/hooks/x'],
    ['write', '.git/modules/a/config', GIT],
    ['write', '.git/worktrees/a/gitdir', GIT],
    ['write', 'vendor/lib/.git/config', GIT],
    ['delete', 'vendor/lib/.git', GIT],
    ['write', 'a/.git/hooks/.git/x', GIT],
    ['delete', '.git/hooks', GIT],
    ['read', '.git/hooks/pre-commit', 'run tier.read_only'],
    // Protected, present or not
    ['write', '.git/info/attributes', PROTECTED],
    ['write', '.git/objects/info/alternates', PROTECTED],
    ['write', 'bare.git/hooks/post-receive', PROTECTED],
    ['write', '.gitmodules', PROTECTED],
    ['write', '.github/workflows/ci.yml', PROTECTED],
    ['write', '.GitHub/Workflows/ci.yml', PROTECTED],
    ['delete', '.github', PROTECTED],
    ['write', '.github/actions/x/action.yml', PROTECTED],
    ['write', '.gitlab-ci.yml', PROTECTED],
    ['write', '.circleci/config.yml', PROTECTED],
    ['write', 'Jenkinsfile', PROTECTED],
    ['write', '.ci/run', PROTECTED],
    ['write', '.vscode/tasks.json', PROTECTED],
    ['write', '.vscode', PROTECTED],
    ['write', '.VSCode/settings.json', PROTECTED],
    ['write', '.idea/workspace.xml', PROTECTED],
    ['write', '.devcontainer/devcontainer.json', PROTECTED],
    ['write', 'a.code-workspace', PROTECTED],
    ['write', '.cursor/mcp.json', PROTECTED],
    ['write', '.claude/settings.json', PROTECTED],
    ['write', '.mcp.json', PROTECTED],
    ['write', '.exrc', PROTECTED],
    ['write', '.envrc', PROTECTED],
    ['write', '.bashrc', PROTECTED],
    ['write', 'home/.zshenv', PROTECTED],
    ['write', '.profile', PROTECTED],
    ['write', '.config/fish/config.fish', PROTECTED],
    ['delete', '.config', PROTECTED],
    ['write', '.ssh/authorized_keys', PROTECTED],
    ['write', '.npmrc', PROTECTED],
    ['write', '.husky/pre-commit', PROTECTED],
    ['write', '.pre-commit-config.yaml', PROTECTED],
    ['write', 'sub/countersign.config.jsonc', PROTECTED],
    ['write', 'sub/COUNTERSIGN.config.jsonc', PROTECTED],
    ['write', '.countersign/x', PROTECTED],
    // Not protected
    ['read', '.git/config', 'run tier.read_only'],
    ['read', '.bashrc', 'run tier.read_only'],
    ['write', '.gitignore', 'run tier.workspace'],
    ['write', 'docs/git/config', 'run tier.workspace'],
    ['write', 'src/a b.ts', 'run tier.workspace'],
    ['write', '..a/b', 'run tier.workspace'],
    ['write', '...', 'run tier.workspace'],
    ['write', 'a\\..\\b', 'run tier.workspace'],
    ['write', '%2e%2e/x', 'run tier.workspace'],
    ['delete', 'src', 'run tier.workspace'],
    ['write', '.git/description', 'run tier.workspace'],
    ['write', 'src/hooks/post-list.ts', 'run tier.workspace'],
    ['write', 'hooks/useHead.ts', 'run tier.workspace'],
    ['write', 'head/a.ts', 'run tier.workspace'],
    ['write', '.config/a', 'run tier.workspace'],
    ['write', '.hg/store/x', 'run tier.workspace'],
    ['write', '/work/site/a', 'run tier.workspace'],
    ['delete', '/work/site/a', 'run tier.workspace'],
  ];
  it.each(TABLE)('%s %j → %s', (access, path, expected, resolved) => {
    expect(said(access, path, resolved)).toBe(expected);
  });
});

describe('what a risk says', () => {
  it('raises a protected write and says why', () => {
    const judged = judge(fileCall('write', '.github/workflows/ci.yml', 'write'), session(), rulesOf({}), surroundings);
    expect(judged).toMatchObject({ verdict: 'ask', tier: 'elevated' });
    expect(judged.tierReasons).toEqual([
      '.github/workflows/ci.yml is protected (.{github,gitea,forgejo}/{workflows,actions}/**): continuous integration runs it',
    ]);
  });

  it('refuses with the code of the refusal', () => {
    const code = (path: string) => judge(fileCall('write', path, 'write'), session(), rulesOf({}), surroundings).code;
    expect([code('../x'), code('countersign.config.jsonc'), code('.git/config'), code('a')]).toEqual([
      'outside_workspace',
      'protected_path',
      'protected_path',
      undefined,
    ]);
  });

  it('protects what the configuration adds', () => {
    const rules = rulesOf({ protect: ['deploy/**', 'package-lock.json'] });
    expect(verdict(fileCall('write', 'deploy/prod/a.yml', 'write'), rules)).toBe('ask risk.protected_path');
    expect(verdict(fileCall('write', 'Deploy/a.yml', 'write'), rules)).toBe('ask risk.protected_path');
    expect(verdict(fileCall('delete', 'deploy', 'delete'), rules)).toBe('ask risk.protected_path');
    expect(verdict(fileCall('write', 'package-lock.json', 'write'), rules)).toBe('ask risk.protected_path');
    expect(verdict(fileCall('write', 'sub/package-lock.json', 'write'), rules)).toBe('run tier.workspace');
  });

  it('protects them however their letters are composed', () => {
    const rules = rulesOf({ protect: ['d\u0065\u0301*/**', 'caf\u00e9/**'] });
    for (const path of ['d\u00e9ploy/a', 'de\u0301ploy/a', 'D\u00c9PLOY/a', 'caf\u00e9/a', 'cafe\u0301/a'])
      expect(verdict(fileCall('write', path, 'write'), rules)).toBe('ask risk.protected_path');
  });

  it('asks about hosts that are not known, once some are', () => {
    const call = (url: string) => ({
      tool: tool('web_fetch', { needs: [] }),
      arguments: { url },
      subjects: [{ kind: 'host' as const, argument: 'url', url, host: new URL(url).hostname }],
    });
    const rules = rulesOf({ knownHosts: ['example.com', '*.example.org'] });
    const TABLE: [url: string, expected: string][] = [
      ['https://example.com/a', 'run tier.read_only'],
      ['https://EXAMPLE.com./a', 'run tier.read_only'],
      ['https://www.example.com/a', 'ask risk.unknown_host'],
      ['https://a.b.example.org/', 'run tier.read_only'],
      ['https://example.org/', 'ask risk.unknown_host'],
      ['https://example.com.evil.net/', 'ask risk.unknown_host'],
      ['https://evilexample.org/', 'ask risk.unknown_host'],
      ['https://example.com@evil.net/', 'ask risk.unknown_host'],
      ['https://ехаmple.com/', 'ask risk.unknown_host'],
      ['http://127.0.0.1/', 'ask risk.unknown_host'],
    ];
    for (const [url, expected] of TABLE) expect(verdict(call(url), rules)).toBe(expected);
    for (const [url] of TABLE) expect(verdict(call(url), rulesOf({}))).toBe('run tier.read_only');

    const allowing = (rule: object) =>
      rulesOf({ knownHosts: ['example.com'], rules: [{ name: 'r', effect: 'allow', ...rule }] });
    const docs = { tool: 'web_fetch', when: { url: { host: 'docs.example.net' } } };
    expect(verdict(call('https://docs.example.net/'), allowing(docs))).toBe('run tier.read_only');
    expect(verdict(call('https://example.net/'), allowing(docs))).toBe('ask risk.unknown_host');
    expect(verdict(call('https://docs.example.net/'), allowing({ tool: 'web_fetch' }))).toBe('ask risk.unknown_host');
  });
});
