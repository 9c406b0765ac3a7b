/** What must have come of the demo, as literals. */
import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../../src/client/index.ts';
import { checked, verdict } from './screen.ts';

export interface Check {
  what: string;
  expected: unknown;
  found: unknown;
}

/** An outcome as far as the demo promises it: `completed, 1 attempt, 1 try`. */
export function short({ status, error, attempts, tries, approval }: Outcome): string {
  const decided = approval && `${approval.decision} by ${approval.approver}`;
  return [status, error?.code, `attempts ${attempts}`, `tries ${tries}`, decided].filter(Boolean).join(', ');
}

/** Prints each check; true when all hold. With COUNTERSIGN_DEMO_BREAK set, one expectation is wrong: a test of this very function. */
export function checkAll(checks: readonly Check[]): boolean {
  let failures = 0;
  for (const [i, { what, expected, found }] of checks.entries()) {
    const wanted = i === 0 && process.env['COUNTERSIGN_DEMO_BREAK'] ? 'something else' : expected;
    const ok = isDeepStrictEqual(found, wanted);
    if (!ok) failures += 1;
    checked(what, ok, `${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  }
  verdict(failures, checks.length);
  return failures === 0;
}
