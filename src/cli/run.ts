/** Finds the command that is meant, loads that one only, and turns how it ends into an exit status. */
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { CountersignError } from '../protocol/errors.ts';
import { note, printError, watchStreams } from './io/output.ts';
import { createProgram } from './program.ts';
import { STATUS, type Status, reportOf, statusOf } from './status.ts';

export async function run(argv: string[]): Promise<Status> {
  watchStreams();
  const json = asksForJson(argv);
  let status: Status = STATUS.done;
  let at = 'countersign';
  try {
    const program = await createProgram(
      argv,
      (ended) => (status = ended),
      (command) => (at = command),
    );
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, { at, argv, json });
    if (process.env['COUNTERSIGN_DEBUG']) note(inspect(error));
    const report = reportOf(error);
    printError(report, json);
    return statusOf(report);
  }
}

/** Also true where the command line cannot be read otherwise: its error then goes to stdout, as JSON. */
export const asksForJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
};

/** Help and version were asked for, or the command line is wrong. */
function usage(error: CommanderError, { at, argv, json }: { at: string; argv: string[]; json: boolean }): Status {
  if (error.exitCode === 0) return STATUS.done;
  // Called without a command, commander has printed the help already.
  if (error.code === 'commander.help') return STATUS.usage;
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  printError(reportOf(new CountersignError('invalid_usage', `${message}${quoteHint(argv)} (see ${at} --help)`)), json);
  return STATUS.usage;
}

/** Commands that take a request's code. */
const TAKE_CODES = ['show', 'approve', 'deny', 'result', 'cancel', 'audit'];

/** A shell takes a code that is not quoted, and all that follows it, for a comment. */
function quoteHint(argv: readonly string[]): string {
  const [command = '', ...operands] = argv.filter((word) => !word.startsWith('-'));
  if (!TAKE_CODES.includes(command) || operands.length > 0) return '';
  return `; quote the code, for the shell drops what follows a bare #: countersign ${command} '#…'`;
}
