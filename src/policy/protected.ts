/**
 * Files that run code or decide what may run. Changing one takes an approval, also inside the workspace and also where the
 * file does not exist yet; Countersign's own are refused outright.
 */
import { braces, foldSegment, isUnder, matchText, pathGlob, segments } from './paths.ts';

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

interface ProtectedGlob {
  glob: string;
  why: string;
  matches(path: readonly string[]): boolean;
  /** Folders above what the glob names: deleting one deletes it too. */
  holders: ((path: readonly string[]) => boolean)[];
}

export type ProtectedPaths = readonly ProtectedGlob[];

/** The built-in table and what the configuration adds, from the workspace's root or (built-in) from any folder in it. */
export function protectedPaths(added: readonly string[] = []): ProtectedPaths {
  const builtIn = Object.entries(PROTECTED).flatMap(([why, globs]) =>
    globs.map((glob) => compile(`**/${glob}`, glob, why)),
  );
  return [...builtIn, ...added.map((glob) => compile(foldGlob(glob), glob, 'the configuration protects it'))];
}

const foldGlob = (glob: string): string =>
  segments(glob)
    .map((segment) => (/[*?{]/.test(segment) ? segment.normalize('NFKC').toLowerCase() : foldSegment(segment)))
    .join('/');

function compile(pattern: string, glob: string, why: string): ProtectedGlob {
  const patterns = braces(pattern);
  // A glob that ends in `/**` protects the folder itself too: renaming or replacing it replaces what is in it.
  const own = patterns.flatMap((one) => (one.endsWith('/**') ? [one, one.slice(0, -3)] : [one]));
  const holders = new Set(patterns.flatMap(foldersAbove));
  const matchers = own.map(pathGlob);
  return { glob, why, matches: (path) => matchers.some((match) => match(path)), holders: [...holders].map(pathGlob) };
}

/** `**` alone would make every folder a holder; only folders that the glob names can be recognised without looking inside. */
function foldersAbove(pattern: string): string[] {
  const parts = segments(pattern);
  return parts
    .map((_, index) => parts.slice(0, index).join('/'))
    .filter((holder) => holder !== '' && !holder.endsWith('**') && /[^*/]/.test(holder));
}

/** Why a change at this path (from the workspace, canonical) needs an approval, or undefined. */
export function protectedBy(
  relative: string,
  access: 'write' | 'delete',
  table: ProtectedPaths,
): { glob: string; why: string } | undefined {
  const path = segments(relative).map(foldSegment);
  const direct = table.find((one) => one.matches(path));
  if (direct !== undefined) return direct;
  if (access !== 'delete') return undefined;
  if (path.length === 0) return { glob: '.', why: 'it is the whole workspace' };
  return table.find((one) => one.holders.some((holds) => holds(path)));
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

/** What a path from the workspace is to the table: a protected place, or a folder on the way to one. */
export type Standing = (path: readonly string[]) => 'protected' | 'above' | undefined;

/**
 * The table as it stands at the top of the workspace: there its places can be found without looking through the whole tree. A glob from any folder counts as one
 * from the top; one with `**` in its middle is left out. Indexed by first name, because every entry of a folder is asked about.
 */
export function standingAtTop(table: ProtectedPaths): Standing {
  const exact = new Map<string, string[][]>();
  const others: string[][] = [];
  for (const { glob } of table) {
    for (const one of braces(foldGlob(glob))) {
      const parts = segments(one.replace(/^(\*\*\/)+/, '').replace(/(\/\*\*)+$/, ''));
      const [first] = parts;
      if (first === undefined || parts.includes('**')) continue;
      if (/[*?]/.test(first)) others.push(parts);
      else exact.set(first, [...(exact.get(first) ?? []), parts]);
    }
  }
  return (given) => {
    const path = given.map(foldSegment);
    const near = [...(exact.get(path[0] ?? '') ?? []), ...others].filter((parts) =>
      path.every((name, i) => i >= parts.length || matchText(parts[i] ?? '', name)),
    );
    if (near.some(({ length }) => length <= path.length)) return 'protected';
    return near.length > 0 ? 'above' : undefined;
  };
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
