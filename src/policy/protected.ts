/**
 * Files that run code or decide what may run. Changing one takes an approval, also inside the workspace and also where the
 * file does not exist yet; Countersign's own are refused outright.
 */
import { braces, foldSegment, isUnder, matchText, pathGlob, relativeTo, segments } from './paths.ts';

/** Purpose → globs from any folder of the workspace, in lower case. */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  'git runs what its configuration and hooks name': [
    '.git/{info/attributes,objects/info/alternates}',
    '.git/{rebase-merge,rebase-apply,sequencer}/**',
    '*.git/{hooks/**,config}',
    // A folder with one is a repository, whatever its name.
    'head',
    'hooks/{applypatch-msg,pre-applypatch,post-applypatch,pre-commit,pre-merge-commit,prepare-commit-msg,commit-msg,post-commit}',
    'hooks/{pre-rebase,post-checkout,post-merge,pre-push,post-rewrite,pre-auto-gc,post-index-change,fsmonitor-watchman,sendemail-validate}',
    'hooks/{pre-receive,update,proc-receive,post-receive,post-update,push-to-checkout,reference-transaction}',
    '.gitmodules',
    '.gitconfig',
    '.config/git/**',
    '.githooks/**',
    '.husky/**',
    '.huskyrc{,.js,.cjs,.json,.yml,.yaml}',
    '{.,}lefthook{,-local}.{yml,yaml,toml,json}',
    '.pre-commit-config.yaml',
    '.overcommit.yml',
    '.git-hooks/**',
  ],
  'Mercurial runs the hooks and extensions that it names': ['.hg/{hgrc,hgrc-not-shared}', '.hgrc'],
  'continuous integration runs it': [
    '.{github,gitea,forgejo}/{workflows,actions}/**',
    '.gitlab-ci.{yml,yaml}',
    '.gitlab/ci/**',
    '.circleci/**',
    '.buildkite/**',
    '.teamcity/**',
    '.woodpecker/**',
    '.{azure-pipelines,azuredevops}/**',
    '.semaphore/**',
    '.tekton/**',
    '.builds/**',
    '.ci/**',
    '.{travis,drone,woodpecker,cirrus,appveyor,build}.{yml,yaml}',
    '.drone.{star,jsonnet}',
    '{azure-pipelines,bitbucket-pipelines,appveyor,cloudbuild,buildspec}.{yml,yaml}',
    'jenkinsfile',
  ],
  'editors and agents run what it names': [
    '.{vscode,vs,theia}/**',
    '.{idea,fleet,run}/**',
    '.{zed,helix}/**',
    '.{cursor,windsurf,kiro,roo}/**',
    '.{claude,codex,gemini}/**',
    '.devcontainer/**',
    '.devcontainer.json',
    '*.code-workspace',
    '*.sublime-project',
    '.mcp.json',
    '.exrc',
    '.{vim,gvim,nvim}rc',
    '.nvim.lua',
    '.vim/**',
    '.config/{code,vscodium,zed,helix,nvim,vim,emacs}/**',
    '.dir-locals.el',
    '.emacs',
    '.emacs.d/**',
  ],
  'shells and session managers run it at start': [
    '.bash{rc,_profile,_login,_logout,_aliases}',
    '.{bashrc,zshrc}.d/**',
    '.{profile,login,logout,inputrc,envrc}',
    '.{kshrc,mkshrc,shrc,cshrc,tcshrc,xonshrc}',
    '.z{shrc,shenv,profile,login,logout}',
    '.x{profile,initrc,session,sessionrc}',
    '.pam_environment',
    '.tmux.conf',
    '.config/{fish,nushell,powershell,xonsh,tmux,direnv}/**',
    '.config/{systemd,autostart,environment.d}/**',
    '.ssh/**',
    '.{npmrc,yarnrc,yarnrc.yml,pnpmfile.cjs}',
    '{.,}mise.toml',
  ],
  'it is the configuration of Countersign': ['countersign.config.jsonc', '.countersign/**'],
};

/** One alternative of a glob. */
interface Pattern {
  /** Of the glob in the table, whose first that fits is named. */
  order: number;
  /** Names from where it begins, each with `*` and `?`. */
  names: readonly string[];
  /** All below it, too: the glob ended in `**`. */
  deep: boolean;
  /** Begins in any folder, and not only at the top of the workspace. */
  anywhere: boolean;
}

/** A glob with `**` in its middle, compared as a whole. */
interface LooseGlob {
  order: number;
  matches(path: readonly string[]): boolean;
  holders: ((path: readonly string[]) => boolean)[];
}

/** Patterns by their first name, because a call asks about every name on its path, and the sandbox about every entry of a folder. */
export interface ProtectedPaths {
  globs: readonly { glob: string; why: string }[];
  named: ReadonlyMap<string, readonly Pattern[]>;
  wild: readonly Pattern[];
  loose: readonly LooseGlob[];
}

/** The built-in table and what the configuration adds, from the workspace's root or (built-in) from any folder in it. */
export function protectedPaths(added: readonly string[] = []): ProtectedPaths {
  const builtIn = Object.entries(PROTECTED).flatMap(([why, globs]) => globs.map((glob) => ({ glob, why })));
  const globs = [...builtIn, ...added.map((glob) => ({ glob, why: 'the configuration protects it' }))];
  const named = new Map<string, Pattern[]>();
  const wild: Pattern[] = [];
  const loose: LooseGlob[] = [];
  for (const [order, { glob }] of globs.entries()) {
    const whole = order < builtIn.length ? `**/${glob}` : foldGlob(glob);
    for (const one of braces(whole)) {
      const pattern = patternOf(one, order);
      const [first = ''] = pattern?.names ?? [];
      if (pattern === undefined) loose.push(looseGlob(one, order));
      else if (/[*?]/.test(first)) wild.push(pattern);
      else named.set(first, [...(named.get(first) ?? []), pattern]);
    }
  }
  return { globs, named, wild, loose };
}

const foldGlob = (glob: string): string =>
  segments(glob)
    .map((segment) => (/[*?{]/.test(segment) ? segment.normalize('NFKC').toLowerCase() : foldSegment(segment)))
    .join('/');

/** Undefined where `**` stands in the middle, or alone. */
function patternOf(glob: string, order: number): Pattern | undefined {
  const names = segments(glob.replace(/^(\*\*\/)+/, '').replace(/(\/\*\*)+$/, ''));
  if (names.length === 0 || names.includes('**')) return undefined;
  return { order, names, deep: glob.endsWith('/**'), anywhere: glob.startsWith('**/') };
}

function looseGlob(glob: string, order: number): LooseGlob {
  // A glob that ends in `/**` protects the folder itself too: renaming or replacing it replaces what is in it.
  const own = (glob.endsWith('/**') ? [glob, glob.slice(0, -3)] : [glob]).map(pathGlob);
  return { order, matches: (path) => own.some((match) => match(path)), holders: foldersAbove(glob).map(pathGlob) };
}

/** `**` alone would make every folder a holder; only folders that the glob names can be recognised without looking inside. */
function foldersAbove(pattern: string): string[] {
  const parts = segments(pattern);
  return parts
    .map((_, index) => parts.slice(0, index).join('/'))
    .filter((holder) => holder !== '' && !holder.endsWith('**') && /[^*/]/.test(holder));
}

/** `protected`, or `above`: a folder that holds what is protected. */
export type Relation = 'protected' | 'above';

function relation({ names, deep }: Pattern, path: readonly string[]): Relation | undefined {
  if (!names.every((name, i) => i >= path.length || matchText(name, path[i] ?? ''))) return undefined;
  if (path.length < names.length) return 'above';
  return deep || path.length === names.length ? 'protected' : undefined;
}

/** Why a change at this path (from the workspace, canonical) needs an approval, or undefined. */
export function protectedBy(
  relative: string,
  access: 'write' | 'delete',
  table: ProtectedPaths,
): { glob: string; why: string } | undefined {
  const path = segments(relative).map(foldSegment);
  if (path.length === 0) return access === 'delete' ? { glob: '.', why: 'it is the whole workspace' } : undefined;
  const found: Record<Relation, number[]> = { protected: [], above: [] };
  for (const [at, name] of path.entries()) {
    for (const pattern of [...(table.named.get(name) ?? []), ...table.wild]) {
      const how = at === 0 || pattern.anywhere ? relation(pattern, path.slice(at)) : undefined;
      if (how !== undefined) found[how].push(pattern.order);
    }
  }
  for (const { order, matches, holders } of table.loose) {
    if (matches(path)) found.protected.push(order);
    else if (holders.some((holds) => holds(path))) found.above.push(order);
  }
  const orders = found.protected.length > 0 || access === 'write' ? found.protected : found.above;
  return orders.length === 0 ? undefined : table.globs[Math.min(...orders)];
}

/** What a path, name by name from the top of the workspace, is to the table. */
export type Relate = (path: readonly string[]) => Relation | undefined;

/**
 * The table for who goes down from the top of the workspace and cannot look through the whole tree: a glob from any folder counts as one from the top, and one with
 * `**` in its middle is left out. It holds from the workspaces of the sessions above, too, where the workspace lies in those.
 */
export function fromTop({ named, wild }: ProtectedPaths, workspace: string, above: readonly string[]): Relate {
  const ways = [...new Set([workspace, ...above])].flatMap((folder) => {
    const way = relativeTo(folder, workspace);
    return way === undefined ? [] : [segments(way)];
  });
  return (given) => {
    const relations = ways.flatMap((way) => {
      const path = [...way, ...given].map(foldSegment);
      return [...(named.get(path[0] ?? '') ?? []), ...wild].map((pattern) => relation(pattern, path));
    });
    return relations.find((one) => one === 'protected') ?? relations.find((one) => one !== undefined);
  };
}

/** What git runs or takes orders from, by name inside a `.git` folder. */
export const GIT_CONTROL = ['config', 'config.worktree', 'hooks', 'modules', 'worktrees', 'commondir'] as const;

/**
 * Why no tool changes this path, or undefined: it is hooks or configuration of a repository, be it in a subfolder. The next git command of a person, outside of any
 * sandbox, would run what they say.
 */
export function gitControl(given: string): string | undefined {
  const path = segments(given).map(foldSegment);
  const steers = path.some((name, at) => {
    const inside = path[at + 1];
    return name === '.git' && (inside === undefined || GIT_CONTROL.some((one) => one === inside));
  });
  return steers
    ? `${given} decides what git executes, so tools may not change it; ask a person to, or use git's own commands in an approved shell call`
    : undefined;
}

const OWN_CONFIGURATION = /(^|\/)countersign\.config\.jsonc$/;

/** What is Countersign's own and not for reading: state and keys hold what other sessions and approvers own, the configuration does not. */
export const secrets = (own: readonly string[]): string[] => own.filter((one) => !OWN_CONFIGURATION.test(one));

/** True when a path is, lies under, or (for a delete) holds one of Countersign's own files. */
export function isOwn(canonical: string, access: 'read' | 'write' | 'delete', own: readonly string[]): boolean {
  const path = segments(canonical);
  return own.some((one) => {
    const root = segments(one);
    return isUnder(path, root) || (access === 'delete' && isUnder(root, path));
  });
}
