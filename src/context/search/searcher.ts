/**
 * Content search: ripgrep, which is told nothing by any configuration file and follows no link. In the sandbox it sees the workspace and nothing
 * else; without one, each match is read again through the confined reader before it is believed, because ripgrep opens folders by name.
 */
import { isAbsolute } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { CountersignError } from '../../protocol/errors.ts';
import type { CommandResult, FileReader, Searcher, SearchQuery, SearchResult } from '../../tools/tool-context.ts';
import { withPlace, type JudgedPaths, type Protection } from '../files/beneath.ts';
import { parseMatches } from './ripgrep-output.ts';
import { runProcess } from '../processes/run-process.ts';
import { withSandbox } from '../processes/sandbox.ts';
import { sandboxStatus, type SandboxOptions } from '../processes/sandbox-status.ts';
import { openReader } from '../files/workspace.ts';

export interface SearcherOptions {
  root: string;
  protection: Protection;
  signal: AbortSignal;
  /** Where the call's paths led when it was judged. */
  judged?: JudgedPaths | undefined;
  backend: 'sandbox' | 'host' | 'disabled';
  sandbox: SandboxOptions;
}

const TIMEOUT_MS = 30_000;

export function openSearcher(options: SearcherOptions): Searcher {
  const { root, protection, judged } = options;
  return {
    async search(query) {
      // Refuses what leads outside, and gives the name without links: ripgrep would follow one that is named.
      const target = await withPlace(
        query.path ?? '.',
        { root, protection, followLast: true, judged },
        ({ path, entry }) => {
          if (entry === undefined)
            throw new CountersignError('file_not_found', `${query.path} does not exist; use list to see what does`);
          if (!entry.stats.isFile() && !entry.stats.isDirectory())
            throw new CountersignError('not_a_file', `${query.path} is neither file nor folder`);
          return path;
        },
      );
      const args = ripgrepArguments(query, root, protection, `./${target.slice(root.length + 1)}`);
      const sandboxed = (await sandboxStatus(options.sandbox)).available;
      const ended = sandboxed ? await searchSandboxed(args, options) : await searchPlainly(args, options);
      failOn(ended);
      const result = parseMatches(Buffer.from(ended.stdout).toString('utf8'), query.maxMatches);
      return sandboxed ? result : believed(result, openReader(options));
    },
  };
}

function ripgrepArguments(query: SearchQuery, root: string, protection: Protection, target: string): string[] {
  const args = [
    '--no-config',
    '--json',
    '--no-follow',
    '--no-messages',
    '--no-ignore-parent',
    '--no-require-git',
    '--no-ignore-global',
    '--max-columns=4096',
    '--max-filesize=100M',
    '--sort=path',
    '--threads=2',
    '--glob=!.git',
  ];
  if (query.literal === true) args.push('--fixed-strings');
  if (query.ignoreCase === true) args.push('--ignore-case');
  if (query.hidden === true) args.push('--hidden');
  if (query.context !== undefined && query.context > 0) args.push(`--context=${query.context}`);
  // One more in a file than may be shown, so that the reader of the output knows of more.
  args.push(`--max-count=${query.maxMatches + 1}`);
  if (query.glob !== undefined) args.push(`--glob=${query.glob}`);
  for (const path of protection.paths)
    if (path.startsWith(`${root}/`))
      args.push(`--glob=!/${path.slice(root.length + 1).replace(/[\\*?[\]{}!]/g, '\\$&')}`);
  // A pattern that begins with a dash is still a pattern.
  return [...args, '--', query.pattern, target];
}

/** ripgrep is one static file: it needs nothing else of the system. */
const INSIDE = '/run/rg';

function searchSandboxed(
  args: readonly string[],
  { root, protection, signal, sandbox }: SearcherOptions,
): Promise<CommandResult> {
  const command = {
    root,
    protection,
    argv: [INSIDE, ...args],
    cwd: root,
    env: {},
    writable: false,
    files: [{ path: rgPath, inside: INSIDE }],
  };
  return withSandbox(command, sandbox, (plan) =>
    runProcess({ ...plan, end: ({ pid }) => endNow(pid) }, TIMEOUT_MS, signal),
  );
}

const searchPlainly = (args: readonly string[], { root, signal }: SearcherOptions): Promise<CommandResult> =>
  runProcess({ file: rgPath, args, env: {}, cwd: root, end: ({ pid }) => endNow(pid) }, TIMEOUT_MS, signal);

/** A reader has nothing to tidy up. */
function endNow(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** 0: matches; 1: none; 2: an error, perhaps beside matches. */
function failOn({ exitCode, stdout, stderr, timedOut }: CommandResult): void {
  if (timedOut)
    throw new CountersignError(
      'timeout',
      `the search took longer than ${TIMEOUT_MS / 1_000} s; narrow the path or the glob`,
    );
  if (exitCode === 0 || exitCode === 1 || stdout.length > 0) return;
  const said = Buffer.from(stderr).toString('utf8').trim().slice(0, 1_000);
  if (/regex parse error|glob|compiled regex|not allowed in a regex/.test(said))
    throw new CountersignError('invalid_pattern', `${said}\nset literal to search for plain text`);
  throw new CountersignError('tool_failed', `ripgrep could not search: ${said || `exit status ${exitCode}`}`);
}

/** Drops what the confined reader does not find at its place. */
async function believed(result: SearchResult, reader: FileReader): Promise<SearchResult> {
  const files = new Map<string, string[]>();
  const matches: SearchResult['matches'] = [];
  for (const match of result.matches) {
    if (isAbsolute(match.path)) continue;
    let lines = files.get(match.path);
    if (lines === undefined) {
      lines = await reader.read(match.path).then(
        ({ bytes }) => Buffer.from(bytes).toString('utf8').split('\n'),
        () => [],
      );
      files.set(match.path, lines);
    }
    const line = lines[match.line - 1];
    if (line === undefined || !line.startsWith(match.text.replace(/…$/, ''))) continue;
    // Lines around come from the same reading.
    const { before, after, ...bare } = match;
    matches.push({
      ...bare,
      ...(before === undefined
        ? {}
        : { before: lines.slice(match.line - 1 - before.length, match.line - 1).map((text) => text.slice(0, 300)) }),
      ...(after === undefined
        ? {}
        : { after: lines.slice(match.line, match.line + after.length).map((text) => text.slice(0, 300)) }),
    });
  }
  return { matches, truncated: result.truncated };
}
