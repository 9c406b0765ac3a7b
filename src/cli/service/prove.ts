/** Shows that a service works: one real call through the whole path, and what it found waiting from before. */
import { Countersign } from '../../client/index.ts';
import type { Halt } from '../../protocol/control.ts';
import type { Service } from '../../server/service.ts';
import { mainSession } from '../sessions/main-session.ts';
import { type OutcomeLine, outcomeLine } from '../calls/outcome-line.ts';
import { type ErrorReport, reportOf } from '../status.ts';

export interface Proof {
  /** The outcome of `list` in the service's own folder. */
  firstCall?: OutcomeLine & { uiUrl?: string };
  /** Why there is none: as a rule, that the folder can be no workspace. */
  firstCallError?: ErrorReport;
  /** Calls that wait from before; with `orMore`, of the newest thousand. */
  waiting: { approval: number; correction: number; orMore?: true };
  /** Set where nothing runs, because somebody halted the service before. */
  halted?: Halt;
}

/** A start is not held up by a long listing. */
const COUNTED = 1_000;

export async function proveByCall({ worker }: Pick<Service, 'worker'>, folder: string): Promise<Proof> {
  const countersign = await Countersign.connect<object>({ worker });
  const halted = await countersign.control.halted();
  const [first, waiting] = await Promise.all([
    // A call would be held until somebody resumes.
    halted
      ? { halted }
      : firstCall(countersign, folder).then(
          (call) => ({ firstCall: call }),
          (error: unknown) => ({ firstCallError: reportOf(error) }),
        ),
    countersign.approvals.pending({ all: true, limit: COUNTED }),
  ]);
  const forApproval = waiting.filter((call) => call.waiting.for === 'approval').length;
  const counted = { approval: forApproval, correction: waiting.length - forApproval };
  return { ...first, waiting: { ...counted, ...(waiting.length === COUNTED && { orMore: true }) } };
}

async function firstCall(countersign: Countersign<object>, folder: string): Promise<NonNullable<Proof['firstCall']>> {
  const session = await mainSession(countersign, folder);
  const since = performance.now();
  const call = await session.startUntyped('list', {});
  const line = outcomeLine(call, 'list', await call.settled(), Math.round(performance.now() - since));
  const uiUrl = countersign.uiLink(call.id);
  return { ...line, ...(uiUrl !== undefined && { uiUrl }) };
}
