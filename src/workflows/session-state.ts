/**
 * What a session knows, and its inbox. Handlers only put messages in; the loop in session.ts takes them out.
 * Everything under {@link Carried} is plain data and goes along when the session continues as new.
 */
import type {
  ApprovalRequest,
  Decision,
  DecisionAnswer,
  Escalation,
  LadderStep,
  Withdrawal,
} from '../protocol/approval.ts';
import { LIMITS } from '../protocol/limits.ts';
import type {
  ChildAnswer,
  ChildEnded,
  ChildRequest,
  SessionFacts,
  SessionLimits,
  SessionNotice,
  SessionState as State,
  SessionView,
} from '../protocol/session.ts';
import type { Covered } from '../activities/grants.ts';
import type { Grant, GrantAnswer, Revocation } from '../protocol/grant.ts';
import { type Approvals, noApprovals } from './approvals.ts';
import { groupOf, mostOf } from './session-inbox.ts';

/** What can be put in a session's inbox. `ticket` numbers the update that waits for the answer. */
export type Message =
  | { kind: 'request'; request: ApprovalRequest }
  | { kind: 'withdraw'; withdrawal: Withdrawal }
  | { kind: 'escalate'; escalation: Escalation }
  | { kind: 'decide'; decision: Decision; ticket?: number }
  | { kind: 'addGrant'; grant: Grant; ticket?: number }
  | { kind: 'revokeGrant'; revocation: Revocation; ticket?: number }
  | { kind: 'granted'; covered: Covered }
  | { kind: 'openChild'; child: ChildRequest; ticket?: number }
  | { kind: 'childEnded'; ended: ChildEnded }
  | { kind: 'notice'; notice: SessionNotice };

/** A waiting request that people are yet to be told of. */
export interface Untold extends Withdrawal {
  step?: LadderStep;
}

export interface Carried {
  approvals: Approvals;
  untold: Untold[];
  /** Children that have not ended, as they were asked for. */
  children: ChildRequest[];
  notices: SessionNotice[];
  inbox: Message[];
  continuedAsNew: number;
  limits: SessionLimits;
  grants: Grant[];
}

export interface SessionInput {
  carried?: Carried;
  /** Continue as new after this many events instead of after 1,000 (session-continue.ts); children inherit it. For tests. */
  continueAfterEvents?: number;
}

/** What a session's next run and its children have of its input. */
export const inherited = ({ continueAfterEvents }: SessionInput): SessionInput =>
  continueAfterEvents === undefined ? {} : { continueAfterEvents };

export type Answer = DecisionAnswer | ChildAnswer | GrantAnswer;

export class Session {
  readonly facts: SessionFacts;
  readonly approvals: Approvals;
  /** By id. */
  readonly children: Map<string, ChildRequest>;
  readonly untold: Untold[];
  readonly notices: SessionNotice[];
  grants: Grant[];
  readonly continuedAsNew: number;
  readonly inbox: Message[];
  /** As the worker's configuration had them when the session was admitted. */
  limits: SessionLimits;
  state: State = 'open';
  closeReason: string | undefined;
  /** Work under way that no message waits for: notifications, and looks at what a grant covers. */
  background = 0;
  /** Calls that the closing ended. */
  callsEnded = 0;
  /** Calls that were told to end and have not. */
  callsLeft = 0;

  readonly input: SessionInput;
  #tickets = new Map<number, { resolve: (answer: Answer) => void; whenOver: Answer }>();
  #over = false;
  #flooded = false;
  /** How many of the messages that came by signal are in the inbox, by kind and by what they are about. */
  readonly #waiting = new Map<string, number>();
  #lastTicket = 0;

  constructor(facts: SessionFacts, input: SessionInput) {
    const { carried } = input;
    this.facts = facts;
    this.input = input;
    this.approvals = carried?.approvals ?? noApprovals();
    this.untold = carried?.untold ?? [];
    this.children = new Map(carried?.children.map((child) => [child.id, child]));
    this.notices = carried?.notices ?? [];
    this.inbox = carried?.inbox ?? [];
    this.continuedAsNew = carried?.continuedAsNew ?? 0;
    this.limits = carried?.limits ?? LIMITS;
    this.grants = carried?.grants ?? [];
  }

  /** What is sent by signal is left out where too much of it waits, and people are told of it once. */
  put(message: Message): void {
    const like = `${message.kind} ${groupOf(message)}`;
    const waiting = this.#waiting.get(like) ?? 0;
    if (waiting < mostOf(message)) {
      this.#waiting.set(like, waiting + 1);
      this.inbox.push(message);
      return;
    }
    if (this.#flooded) return;
    this.#flooded = true;
    const { id: session } = this.facts;
    const text = `Messages came faster than the session takes them in (${groupOf(message)}); some were left out.`;
    this.note({ at: Date.now(), kind: 'flooded', session, text });
  }

  /** All that waits; the inbox is empty then. */
  take(): Message[] {
    this.#waiting.clear();
    return this.inbox.splice(0);
  }

  /** Puts a message whose sender waits for the loop's answer; `whenOver` answers where no loop will. */
  ask<A extends Answer>(message: (ticket: number) => Message, whenOver: A): Promise<A> {
    if (this.#over) return Promise.resolve(whenOver);
    const ticket = (this.#lastTicket += 1);
    return new Promise<A>((resolve) => {
      this.#tickets.set(ticket, { resolve: resolve as (answer: Answer) => void, whenOver });
      this.inbox.push(message(ticket));
    });
  }

  /** The loop has ended: who still waits for its answer, or comes later, is told so. */
  finish(): void {
    this.#over = true;
    for (const { resolve, whenOver } of this.#tickets.values()) resolve(whenOver);
    this.#tickets.clear();
  }

  answer(ticket: number | undefined, answer: Answer): void {
    if (ticket === undefined) return;
    this.#tickets.get(ticket)?.resolve(answer);
    this.#tickets.delete(ticket);
  }

  close(reason: string): { state: State } {
    if (this.state === 'open') {
      this.state = 'closing';
      this.closeReason = reason;
    }
    return { state: this.state };
  }

  note(notice: SessionNotice): void {
    this.notices.push({ ...notice, text: notice.text.slice(0, 1_000) });
    this.notices.splice(0, Math.max(0, this.notices.length - LIMITS.notices));
  }

  view(): SessionView {
    return {
      ...this.facts,
      state: this.state,
      children: [...this.children.keys()],
      pending: Object.keys(this.approvals.pending).length,
      continuedAsNew: this.continuedAsNew,
      notices: this.notices,
    };
  }

  carry(): Carried {
    return {
      approvals: this.approvals,
      untold: this.untold,
      children: [...this.children.values()],
      notices: this.notices,
      inbox: this.inbox,
      continuedAsNew: this.continuedAsNew + 1,
      limits: this.limits,
      grants: this.grants,
    };
  }
}
