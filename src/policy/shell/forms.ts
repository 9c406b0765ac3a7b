/** The readings of a command line that restricting rules are held against. */
import type { CallFacts } from '../types.ts';

/** The text as written and trimmed; empty where the argument is no command. */
export function commandForms(call: CallFacts, argument: string): string[] {
  return call.subjects.flatMap((subject) =>
    subject.kind === 'command' && subject.argument === argument ? [...new Set([subject.command, subject.command.trim()])] : [],
  );
}
