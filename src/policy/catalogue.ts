/** Names that rules may use: tools, groups and profiles. A tool joins a group by its own file; those of later versions stand here too. */
import { PROFILE_NAMES, type ProfileName } from './settings.ts';

/** Group → tools. `group:core` is every built-in tool. */
const BUILT_IN: Record<string, readonly string[]> = {
  'group:fs': ['read', 'write', 'edit', 'list', 'stat', 'search', 'delete'],
  'group:runtime': ['shell'],
  'group:web': ['web_search', 'web_fetch'],
  'group:memory': ['memory_search', 'memory_get', 'memory_store', 'memory_save', 'memory_delete'],
  'group:sessions': ['session_list', 'session_history', 'session_send', 'session_spawn', 'session_status'],
  'group:ui': ['browser', 'canvas'],
  'group:messaging': ['message'],
  'group:automation': ['cron', 'gateway'],
  'group:nodes': ['nodes'],
  'group:agents': ['agent_list', 'agent_spawn'],
  'group:media': ['image', 'speech'],
};

export const BUILT_IN_GROUPS: Readonly<Record<string, readonly string[]>> = {
  ...BUILT_IN,
  'group:core': [...new Set(Object.values(BUILT_IN).flat())],
};

export const BUILT_IN_TOOLS: readonly string[] = BUILT_IN_GROUPS['group:core'] ?? [];

export const PROFILES: Readonly<Record<ProfileName, readonly string[]>> = {
  minimal: ['read', 'list', 'stat', 'search', 'session_status'],
  coding: ['group:fs', 'group:runtime', 'group:memory', 'group:sessions', 'image'],
  messaging: ['group:messaging', 'session_list', 'session_history', 'session_send', 'session_status'],
  full: ['*'],
};

/** What a worker session may call, whatever else is configured. */
export const WORKER_TOOLS: readonly string[] = [
  'read',
  'list',
  'stat',
  'search',
  'memory_search',
  'web_search',
  'web_fetch',
];

/**
 * `group:mcp:SERVER` and `group:plugin:NAME`: tools that came from there, as `mcp__SERVER__TOOL` and `plugin__NAME__TOOL`. The name of
 * what they came from ends at the first `__`, so it has none itself.
 */
export const ORIGIN_GROUP = /^group:(mcp|plugin):((?!.*__)[A-Za-z0-9][A-Za-z0-9_.-]*|\*)$/;
const ORIGIN_TOOL = /^(mcp|plugin)__([A-Za-z0-9*][A-Za-z0-9_.*-]*?)(__[A-Za-z0-9_.*-]+)?$/;

/**
 * The groups of a tool that came from a plugin or an MCP server, by its name. The first is the one that is meant; the others are what it
 * would be if the name of where it came from had `__` in it.
 */
export function originGroups(tool: string): string[] {
  const match = ORIGIN_TOOL.exec(tool);
  if (match === null || match[3] === undefined) return [];
  const [kind, ...parts] = tool.split('__');
  return parts.slice(1).map((_, index) => `group:${kind}:${parts.slice(0, index + 1).join('__')}`);
}

export const isOriginName = (name: string): boolean => ORIGIN_GROUP.test(name) || ORIGIN_TOOL.test(name);
export { PROFILE_NAMES };
