/**
 * One session. Handlers enqueue, this loop acts: it alone sends signals, starts children, notifies people,
 * and continues as new, so that nothing is lost between two runs.
 *
 *   admitted by the worker ─▶ [ take the inbox ─▶ act on each call's messages in order ] … ─▶ close what is below ─▶ end
 */
import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Covered } from '../activities/grants.ts';
import type { Activities } from '../activities/index.ts';
import type {
  ApprovalRequest,
  Decision,
  DecisionAnswer,
  Escalation,
  LadderStep,
  SealedDecision,
} from '../protocol/approval.ts';
import { isDecision, sealDecisions, shortCode } from '../protocol/approval.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import {
  isApprovalRequest,
  isChildEnded,
  isChildRequest,
  isEscalation,
  isNotice,
  isWithdrawal,
} from '../protocol/forms.ts';
import {
  GRANT_LIMITS,
  type Grant,
  type GrantAnswer,
  type Revocation,
  isGrant,
  isRevocation,
} from '../protocol/grant.ts';
import { callWorkflowId, parseSessionWorkflowId, sessionWorkflowId } from '../protocol/ids.ts';
import { plainMarkdown, plainTime } from '../protocol/markdown.ts';
import { SEARCH_ATTRIBUTE } from '../protocol/names.ts';
import { type OpenedAnswer, SESSION_MEMO, type SessionClosed, type SessionFacts } from '../protocol/session.ts';
import { addRequest, approvalKey, matchDecision, refuse, settle, withdraw, withdrawRoute } from './approvals.ts';
import { childFacts, startChildSession } from './children.ts';
import { signalIfThere } from './external.ts';
import {
  addGrantUpdate,
  childEndedSignal,
  closeSignal,
  closeUpdate,
  decideSignal,
  decideUpdate,
  decisionSignal,
  escalateSignal,
  grantsQuery,
  notifySignal,
  openChildUpdate,
  openedUpdate,
  pendingQuery,
  requestApprovalSignal,
  revokeGrantUpdate,
  viewQuery,
  withdrawApprovalSignal,
} from './messages.ts';
import { type Message, Session, type SessionInput, inherited } from './session-state.ts';

const { admitSession, checkDecision, checkGrant, revokeGrant } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});
const { endCalls } = proxyActivities<Activities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
  summary: 'end the calls that still run',
});
const { coveredRequests } = proxyActivities<Activities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
  summary: 'which waiting requests the new grant covers',
});
const tell = (request: ApprovalRequest): Activities['notifyApprover'] =>
  proxyActivities<Activities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1s', maximumAttempts: 3 },
    summary: `tell people of ${shortCode(request.digest)} (${request.tool})`,
  }).notifyApprover;

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
  const facts = memo?.[SESSION_MEMO] as SessionFacts | undefined;
  if (facts?.id !== undefined && facts.id === parseSessionWorkflowId(workflowId)) return facts;
  throw ApplicationFailure.nonRetryable(
    'This workflow was started without a session in its memo.',
    'session_not_found',
  );
}

function listen(self: Session, admission: () => OpenedAnswer | undefined): void {
  setHandler(openedUpdate, async () => {
    await condition(() => admission() !== undefined);
    return admission() as OpenedAnswer;
  });
  setHandler(requestApprovalSignal, (request) => {
    if (isApprovalRequest(request)) self.put({ kind: 'request', request });
  });
  setHandler(withdrawApprovalSignal, (withdrawal) => {
    if (isWithdrawal(withdrawal)) self.put({ kind: 'withdraw', withdrawal });
  });
  setHandler(escalateSignal, (escalation) => {
    if (isEscalation(escalation)) self.put({ kind: 'escalate', escalation });
  });
  setHandler(decideUpdate, (decision) => self.ask<DecisionAnswer>((ticket) => ({ kind: 'decide', decision, ticket })), {
    validator: ofForm(isDecision, 'A decision has session, callId, digest, decision (approve or deny) and approver.'),
  });
  setHandler(decideSignal, (decision) => {
    if (isDecision(decision)) self.put({ kind: 'decide', decision });
  });
  setHandler(addGrantUpdate, (grant) => self.ask((ticket) => ({ kind: 'addGrant', grant, ticket })), {
    validator: ofForm(isGrant, 'A grant has id, tool, arguments, scope, expiresAt (30 days at most), by and at.'),
  });
  setHandler(revokeGrantUpdate, (revocation) => self.ask((ticket) => ({ kind: 'revokeGrant', revocation, ticket })), {
    validator: ofForm(isRevocation, 'A revocation has id and by.'),
  });
  setHandler(grantsQuery, () => self.grants.filter(({ expiresAt }) => expiresAt > Date.now()));
  setHandler(openChildUpdate, (child) => self.ask((ticket) => ({ kind: 'openChild', child, ticket })), {
    validator: ofForm(isChildRequest, 'A child session is asked for with id and kind (branch or worker).'),
  });
  setHandler(childEndedSignal, (ended) => {
    if (isChildEnded(ended)) self.put({ kind: 'childEnded', ended });
  });
  setHandler(notifySignal, (notice) => {
    if (isNotice(notice)) self.put({ kind: 'notice', notice });
  });
  setHandler(closeUpdate, (reason) => self.close(String(reason)));
  setHandler(closeSignal, (reason) => void self.close(String(reason)));
  setHandler(viewQuery, () => self.view());
  setHandler(pendingQuery, () => Object.values(self.approvals.pending).map(({ request }) => request));
}

/** Refuses an update of another form before it enters history. */
const ofForm =
  (fits: (value: unknown) => boolean, message: string) =>
  (value: unknown): void => {
    if (!fits(value)) throw ApplicationFailure.nonRetryable(message, 'invalid_usage');
  };

/** A refused session leaves its id free for another try, as a failed run. */
async function refused(self: Session, answer: Extract<OpenedAnswer, { opened: false }>): Promise<never> {
  await tellParent(self, true, answer.message);
  await condition(allHandlersFinished);
  throw ApplicationFailure.nonRetryable(answer.message, answer.code);
}

async function loop(self: Session): Promise<void> {
  const closed = closing(self);
  let over = false;
  void closed.then(() => (over = true));
  for (;;) {
    await condition(() => self.inbox.length > 0 || over || isLong(self));
    const batch = self.inbox;
    self.inbox = [];
    await Promise.all([...byCall(batch).values()].map((messages) => actInOrder(self, messages)));
    showPending(self);
    if (self.inbox.length > 0) continue;
    if (over) return closed;
    if (isLong(self)) await continueAsNew(self);
  }
}

/** Lines that the session's page in the Temporal UI shows of what waits. */
const LINES_SHOWN = 20;

function showPending(self: Session): void {
  const waiting = Object.values(self.approvals.pending).map(({ request }) => request);
  const lines = waiting
    .slice(0, LINES_SHOWN)
    .map(
      ({ digest, tool, session: from, expiresAt }) =>
        `- \`${shortCode(digest)}\` ${plainMarkdown(tool)} of session ${plainMarkdown(from)}, until ${plainTime(expiresAt)}`,
    );
  const more = waiting.length > LINES_SHOWN ? [`- and ${waiting.length - LINES_SHOWN} more`] : [];
  setCurrentDetails(waiting.length === 0 ? '' : ['**Waits for people**', '', ...lines, ...more].join('\n'));
}

/** Messages about one call stay in order; calls do not wait for each other. */
function byCall(batch: Message[]): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of batch) {
    const key = groupOf(message);
    const group = groups.get(key);
    if (group) group.push(message);
    else groups.set(key, [message]);
  }
  return groups;
}

function groupOf(message: Message): string {
  switch (message.kind) {
    case 'request':
      return approvalKey(message.request);
    case 'withdraw':
      return approvalKey(message.withdrawal);
    case 'escalate':
      return approvalKey(message.escalation);
    case 'decide':
      return approvalKey(message.decision);
    case 'granted':
      return approvalKey(message.covered.request);
    default:
      return message.kind;
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
      if (holds(self)) return bringUp(self, message.escalation);
      return void (await toParent(self, (parent) => signalIfThere(parent, escalateSignal, message.escalation)));
    case 'decide':
      return self.answer(message.ticket, await decide(self, message.decision));
    case 'addGrant':
      return self.answer(message.ticket, await addGrant(self, message.grant));
    case 'revokeGrant':
      return self.answer(message.ticket, await takeBack(self, message.revocation));
    case 'granted':
      return letRun(self, message.covered);
    case 'openChild': {
      const facts = childFacts(self.facts, self.children.size, message.child, self.limits);
      const answer = 'opened' in facts ? facts : await startChildSession(facts, inherited(self.input));
      if (answer.opened) self.children.add(answer.facts.id);
      return self.answer(message.ticket, answer);
    }
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

const holds = (self: Session): boolean => self.facts.channel !== null;

/** Holds the request where a person can be reached, or passes it up; where neither can be, the call is told. */
async function route(self: Session, request: ApprovalRequest): Promise<void> {
  if (holds(self)) {
    if (!addRequest(self.approvals, request, Date.now(), self.limits.pendingRequests)) {
      return void (await tellCall(request, refuse(request, 'too_many_pending')));
    }
    return void notify(self, request);
  }
  const passed = await toParent(self, (parent) => signalIfThere(parent, requestApprovalSignal, request));
  if (!passed) await tellCall(request, refuse(request, 'no_approver'));
}

/** Tells people in the background: a notifier that fails never holds up a request. */
async function notify(self: Session, request: ApprovalRequest, step?: LadderStep): Promise<void> {
  const { session: from, callId } = request;
  const failed = (why: string): void =>
    self.note({
      at: Date.now(),
      kind: 'notify_failed',
      session: from,
      callId,
      text: `${why}; the request still waits.`.slice(0, 500),
    });
  const kind = step === undefined ? 'requested' : step.kind === 'remind' ? 'reminder' : 'reassigned';
  self.notifying += 1;
  try {
    const role = step?.role === undefined ? {} : { role: step.role };
    const notified = await tell(request)({ channel: self.facts.channel ?? '', request, kind, ...role });
    for (const { type, reason } of notified.failed) failed(`${type} could not be told: ${reason}`);
  } catch (error) {
    failed(`Nobody could be told: ${String(error)}`);
  } finally {
    self.notifying -= 1;
  }
}

/** A request that still waits is told of again; nothing else changes, whoever is asked. */
function bringUp(self: Session, escalation: Escalation): void {
  const waiting = self.approvals.pending[approvalKey(escalation)];
  if (waiting?.request.runId === escalation.runId) void notify(self, waiting.request, escalation.step);
}

/** Answers `accepted` only once the call has the decision. */
async function decide(self: Session, decision: Decision): Promise<DecisionAnswer> {
  const matched = matchDecision(self.approvals, decision);
  if ('answer' in matched) return matched.answer;
  const { waiting } = matched;
  const { request, collected } = waiting;
  const checked = await checkDecision({ request, decision, collected });
  if (!checked.ok) return recordRefusal(self, decision, checked.answer);
  if (!checked.complete) {
    waiting.collected = checked.decisions;
    return { answer: 'accepted', message: `${checked.message ?? ''} The call waits for more.` };
  }
  const sealed = sealDecisions(checked.decisions, checked.verified);
  if (!(await tellCall(request, sealed))) {
    withdraw(self.approvals, request);
    return { answer: 'not_pending', message: 'The call has ended in the meantime.' };
  }
  settle(self.approvals, sealed);
  const what = sealed.decision === 'approve' ? 'The call goes on.' : 'The call ends as denied.';
  return { answer: 'accepted', message: what };
}

/** A new grant lets run what it covers of what waits already. */
async function addGrant(self: Session, grant: Grant): Promise<GrantAnswer> {
  const refuse = (code: ErrorCode, message: string): GrantAnswer => ({ accepted: false, code, message });
  if (!holds(self)) return refuse('no_approver', 'Grants are kept by a main session that people watch; this is none.');
  self.grants = self.grants.filter(({ expiresAt }) => expiresAt > Date.now());
  if (self.grants.some(({ id }) => id === grant.id))
    return refuse('invalid_id', `There is a grant ${grant.id} already.`);
  if (self.grants.length >= GRANT_LIMITS.count) {
    return refuse('session_limit', `A session holds ${GRANT_LIMITS.count} grants at most; revoke some first.`);
  }
  const checked = await checkGrant(grant);
  if (!checked.ok) return refuse(checked.code, checked.message);
  self.grants.push(grant);
  void release(self, grant);
  return { accepted: true };
}

/** Revoked for good: also a copy of it that somebody kept. */
async function takeBack(self: Session, { id }: Revocation): Promise<GrantAnswer> {
  if (!self.grants.some((grant) => grant.id === id)) {
    return { accepted: false, code: 'call_not_found', message: `There is no grant ${id} here; it may have expired.` };
  }
  await revokeGrant(id);
  self.grants = self.grants.filter((grant) => grant.id !== id);
  return { accepted: true };
}

/** Looks in the background, for there may be a thousand requests to look at. */
async function release(self: Session, grant: Grant): Promise<void> {
  const requests = Object.values(self.approvals.pending).map(({ request }) => request);
  if (requests.length === 0) return;
  self.notifying += 1;
  try {
    const found = await coveredRequests({ requests, grants: [grant] });
    for (const covered of found) self.put({ kind: 'granted', covered });
  } catch {
    // They wait for a person, as before; every later call is looked at when it is prepared.
  } finally {
    self.notifying -= 1;
  }
}

/** A grant stands in for a person on a request that waits; where the call executes it is looked up again. */
async function letRun(self: Session, { request, grant, verified }: Covered): Promise<void> {
  const waiting = self.approvals.pending[approvalKey(request)];
  if (waiting?.request.digest !== request.digest || !self.grants.some(({ id }) => id === grant.id)) return;
  const { session: from, callId, digest } = request;
  const by = { session: from, callId, digest, decision: 'approve', approver: grant.by } as const;
  const sealed: SealedDecision = { ...by, reason: `grant ${grant.id}`, verified, decisions: [], grant };
  if (await tellCall(request, sealed)) settle(self.approvals, sealed);
  else withdraw(self.approvals, request);
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

const tellCall = (request: ApprovalRequest, decision: SealedDecision): Promise<boolean> =>
  signalIfThere(getExternalWorkflowHandle(callWorkflowId(request), request.runId), decisionSignal, decision);

async function toParent(
  self: Session,
  send: (parent: ReturnType<typeof getExternalWorkflowHandle>) => Promise<boolean>,
): Promise<boolean> {
  const { parent } = self.facts;
  return parent !== undefined && send(getExternalWorkflowHandle(sessionWorkflowId(parent)));
}

const tellParent = (self: Session, failed: boolean, reason: string): Promise<boolean> =>
  toParent(self, (parent) => signalIfThere(parent, childEndedSignal, { id: self.facts.id, failed, reason }));

function isLong(self: Session): boolean {
  const { continueAfterEvents } = self.input;
  if (self.state !== 'open') return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (continueAfterEvents !== undefined && historyLength > continueAfterEvents);
}

async function continueAsNew(self: Session): Promise<void> {
  await condition(() => allHandlersFinished() && self.notifying === 0);
  // Signals that came meanwhile go along in the inbox; an update that came is answered first.
  if (self.state !== 'open' || self.inbox.some((message) => 'ticket' in message)) return;
  const next = makeContinueAsNewFunc<typeof session>({ memo: { [SESSION_MEMO]: self.facts } });
  await next({ carried: self.carry(), ...inherited(self.input) });
}

/** Facts about sessions are cached by workers for this long; a call judged by such a fact shows up in the second list. */
const CACHE_LIFE_MS = 5_000;
/** Children that have not reported their end by then are named in the result instead of awaited. */
const CHILDREN_MS = 60_000;

/** Waits until the session is told to close, then ends its children and its calls. */
async function closing(self: Session): Promise<void> {
  await condition(() => self.state === 'closing');
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: ['closing'] });
  const reason = `its parent closed: ${self.closeReason ?? ''}`.slice(0, 200);
  await Promise.all(
    [...self.children].map(async (id) => {
      const there = await signalIfThere(getExternalWorkflowHandle(sessionWorkflowId(id)), closeSignal, reason);
      if (!there) self.children.delete(id);
    }),
  );
  for (let empty = 0; empty < 2;) {
    const count = await endCalls(self.facts.id);
    self.callsEnded += count;
    empty = count === 0 ? empty + 1 : 0;
    if (empty < 2) await sleep(count === 0 ? CACHE_LIFE_MS : 500, { summary: 'see whether calls still run' });
  }
  await condition(() => self.children.size === 0, CHILDREN_MS, { summary: 'children end' });
}

async function end(self: Session): Promise<SessionClosed> {
  const reason = self.closeReason ?? 'closed';
  await tellParent(self, false, reason);
  self.state = 'closed';
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: ['closed'] });
  await condition(allHandlersFinished);
  return { reason, callsEnded: self.callsEnded, childrenLeft: [...self.children] };
}
