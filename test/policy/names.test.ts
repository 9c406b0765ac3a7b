import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/index.ts';
import { rulesOf, session, surroundings, tool } from './support.ts';

const said = (name: string, settings: object, groups: string[] = []): string => {
  const call = { tool: tool(name, { tier: 'read_only', needs: [], groups }), arguments: {}, subjects: [] };
  return judge(call, session(), rulesOf(settings), surroundings).verdict;
};

describe('variants of a denied name', () => {
  it.each([
    'shell',
    'Shell',
    'SHELL',
    'sHELL',
    ' shell',
    'shell ',
    'shell\n',
    '\tshell',
    'she ll',
    'shell\u00a0',
    'shell\u200b',
    's\u200dhell',
    'shell\u2060',
    '\ufeffshell',
    'shell\u0000',
    'ѕhell',
    'shеll',
    'shеⅼl',
    'ｓｈｅｌｌ',
    '𝗌hell',
    'ſhell',
    'ꜱhell',
    'she\u0301ll',
    'shell\u0301',
    'shel\u006c\u0335',
    'sheⅼⅼ',
    'shell\ud800',
    'shell\u202e',
    './shell',
    'shell/',
    'shell;',
    'shell()',
    'shell#',
    'shell%20',
    '__proto__',
    'constructor ',
    '',
  ])('%j does not get through', (name) => {
    expect(said(name, { deny: ['shell'] })).toBe('deny');
  });

  it.each(['web-fetch', 'WEB_FETCH', 'Web-Fetch'])('%j does not get past a denied web_fetch', (name) => {
    expect(said(name, { deny: ['web_fetch'] })).toBe('deny');
    expect(said(name, { deny: ['group:web'] })).toBe('deny');
    expect(said(name, { deny: ['web_*'] })).toBe('deny');
  });

  it('asks about variants of what must ask', () => {
    expect(said('Message', { ask: ['message'] })).toBe('ask');
    expect(said('MESSAGE', { ask: ['group:messaging'] })).toBe('ask');
  });

  it('lets nothing through an allow list but the exact name', () => {
    expect(said('read', { allow: ['read'] })).toBe('run');
    for (const name of ['Read', 'READ', 'read_', 'reads', 'rea', 'xread', 'constructor', 'toString'])
      expect(said(name, { allow: ['read'] })).toBe('deny');
    expect(said('Read', { profile: 'minimal' })).toBe('deny');
  });
});

describe('groups and patterns', () => {
  const TABLE: [name: string, settings: object, verdict: string, groups?: string[]][] = [
    ['read', { deny: ['r*'] }, 'deny'],
    ['read', { deny: ['*d'] }, 'deny'],
    ['read', { deny: ['r*d'] }, 'deny'],
    ['list', { deny: ['r*'] }, 'run'],
    ['read', { deny: ['group:core'] }, 'deny'],
    ['mcp__github__create_issue', { deny: ['group:core'] }, 'run'],
    ['mcp__github__create_issue', { deny: ['mcp__*'] }, 'deny'],
    ['mcp__github__create_issue', { deny: ['mcp__github__*'] }, 'deny'],
    ['mcp__github__create_issue', { deny: ['group:mcp:github'] }, 'deny'],
    ['mcp__GitHub__create_issue', { deny: ['group:mcp:github'] }, 'deny'],
    ['mcp__github__create_issue', { deny: ['group:mcp:*'] }, 'deny'],
    ['mcp__github__create_issue', { deny: ['group:mcp:git'] }, 'run'],
    ['mcp__github__create_issue', { allow: ['group:mcp:github'] }, 'run'],
    ['mcp__github2__create_issue', { allow: ['group:mcp:github'] }, 'deny'],
    ['MCP__github__create_issue', { deny: ['group:mcp:github'] }, 'deny'],
    ['mcp-_github__create_issue', { deny: ['group:mcp:github'] }, 'deny'],
    ['mcp__github-_create_issue', { deny: ['group:mcp:github'] }, 'deny'],
    ['MCP--GitHub--create_issue', { ask: ['group:mcp:*'] }, 'ask'],
    ['MCP__github__create_issue', { allow: ['group:mcp:github'] }, 'deny'],
    ['mcp__my-server__x', { deny: ['group:mcp:my_server'] }, 'deny'],
    ['mcp__a-_b__x', { deny: ['group:mcp:a-_b'] }, 'deny'],
    ['mcp-_A-_b__x', { deny: ['group:mcp:a-_b'] }, 'deny'],
    ['mcp__a__b__x', { deny: ['group:mcp:a'] }, 'deny'],
    ['mcp__a__b__x', { deny: ['group:mcp:b'] }, 'run'],
    ['mcp__a__b__x', { allow: ['group:mcp:a'] }, 'run'],
    ['mcp__a__b-_c__x', { allow: ['group:mcp:b-_c'] }, 'deny'],
    ['mcp__github', { deny: ['group:mcp:github'] }, 'run'],
    ['PLUGIN__jira__close', { deny: ['group:plugin:jira'] }, 'deny'],
    ['plugin__jira__close', { deny: ['group:plugin:jira'] }, 'deny'],
    ['plugin__jira__close', { deny: ['group:mcp:jira'] }, 'run'],
    ['special', { deny: ['group:media'] }, 'deny', ['group:media']],
    ['special', { allow: ['group:media'] }, 'run', ['group:media']],
    ['write', { groups: { 'group:changes': ['write', 'edit'] }, deny: ['group:changes'] }, 'deny'],
    [
      'edit',
      { groups: { 'group:all': ['group:changes'], 'group:changes': ['write', 'edit'] }, deny: ['group:all'] },
      'deny',
    ],
    ['read', { groups: { 'group:a': ['group:b'], 'group:b': ['group:a', 'list'] }, deny: ['group:a'] }, 'run'],
    ['list', { groups: { 'group:a': ['group:b'], 'group:b': ['group:a', 'list'] }, deny: ['group:a'] }, 'deny'],
    ['read', { groups: { 'group:mine': ['group:fs'] }, allow: ['group:mine'] }, 'run'],
  ];
  it.each(TABLE)('%s under %j: %s', (name, settings, verdict, groups) => {
    expect(said(name, settings, groups)).toBe(verdict);
  });

  it('does not let a tool join a group by its own word to get through an allow list of names', () => {
    expect(said('special', { allow: ['read'] }, ['read'])).toBe('deny');
  });
});
