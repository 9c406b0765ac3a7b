/**
 * One session. Handlers enqueue, this loop acts: it alone sends signals, starts children, notifies people,
 * and continues as new, so that nothing is lost between two runs.
 *
 *   admitted by the worker ─▶ [ take the inbox ─▶ act on each call's messages in order ] … ─▶ close what is below ─▶ end
 */
import type { UpdateDefinition } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  type SignalDefinition,
  allHandlersFinished,
  condition,
  proxyLocalActivities,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ApprovalRequest, Decision, DecisionAnswer } from '../protocol/approval.ts';
import { sealDecisions } from '../protocol/approval.ts';
import {
  readApprovalRequest,
  readChildEnded,
  readChildRequest,
  readDecision,
  readEscalation,
  readGrant,
  readNotice,
  readRevocation,
  readWithdrawal,
} from '../protocol/forms.ts';
import type { Grant, GrantAnswer, Revocation } from '../protocol/grant.ts';
import { parseSessionWorkflowId } from '../protocol/ids.ts';
import { isSameJson } from '../protocol/json.ts';
import { SEARCH_ATTRIBUTE, SESSION_MOVES } from '../protocol/names.ts';
import {
  type ChildAnswer,
  type ChildRequest,
  type OpenedAnswer,
  SESSION_MEMO,
  SESSION_REFUSED,
  type SessionClosed,
  type SessionFacts,
  readSessionFacts,
} from '../protocol/session.ts';
import {
  addRequest,
  collectedOf,
  matchDecision,
  refuse,
  settle,
  standing,
  withdraw,
  withdrawRoute,
} from './approvals.ts';
import { childFacts, startChildSession } from './children.ts';
import { signalIfThere } from './external.ts';
import {
  addGrantUpdate,
  childEndedSignal,
  closeSignal,
  closeUpdate,
  decideSignal,
  decideUpdate,
  escalateSignal,
  grantsQuery,
  notifySignal,
  openChildUpdate,
  openedUpdate,
  pendingQuery,
  requestApprovalSignal,
  revokeGrantUpdate,
  standingQuery,
  viewQuery,
  withdrawApprovalSignal,
} from './messages.ts';
import { closing } from './session-closing.ts';
import { continueAsNew, isTooLong, mayContinue } from './session-continue.ts';
import { addGrant, letRun, takeBack } from './session-grants.ts';
import { holds, tellCall, toParent } from './session-links.ts';
import { byCall } from './session-inbox.ts';
import { notify, notifyAgain, notifyOfUntold } from './session-notify.ts';
import { showPending } from './session-page.ts';
import { type Answer, type Message, Session, type SessionInput, inherited } from './session-state.ts';

const { admitSession, checkDecision } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});
export async function session(given?: SessionInput): Promise<SessionClosed> {
  const input = given ?? {};
  const facts = ownFacts();
  const self = new Session(facts, input);
  let admission: OpenedAnswer | undefined = input.carried
    ? { opened: true, facts, limits: input.carried.limits }
    : undefined;
  listen(self, () => admission);
  // Cancelling a session in the Temporal UI means closing it; what it does on the way is not cut short.
  CancellationScope.current().cancelRequested.catch(() => self.close('cancelled'));
  return CancellationScope.nonCancellable(async () => {
    admission ??= await admitSession(facts);
    if (!admission.opened) return refused(self, admission);
    self.limits = admission.limits;
    await loop(self);
    return end(self);
  });
}

/** The session's start data is its memo, so that activities and this workflow believe the same record. */
function ownFacts(): SessionFacts {
  const { memo, workflowId } = workflowInfo();
  const facts = readSessionFacts(memo?.[SESSION_MEMO]);
  if (facts && facts.id === parseSessionWorkflowId(workflowId)) return facts;
  throw ApplicationFailure.nonRetryable(
    'This workflow was started without a session in its memo.',
    'session_not_found',
  );
}

const CLOSED = 'The session is closed.';
/** Answers where the session is over. */
const OVER = {
  decision: { answer: 'not_pending', message: CLOSED },
  grant: { accepted: false, code: 'session_closed', message: CLOSED },
  child: { opened: false, code: 'session_closed', message: CLOSED },
} as const;

function listen(self: Session, admission: () => OpenedAnswer | undefined): void {
  setHandler(openedUpdate, async () => {
    await condition(() => admission() !== undefined);
    return admission() as OpenedAnswer;
  });
  onSignal(requestApprovalSignal, readApprovalRequest, (request) => self.put({ kind: 'request', request }));
  onSignal(withdrawApprovalSignal, readWithdrawal, (withdrawal) => self.put({ kind: 'withdraw', withdrawal }));
  onSignal(escalateSignal, readEscalation, (escalation) => self.put({ kind: 'escalate', escalation }));
  onSignal(decideSignal, readDecision, (decision) => self.put({ kind: 'decide', decision }));
  onSignal(childEndedSignal, readChildEnded, (ended) => self.put({ kind: 'childEnded', ended }));
  onSignal(notifySignal, readNotice, (notice) => self.put({ kind: 'notice', notice }));
  onUpdate<Decision, DecisionAnswer>(self, decideUpdate, {
    read: readDecision,
    form: 'A decision has session, callId, digest, decision (approve or deny) and approver.',
    message: (decision, ticket) => ({ kind: 'decide', decision, ticket }),
    over: OVER.decision,
  });
  onUpdate<Grant, GrantAnswer>(self, addGrantUpdate, {
    read: readGrant,
    form: 'A grant has id, tool, arguments, scope, expiresAt (30 days at most), by and at.',
    message: (grant, ticket) => ({ kind: 'addGrant', grant, ticket }),
    over: OVER.grant,
  });
  onUpdate<Revocation, GrantAnswer>(self, revokeGrantUpdate, {
    read: readRevocation,
    form: 'A revocation has id and by.',
    message: (revocation, ticket) => ({ kind: 'revokeGrant', revocation, ticket }),
    over: OVER.grant,
  });
  onUpdate<ChildRequest, ChildAnswer>(self, openChildUpdate, {
    read: readChildRequest,
    form: 'A child session is asked for with id and kind (branch or worker).',
    message: (child, ticket) => ({ kind: 'openChild', child, ticket }),
    over: OVER.child,
  });
  setHandler(grantsQuery, () => self.grants.filter(({ expiresAt }) => expiresAt > Date.now()));
  setHandler(closeUpdate, (reason) => self.close(textOf(reason)));
  setHandler(closeSignal, (reason) => void self.close(textOf(reason)));
  setHandler(viewQuery, () => self.view());
  setHandler(pendingQuery, () => Object.values(self.approvals.pending).map(({ request }) => request));
  setHandler(standingQuery, (call) => standing(self.approvals, call));
}

/** Why a session was told to close, by whoever told it. */
const textOf = (reason: unknown): string => (typeof reason === 'string' ? reason.slice(0, 500) : 'closed');

function onSignal<T>(
  signal: SignalDefinition<[T]>,
  read: (value: unknown) => T | undefined,
  take: (message: T) => void,
): void {
  setHandler(signal, (given) => {
    const message = read(given);
    if (message !== undefined) take(message);
  });
}

/** An update of another form is refused before it enters history, and for a moment any. */
function onUpdate<T, A extends Answer>(
  self: Session,
  update: UpdateDefinition<A, [T]>,
  { read, form, message, over }: Asked<T, A>,
): void {
  const known = (value: unknown): T => {
    const fields = read(value);
    if (fields === undefined) throw ApplicationFailure.nonRetryable(form, 'invalid_usage');
    return fields;
  };
  setHandler(
    update,
    (given) => {
      const fields = known(given);
      return self.ask<A>((ticket) => message(fields, ticket), over);
    },
    {
      validator: (given) => {
        known(given);
        if (isTooLong(self))
          throw ApplicationFailure.retryable('The session continues as new. Send it again.', SESSION_MOVES);
      },
    },
  );
}

interface Asked<T, A> {
  read: (value: unknown) => T | undefined;
  /** What it has to be, for who sends another. */
  form: string;
  message: (known: T, ticket: number) => Message;
  /** The answer where the session is over. */
  over: A;
}

/**
 * A refused session leaves its id free for another try, as a failed run. That it failed is its caller's answer and no alarm: the worker
 * logs every failure but a cancellation as a warning.
 */
async function refused(self: Session, answer: Extract<OpenedAnswer, { opened: false }>): Promise<never> {
  self.finish();
  await tellParent(self, true, answer.message);
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: [SESSION_REFUSED] });
  await condition(allHandlersFinished);
  throw new CancelledFailure(answer.message);
}

async function loop(self: Session): Promise<void> {
  notifyOfUntold(self);
  const closed = closing(self);
  let over = false;
  void closed.then(() => (over = true));
  for (;;) {
    await condition(() => self.inbox.length > 0 || over || mayContinue(self));
    await Promise.all([...byCall(self.take()).values()].map((messages) => actInOrder(self, messages)));
    showPending(self);
    if (self.inbox.length > 0) continue;
    if (over) return closed;
    if (mayContinue(self)) return continueAsNew(self);
  }
}

async function actInOrder(self: Session, messages: Message[]): Promise<void> {
  for (const message of messages) await act(self, message);
}

async function act(self: Session, message: Message): Promise<void> {
  switch (message.kind) {
    case 'request':
      return route(self, { ...message.request, route: [...message.request.route, self.facts.id] });
    case 'withdraw':
      if (holds(self)) return withdraw(self.approvals, message.withdrawal);
      return void (await toParent(self, (parent) => signalIfThere(parent, withdrawApprovalSignal, message.withdrawal)));
    case 'escalate':
      if (holds(self)) return notifyAgain(self, message.escalation);
      return void (await toParent(self, (parent) => signalIfThere(parent, escalateSignal, message.escalation)));
    case 'decide':
      return self.answer(message.ticket, await decide(self, message.decision));
    case 'addGrant':
      return self.answer(message.ticket, await addGrant(self, message.grant));
    case 'revokeGrant':
      return self.answer(message.ticket, await takeBack(self, message.revocation));
    case 'granted':
      return letRun(self, message.covered);
    case 'openChild':
      return self.answer(message.ticket, await openChild(self, message.child));
    case 'childEnded': {
      const { id, failed, reason } = message.ended;
      self.children.delete(id);
      withdrawRoute(self.approvals, id);
      const kind = failed ? 'child_failed' : 'child_ended';
      return self.note({ at: Date.now(), kind, session: id, text: reason });
    }
    case 'notice':
      self.note(message.notice);
      return void (await toParent(self, (parent) => signalIfThere(parent, notifySignal, message.notice)));
  }
}

/**
 * A session that closes has no more children; one that was being started when the closing began is told of it in the next round. Asked
 * for once more in the same words, a child that is open is the answer: who asks may have had none.
 */
async function openChild(self: Session, child: ChildRequest): Promise<ChildAnswer> {
  if (self.state !== 'open') return OVER.child;
  const again = isSameJson(self.children.get(child.id), child);
  const facts = childFacts(self.facts, self.children.size - (again ? 1 : 0), child, self.limits);
  if ('opened' in facts) return facts;
  if (again) return { opened: true, facts };
  const answer = await startChildSession(facts, inherited(self.input));
  if (answer.opened) self.children.set(child.id, child);
  return answer;
}

/** Holds the request where a person can be reached, or passes it up; where neither can be, the call is told. */
async function route(self: Session, request: ApprovalRequest): Promise<void> {
  if (holds(self)) {
    if (!addRequest(self.approvals, request, Date.now(), self.limits.pendingRequests)) {
      return void (await tellCall(request, refuse(request, 'too_many_pending')));
    }
    return notify(self, request);
  }
  const passed = await toParent(self, (parent) => signalIfThere(parent, requestApprovalSignal, request));
  if (!passed) await tellCall(request, refuse(request, 'no_approver'));
}

/** Characters of decisions that wait for more approvers: all of it is carried along when the session continues as new. */
const COLLECTED_LENGTH = 400_000;
const TOO_MUCH: DecisionAnswer = {
  answer: 'invalid_edit',
  message:
    'Too much edited content waits for more approvers in this session. Decide what waits, or deny and have the call made anew.',
};

/** Answers `accepted` only once the call has the decision. */
async function decide(self: Session, decision: Decision): Promise<DecisionAnswer> {
  const matched = matchDecision(self.approvals, decision);
  if ('answer' in matched) return matched.answer;
  const { waiting } = matched;
  const { request, collected } = waiting;
  const checked = await checkDecision({ request, decision, collected: collected.map((one) => one.decision) });
  if (!checked.ok) {
    if (checked.closed) {
      withdraw(self.approvals, request);
      await tellCall(request, refuse(request, 'session_closed'));
    }
    return recordRefusal(self, decision, checked.answer);
  }
  if (!checked.complete) {
    const { agreed, message, decisions } = checked;
    const others = Object.values(self.approvals.pending).filter((one) => one !== waiting);
    const counted = collectedOf(decisions, collected, Date.now());
    if (JSON.stringify([...others.flatMap((one) => one.collected), ...counted]).length > COLLECTED_LENGTH)
      return TOO_MUCH;
    waiting.collected = counted;
    return { answer: 'accepted', message: `${message} The call waits for more.`, agreed };
  }
  const sealed = sealDecisions(checked.decisions, checked.verified);
  if (!(await tellCall(request, sealed))) {
    withdraw(self.approvals, request);
    return { answer: 'not_pending', message: 'The call has ended in the meantime.' };
  }
  settle(self.approvals, sealed);
  // What it makes of it is found out where it runs.
  const what = sealed.decision === 'approve' ? 'The call has it.' : 'The call ends as denied.';
  return { answer: 'accepted', message: what };
}

/** A bad signature leaves the request waiting, and stands in the session's notices. */
function recordRefusal(
  self: Session,
  { session: from, callId, approver }: Decision,
  answer: DecisionAnswer,
): DecisionAnswer {
  if (answer.answer !== 'bad_signature') return answer;
  const text = `A decision in the name of ${approver} was refused: ${answer.message}`.slice(0, 500);
  self.note({ at: Date.now(), kind: 'bad_signature', session: from, callId, text });
  return answer;
}

const tellParent = (self: Session, failed: boolean, reason: string): Promise<boolean> =>
  toParent(self, (parent) =>
    signalIfThere(parent, childEndedSignal, { id: self.facts.id, failed, reason: reason.slice(0, 1_000) }),
  );

async function end(self: Session): Promise<SessionClosed> {
  self.finish();
  const reason = self.closeReason ?? 'closed';
  await tellParent(self, false, reason);
  self.state = 'closed';
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: ['closed'] });
  await condition(allHandlersFinished);
  const { callsEnded, callsLeft } = self;
  return { reason, callsEnded, callsLeft, childrenLeft: [...self.children.keys()] };
}
