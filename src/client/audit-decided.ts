/**
 * The decisions that came to a call. Anybody in the namespace can send one that says of itself what it likes, so that each is told by the
 * look that was taken at it: by the execution it was to let run, or by the check of a denial.
 */
import { redactJson } from '../approval/redact.ts';
import { type Decision, type SealedDecision, isSealedAs } from '../protocol/approval.ts';
import type { ExecuteInput } from '../protocol/call.ts';
import { type JsonObject, isSameJson } from '../protocol/json.ts';
import type { ApprovalRecord, Execution } from '../protocol/outcome.ts';

/** `verified`: true only where a check on record found the signatures good. */
export interface DecidedEntry extends Omit<ApprovalRecord, 'edited' | 'arguments'> {
  /** ISO 8601. */
  at: string;
  what: 'decided';
  /** `none`: no look at it is on record, and it says of itself whose it is. */
  check: 'holds' | 'refused' | 'none';
  /** Why it was refused. */
  why?: string;
  /** Arguments to run instead, with what looks like a secret replaced. */
  edited?: JsonObject;
  /** Set where no person decided: why the session answered by itself. */
  code?: string;
  /** Where several had to agree. */
  decisions?: DecidedBy[];
}

/** One of several who had to agree. */
export interface DecidedBy {
  approver: string;
  reason?: string;
  /** ISO 8601, by the approver's clock; absent where it is not signed. */
  at?: string;
}

interface Came {
  sealed: SealedDecision;
  entry: DecidedEntry;
}

/** What the call makes of a denial whose outside says something else, without any activity. */
const OTHERWISE = 'The record of the denial says something else than the denial.';

export class Decided {
  readonly #came: Came[] = [];

  /** One that was heard. */
  take(at: string, sealed: SealedDecision): DecidedEntry {
    const entry = entryOf(at, sealed);
    const denied = sealed.decision === 'deny' && sealed.code === undefined;
    if (denied && !isSealedAs(sealed)) Object.assign(entry, { check: 'refused', why: OTHERWISE });
    this.#came.push({ sealed, entry });
    return entry;
  }

  /** The execution that an approval or a grant was to let run has ended so. */
  executed({ approval, grant }: ExecuteInput, execution: Execution): void {
    const about = this.#open(({ sealed }) =>
      approval ? isSameJson(sealed, approval.decision) : grant !== undefined && isSameJson(sealed.grant, grant),
    );
    if (!about) return;
    if (execution.status === 'refused') Object.assign(about.entry, { check: 'refused', why: execution.error.message });
    // What is denied may have been so before anybody looked at the signatures.
    else if (execution.status !== 'held' && execution.status !== 'denied')
      Object.assign(about.entry, { check: 'holds', verified: about.sealed.verified });
  }

  /** What the check of a denial found. */
  checked(found: DenialCheck): void {
    const denial = (like: (last: Decision | undefined) => boolean) =>
      this.#open(
        ({ sealed }) => sealed.decision === 'deny' && sealed.code === undefined && like(sealed.decisions.at(-1)),
      );
    if (found.ok) {
      const about = denial((last) => isSameJson(last, found.decisions?.at(-1)));
      if (about) Object.assign(about.entry, { check: 'holds', verified: found.verified === true });
    } else if (found.answer?.answer === 'bad_signature') {
      // They are looked at in the order in which they came.
      const about = denial(() => true);
      if (about) Object.assign(about.entry, { check: 'refused', why: found.answer.message });
    }
  }

  #open(fits: (came: Came) => boolean): Came | undefined {
    return this.#came.find((came) => came.entry.check === 'none' && fits(came));
  }
}

/** Of what `checkDecision` answers, what is read here. */
export interface DenialCheck {
  ok: boolean;
  verified?: boolean;
  decisions?: Decision[];
  answer?: { answer: string; message: string };
}

function entryOf(
  at: string,
  { approver, decision, decisions, reason, arguments: edited, code, grant, override }: SealedDecision,
): DecidedEntry {
  return {
    at,
    what: 'decided',
    ...(grant && { grant: grant.id }),
    ...(decisions.length > 1 && {
      approvers: decisions.map((one) => one.approver),
      decisions: decisions.map(decidedBy),
    }),
    ...(override && { override }),
    approver,
    verified: false,
    check: 'none',
    decision,
    ...(reason !== undefined && { reason }),
    ...(edited && { edited: redactJson(edited) }),
    ...(code !== undefined && { code }),
  };
}

const decidedBy = ({ approver, reason, at }: Decision): DecidedBy => ({
  approver,
  ...(reason !== undefined && { reason }),
  ...(at !== undefined && { at: new Date(at).toISOString() }),
});
