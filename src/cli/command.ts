/** What all commands have in common: `--json`, examples in their help, and an exit status as their result. */
import { Command } from 'commander';
import type { Ended } from './program.ts';
import { STATUS, type Status } from './status.ts';

export interface Common {
  json?: true;
}

/** A command with `--json` and, below its help, examples. */
export const defineCommand = (name: string, description: string, examples: string): Command =>
  defineGroup(name, description, examples).option('--json', 'print JSON, and nothing else, on stdout');

/** A command that only has commands below it. */
export const defineGroup = (name: string, description: string, examples: string): Command =>
  new Command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${examples.replace(/^\n|\n$/g, '').replace(/^(?=.)/gm, '  ')}`);

/**
 * Lets `action` answer with the exit status; nothing means that all went well. Its parameters are the command's operands and
 * then its options, with `json` set also where it stands before the command's name.
 */
export function onAction<Args extends unknown[]>(
  command: Command,
  ended: Ended,
  action: (...args: Args) => Promise<Status | undefined | void>,
): Command {
  return command.action(async (...given: unknown[]) => {
    const operands = given.slice(0, -2);
    const options = (given.at(-1) as Command).optsWithGlobals();
    ended((await action(...([...operands, options] as Args))) ?? STATUS.done);
  });
}
