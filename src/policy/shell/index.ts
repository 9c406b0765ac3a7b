/** What others need to know of command lines. */
import { DEFAULT_SHELL, type ShellSettings } from '../settings.ts';
import { canRunItsWords, classify } from './classify.ts';
import { readingsOf } from './forms.ts';
import { type Part, plainLine } from './plain.ts';
import { INTERPRETERS, WRAPPERS } from './programs.ts';
import { startSecondParser } from './second-parser.ts';

export { hasSecondParser } from './second-parser.ts';

/** A plain command line as words: pipelines and lists flattened, each part with the operator that joins it to the one before. */
export interface SafeCommand {
  parts: readonly Part[];
}

/**
 * Starts the second shell parser, so that the first judgement is as fast as the others. Judging works without it: then no command line is read alike by two, and what
 * would run outside of the sandbox asks. `onLost` is called once when it cannot be had.
 */
export async function preparePolicy(onLost: () => void = () => undefined): Promise<void> {
  startSecondParser(onLost);
}

/** The words of a command line that both parsers read alike and that nothing expands; undefined for any other. */
export function safeCommand(command: string): SafeCommand | undefined {
  const line = plainLine(command, DEFAULT_SHELL);
  return line.plain ? { parts: line.parts } : undefined;
}

/**
 * Words of a command line that known programs would open as files. Whoever gathers a call's facts resolves them from `cwd`
 * (links followed as far as they exist) into the subject's `operands`.
 */
export function fileOperands(command: string, shell: ShellSettings): string[] {
  const line = plainLine(command, shell);
  if (!line.plain) return [];
  const files = line.parts.flatMap((part) => {
    const judged = classify(part.argv, { bins: shell.safeBins, limits: shell });
    return judged.safe ? judged.files : [];
  });
  return [...new Set(files)];
}

/** Whether an approval of this command may be remembered: never for what runs other text or programs, or can't be read. */
export function isRememberable(command: string): boolean {
  const line = plainLine(command, DEFAULT_SHELL);
  if (!line.plain) return false;
  if (readingsOf(command).commands.some(([program = '']) => INTERPRETERS.has(program) || WRAPPERS.has(program)))
    return false;
  return line.parts.every((part) => {
    const judged = classify(part.argv, { bins: {}, limits: DEFAULT_SHELL });
    return judged.safe || judged.rememberable;
  });
}

/** The first program of a plain command line that may run more than its words say, whatever they are. */
export const unknownProgram = (command: string): string | undefined =>
  safeCommand(command)
    ?.parts.map(({ argv }) => argv[0] ?? '')
    .find((program) => !canRunItsWords(program));
