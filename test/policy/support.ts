/** Facts for policy tests. */
import { parseConfig } from '../../src/config/index.ts';
import type {
  CallFacts,
  JudgedSession,
  ResolvedSubject,
  Rules,
  Surroundings,
  ToolFacts,
} from '../../src/policy/index.ts';
import { judge } from '../../src/policy/index.ts';
import type { Tier } from '../../src/protocol/tool.ts';

export const WORKSPACE = '/work/site';

export const surroundings: Surroundings = {
  available: new Set(['files', 'writer', 'searcher', 'shell', 'artifacts', 'elevated']),
  missing: { web: 'no search provider is configured' },
  protectedPaths: ['/home/ann/.countersign', '/work/site/countersign.config.jsonc'],
};

export const session = (facts: Partial<JudgedSession> = {}): JudgedSession => ({
  id: 's1',
  kind: 'main',
  main: 's1',
  depth: 0,
  workspace: WORKSPACE,
  agent: 'default',
  channel: 'inbox',
  ...facts,
});

export const rulesOf = (settings: object): Rules => parseConfig(JSON.stringify(settings), 'test.jsonc').rules;

const TIERS: Record<string, [Tier, string[]]> = {
  read: ['read_only', ['files']],
  list: ['read_only', ['files']],
  stat: ['read_only', ['files']],
  search: ['read_only', ['searcher']],
  write: ['workspace', ['files', 'writer']],
  edit: ['workspace', ['files', 'writer']],
  delete: ['workspace', ['writer']],
  shell: ['system', ['shell']],
  message: ['system', []],
  web_fetch: ['read_only', ['web']],
};

export function tool(name: string, facts: Partial<ToolFacts> = {}): ToolFacts {
  const [tier, needs] = (Object.hasOwn(TIERS, name) ? TIERS[name] : undefined) ?? ['read_only', []];
  return { name, tier, needs, effect: 'once', groups: [], ...facts };
}

/** A call of a file tool on a path that has no links in it. */
export function fileCall(name: string, path: string, access: 'read' | 'write' | 'delete' = 'read'): CallFacts {
  return { tool: tool(name), arguments: { path }, subjects: [pathSubject(path, access)] };
}

export function pathSubject(path: string, access: 'read' | 'write' | 'delete', resolved?: string): ResolvedSubject {
  const absolute = path.startsWith('/');
  const canonical =
    resolved ??
    new URL(
      `file://${absolute ? '' : `${WORKSPACE}/`}${path.replaceAll('%', '%25').replaceAll('?', '%3F').replaceAll('#', '%23').replaceAll('\\', '%5C')}`,
    ).pathname;
  const plain = decodeURIComponent(canonical)
    .replace(/\/+/g, '/')
    .replace(/(.)\/$/, '$1');
  const inside = plain === WORKSPACE || plain.startsWith(`${WORKSPACE}/`);
  const relative = inside ? { relative: plain.slice(WORKSPACE.length + 1) } : {};
  return { kind: 'path', argument: 'path', path, canonical: plain, inside, access, absolute, ...relative };
}

export interface ShellFacts {
  sandbox?: boolean;
  cwd?: string;
  env?: Record<string, string>;
  operands?: Record<string, { canonical: string; inside: boolean }>;
}

export function shellCall(
  command: string,
  { sandbox = true, cwd = WORKSPACE, env = {}, operands }: ShellFacts = {},
): CallFacts {
  const cwdInside = cwd === WORKSPACE || cwd.startsWith(`${WORKSPACE}/`);
  const cwdRelative = cwdInside ? { cwdRelative: cwd.slice(WORKSPACE.length + 1) } : {};
  return {
    tool: tool('shell'),
    arguments: { command, ...(sandbox ? {} : { sandbox, reason: 'test' }) },
    subjects: [
      {
        kind: 'command',
        argument: 'command',
        command,
        sandbox,
        cwd,
        cwdInside,
        ...cwdRelative,
        env,
        ...(operands && { operands }),
      },
    ],
  };
}

/** A call of a tool that reaches one host. */
export function hostCall(host: string): CallFacts {
  const url = `https://${host}/`;
  return { tool: tool('fetch'), arguments: { url }, subjects: [{ kind: 'host', argument: 'url', url, host }] };
}

/** `verdict` and deciding rule of a call, as one text. */
export function verdict(call: CallFacts, rules: Rules, facts: Partial<JudgedSession> = {}): string {
  const { verdict: said, rule } = judge(call, session(facts), rules, surroundings);
  return `${said} ${rule}`;
}
