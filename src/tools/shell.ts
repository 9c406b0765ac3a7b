import { Type, type Static } from 'typebox';
import { CountersignError } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import { named, OPTIONAL_PATH } from './common.ts';
import { defineTool, type ToolOutput } from './define-tool.ts';
import type { CommandResult, Processes } from './tool-context.ts';
import { refusedVariable } from './variables.ts';

const parameters = Type.Object(
  {
    command: Type.String({
      minLength: 1,
      maxLength: LIMITS.commandCharacters,
      pattern: '^[^\\u0000]*$',
      description: 'The command, as bash takes it (sh where there is no bash).',
    }),
    cwd: OPTIONAL_PATH('Folder to run in; the workspace unless given.'),
    timeout: Type.Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 3_600,
        description: 'Seconds after which the command is ended; 120 unless said otherwise.',
      }),
    ),
    env: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128 }),
        Type.String({ maxLength: 8_192, pattern: '^[^\\u0000]*$' }),
        {
          description: 'Environment variables besides the few that are always set.',
          maxProperties: 64,
          additionalProperties: false,
        },
      ),
    ),
    sandbox: Type.Optional(
      Type.Boolean({
        description:
          'false runs outside of the sandbox, with network and the whole machine: a person must approve it, and `reason` is required.',
      }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'Why it must run outside of the sandbox.' }),
    ),
  },
  { additionalProperties: false },
);

export type ShellArguments = Static<typeof parameters>;

const DEFAULT_SECONDS = 120;

/**
 * Runs a command. A command that ends with a status other than 0 is a completed call, whose output says so: models must tell
 * a failing test from a shell that could not be run. Ended by its time limit it is `timed_out`, and never run again.
 */
export const shellTool = defineTool({
  name: 'shell',
  label: 'Run command',
  description:
    'Runs a shell command in a sandbox: the workspace is writable, the rest of the machine hidden or read-only, no network, nothing on standard input. ' +
    'What editors, CI and shells run of it (.vscode, .github/workflows, …) is read-only: write and edit change it, and ask a person. What git runs (.git/hooks, .git/config) no tool changes. ' +
    'Everything it started ends with it. The output tells exitCode, stdout and stderr; long output keeps head and tail and names the artifact with the whole.',
  parameters,
  tier: 'system',
  effect: 'once',
  limits: { timeoutMs: 3_605_000, maxTries: 1, backoffMs: 1_000, maxBackoffMs: 1_000 },
  groups: ['group:runtime'],
  needs: ['shell', 'artifacts'],
  version: 1,
  check({ sandbox, reason, env = {} }) {
    if (sandbox === false && reason?.trim() === undefined)
      return {
        field: '/reason',
        message: '"reason" is required with "sandbox": false: say why the sandbox does not do',
      };
    if (sandbox === false && reason?.trim() === '')
      return { field: '/reason', message: '"reason" must say why the sandbox does not do' };
    for (const name of Object.keys(env)) {
      const message = refusedVariable(name);
      if (message !== undefined) return { field: `/env/${name}`, message };
    }
    return undefined;
  },
  subjects: ({ command, cwd, env, sandbox = true }) => [
    {
      kind: 'command',
      argument: 'command',
      command,
      sandbox,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
    },
  ],
  summary: ({ command, sandbox }) => `shell${sandbox === false ? ' (no sandbox)' : ''}: ${named(command)}`,
  async execute({ command, cwd, timeout = DEFAULT_SECONDS, env, sandbox = true }, context): Promise<ToolOutput> {
    const processes = sandbox ? context.shell : context.elevated;
    if (processes === undefined) throw missing(sandbox);
    const line: Parameters<Processes['run']>[0] = { command, timeoutMs: Math.round(timeout * 1_000) };
    if (cwd !== undefined) line.cwd = cwd;
    if (env !== undefined) line.env = env;
    const result = await processes.run(line);
    if (result.timedOut) throw await timedOut(result, timeout, context.artifacts);
    return outputOf(result);
  },
});

const missing = (sandbox: boolean): CountersignError =>
  sandbox
    ? new CountersignError('missing_capability', 'this session may not run commands; use read, list and search')
    : new CountersignError(
        'missing_capability',
        'only a call that a person approved runs outside of the sandbox; leave out "sandbox": false, or ask for approval',
      );

function outputOf(result: CommandResult): ToolOutput {
  const { exitCode, signal, stdout, stderr, interleaved, capped, made = [] } = result;
  const notes = [
    ...(signal === null ? [] : [`ended by signal ${signal}`]),
    ...(capped ? ['output past 100 MB was dropped'] : []),
    ...(metReadOnly(result)
      ? [`read-only in the sandbox: ${few(result.readOnly)}; write and edit change them, and ask a person`]
      : []),
    ...madeNote(made),
  ];
  return {
    output: {
      exitCode,
      stdout: text(stdout),
      stderr: text(stderr),
      ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
    },
    display:
      `${text(interleaved)}\n[${exitCode === null ? `signal ${signal}` : `exit status ${exitCode}`}]`.trimStart() +
      (made.length === 0 ? '' : `\n[made ${few(made)}, which other programs run: look at it]`),
  };
}

/** Whether the command failed on one of those places, as far as its own words tell. */
const metReadOnly = ({ exitCode, stderr, readOnly = [] }: CommandResult): boolean =>
  exitCode !== 0 &&
  readOnly.length > 0 &&
  /Read-only file system|Device or resource busy/.test(text(stderr.subarray(-8_192)));

const madeNote = (made: readonly string[] = []): string[] =>
  made.length === 0 ? [] : [`made ${few(made)}, which other programs run: tell the person`];

const few = (paths: readonly string[] = []): string =>
  paths.slice(0, 10).join(', ') + (paths.length > 10 ? ` and ${paths.length - 10} more` : '');

/** What it had printed is kept: it often says what it waited for. */
async function timedOut(
  result: CommandResult,
  seconds: number,
  artifacts: { put(bytes: Uint8Array, about: { mediaType: string; name?: string }): Promise<{ hash: string }> },
) {
  const tail = text(result.interleaved).slice(-1_000).toWellFormed();
  const printed = result.stdout.length + result.stderr.length;
  const kept =
    printed === 0
      ? ''
      : `; it had printed ${printed} bytes (artifact ${(await artifacts.put(result.interleaved, { mediaType: 'text/plain', name: 'output until the time limit' })).hash}), at last: ${tail}`;
  const made = madeNote(result.made).map((note) => `; it ${note}`);
  return new CountersignError(
    'timeout',
    `the command was ended after ${seconds} s and is not run again by itself; if it may take longer, call with a greater "timeout"${made.join('')}${kept}`,
  );
}

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8').decode(bytes);
