/** The list of commands. Only the one that is called is loaded; the others are known by name and summary, for help and suggestions. */
import { Command, Help, type Option } from 'commander';
import { version } from './version.ts';
import type { Status } from './status.ts';

/** Hears with which status the command ended. */
export type Ended = (status: Status) => void;

/** Hears in which command the command line is wrong, by its full name: `countersign session open`. */
export type Failed = (command: string) => void;

interface CommandModule {
  command(ended: Ended): Command;
}

interface Entry {
  summary: string;
  load(): Promise<CommandModule>;
}

const COMMANDS: Record<string, Entry> = {
  start: { summary: 'start the service: Temporal, its UI, and the worker', load: () => import('./commands/start.ts') },
  session: { summary: 'open, list, show and close sessions', load: () => import('./commands/session.ts') },
  workspace: { summary: 'folders that sessions may work in', load: () => import('./commands/workspace.ts') },
  call: { summary: 'run a tool call, or many from JSON Lines', load: () => import('./commands/call.ts') },
  amend: { summary: 'give a call that was invalid other arguments', load: () => import('./commands/amend.ts') },
  result: {
    summary: 'how a call ended and what it gave back, or how it stands',
    load: () => import('./commands/result.ts'),
  },
  cancel: { summary: 'end a call', load: () => import('./commands/cancel.ts') },
  explain: {
    summary: 'say what policy makes of a call, without running it',
    load: () => import('./commands/explain.ts'),
  },
  pending: { summary: 'list the calls that wait for somebody', load: () => import('./commands/pending.ts') },
  show: { summary: 'show what a call asks to be approved', load: () => import('./commands/show.ts') },
  approve: { summary: 'let a waiting call run', load: () => import('./commands/approve.ts') },
  deny: { summary: 'refuse a waiting call', load: () => import('./commands/deny.ts') },
  grant: { summary: 'remembered approvals: add, list, revoke', load: () => import('./commands/grant.ts') },
  approver: { summary: 'keys that decisions are signed with', load: () => import('./commands/approver.ts') },
  inbox: { summary: 'a live screen of what waits: look, approve, deny', load: () => import('./commands/inbox.ts') },
  halt: { summary: 'emergency stop: nothing new runs', load: () => import('./commands/halt.ts') },
  resume: { summary: 'let calls run again after a halt', load: () => import('./commands/resume.ts') },
  policy: {
    summary: 'test rules by cases, or on the calls of the last days',
    load: () => import('./commands/policy.ts'),
  },
  tools: { summary: 'what a session’s model may call', load: () => import('./commands/tools.ts') },
  audit: { summary: 'the story of a call or a session', load: () => import('./commands/audit.ts') },
  setup: { summary: 'prepare a Temporal cluster of your own', load: () => import('./commands/setup.ts') },
  doctor: { summary: 'what this machine has, and how to get the rest', load: () => import('./commands/doctor.ts') },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/** Throws CommanderError, never ends the process. */
export async function createProgram(argv: readonly string[], ended: Ended, failed: Failed): Promise<Command> {
  const program = new Command('countersign')
    .description(
      'Durable tool calls for AI agents: checked, decided by policy, countersigned by a person where dangerous, kept for audit.',
    )
    .option('--json', 'print JSON, and nothing else, on stdout')
    .version(version(), '-V, --version')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError(false);
  const wanted = wantedCommand(argv);
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    if (name === wanted) program.addCommand((await load()).command(ended));
    else program.addCommand(new Command(name).summary(summary).description(summary));
  }
  prepare(program, program.name(), failed);
  // To `help` of a command that is none, commander would print the help of all; called by that name, it says which one is near.
  if (wanted !== undefined && isHelpOfNone(argv, wanted)) await program.parseAsync([wanted], { from: 'user' });
  return program;
}

/** The first word that is no option, or the one behind `help`; the program's own options take no values. */
function wantedCommand(argv: readonly string[]): string | undefined {
  const words = wordsOf(argv);
  return words[0] === 'help' ? words[1] : words[0];
}

const isHelpOfNone = (argv: readonly string[], wanted: string): boolean =>
  wordsOf(argv)[0] === 'help' && wanted !== 'help' && !Object.hasOwn(COMMANDS, wanted);

const wordsOf = (argv: readonly string[]): string[] => argv.filter((word) => !word.startsWith('-'));

/** Errors are thrown and said once, in our own form; help says which options are needed. */
function prepare(command: Command, path: string, failed: Failed): void {
  command
    .exitOverride((error) => {
      failed(path);
      throw error;
    })
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ optionDescription });
  for (const child of command.commands) prepare(child, `${path} ${child.name()}`, failed);
}

const { optionDescription: described } = new Help();
const optionDescription = (option: Option): string =>
  `${described(option)}${option.mandatory && option.defaultValue === undefined ? ' (required)' : ''}`;

const EXAMPLES = `
Examples:
  countersign start                                      in one terminal
  countersign call list                                  in another: the main session of this folder
  countersign call shell '{"command":"npm test"}'
  countersign pending                                    what waits for you
  countersign approve '#K3QF7MXW2PLA7TQB6ZJ9HNVD'

Every command takes --json and explains itself with --help.
Exit status: 0 done · 1 a call ended otherwise than completed · 2 wrong usage · 3 no service · 4 still waiting
             5 the decision was not taken · 70 internal error · 130 interrupted`;
