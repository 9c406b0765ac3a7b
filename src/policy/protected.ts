/**
 * Files that run code or decide what may run. Changing one takes an approval, also inside the workspace and also where the
 * file does not exist yet; Countersign's own are refused outright.
 */
import { braces, foldSegment, isUnder, matchText, pathGlob, segments } from './paths.ts';

/** Purpose → globs from any folder of the workspace, in lower case. */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  'git runs what its configuration and hooks name': [
    '.git',
    '.git/{hooks,modules,worktrees}/**',
    '.git/{config,config.worktree,commondir,info/attributes,objects/info/alternates}',
    '*.git/{hooks/**,config}',
    '.gitmodules',
    '.gitconfig',
    '.config/git/**',
    '.githooks/**',
    '.husky/**',
    '{.,}lefthook.{yml,yaml,toml,json}',
    '.pre-commit-config.yaml',
  ],
  'continuous integration runs it': [
    '.{github,gitea,forgejo}/{workflows,actions}/**',
    '.gitlab-ci.{yml,yaml}',
    '.gitlab/ci/**',
    '.circleci/**',
    '.buildkite/**',
    '.teamcity/**',
    '.woodpecker/**',
    '.azure-pipelines/**',
    '.ci/**',
    '.{travis,drone,woodpecker,cirrus,appveyor}.{yml,yaml}',
    '{azure-pipelines,bitbucket-pipelines,appveyor,cloudbuild,buildspec}.{yml,yaml}',
    'jenkinsfile',
  ],
  'editors and agents run what it names': [
    '.vscode/**',
    '.idea/**',
    '.zed/**',
    '.fleet/**',
    '.cursor/**',
    '.claude/**',
    '.codex/**',
    '.gemini/**',
    '.devcontainer/**',
    '.devcontainer.json',
    '*.code-workspace',
    '*.sublime-project',
    '.mcp.json',
    '.exrc',
    '.{vim,gvim,nvim}rc',
    '.nvim.lua',
    '.config/{nvim,code,vim}/**',
    '.dir-locals.el',
    '.emacs',
    '.emacs.d/**',
  ],
  'shells and session managers run it at start': [
    '.bash{rc,_profile,_login,_logout,_aliases}',
    '.{profile,login,logout,inputrc,envrc,kshrc,cshrc,tcshrc}',
    '.z{shrc,shenv,profile,login,logout}',
    '.x{profile,initrc,session,sessionrc}',
    '.pam_environment',
    '.config/{fish,systemd,autostart,environment.d}/**',
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
    .map((segment) => (/[*?{]/.test(segment) ? segment.toLowerCase() : foldSegment(segment)))
    .join('/');

function compile(pattern: string, glob: string, why: string): ProtectedGlob {
  const parts = segments(pattern);
  const holders = parts
    .map((_, index) => parts.slice(0, index).join('/'))
    // `**` alone would make every folder a holder; only folders that the glob names can be recognised without looking inside.
    .filter((holder) => holder !== '' && !holder.endsWith('**') && /[^*/]/.test(holder));
  // A glob that ends in `/**` protects the folder itself too: renaming or replacing it replaces what is in it.
  const own = pattern.endsWith('/**') ? [pattern, pattern.slice(0, -3)] : [pattern];
  const matchers = own.map(pathGlob);
  return { glob, why, matches: (path) => matchers.some((match) => match(path)), holders: holders.map(pathGlob) };
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
