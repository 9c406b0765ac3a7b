/** The emergency stop, said in one line. */
import { safeLine } from '../../approval/render/safe-text.ts';
import type { Halt } from '../../protocol/control.ts';
import { clock } from './time.ts';

/** `by anna since 2026-11-21 23:00:00: wrong folder`. */
export const haltedBy = ({ by, at, reason }: Pick<Halt, 'by' | 'at' | 'reason'>): string =>
  `by ${safeLine(by)} since ${clock(at)}: ${safeLine(reason)}`;

/** The same where it is not what was asked for, with the way out. */
export const haltedWarning = (halt: Halt): string =>
  `The service is halted ${haltedBy(halt)}. Nothing new runs; calls run after: countersign resume --reason '…'`;

/** The same of a call that waits for the end of it. */
export const heldBy = (halt: Pick<Halt, 'by' | 'at' | 'reason'>): string =>
  `Held: the service is halted ${haltedBy(halt)}`;

/** {@link heldBy} on a line of its own, with the way out. */
export const heldLines = (halt: Pick<Halt, 'by' | 'at' | 'reason'>): string[] => [
  `  ${heldBy(halt)}`,
  `  It runs after:  countersign resume --reason '…'`,
];
