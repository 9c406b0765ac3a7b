/** People are told of requests in the background: a notifier that fails or takes its time never holds up a request. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { type ApprovalRequest, type LadderStep, shortCode } from '../protocol/approval.ts';
import { plainMarkdown } from '../protocol/markdown.ts';
import { approvalKey } from './approvals.ts';
import { isLong } from './session-continue.ts';
import type { Session, Untold } from './session-state.ts';

const tell = (request: ApprovalRequest): Activities['notifyApprover'] =>
  proxyActivities<Activities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1s', maximumAttempts: 3 },
    // The UI shows it as Markdown, and Temporal takes 400 bytes.
    summary: `tell people of ${shortCode(request.digest)} (${plainMarkdown(request.tool.slice(0, 60))})`,
  }).notifyApprover;

/** A session that is about to continue as new starts nothing that it would have to wait for: its next run tells. */
export function notify(self: Session, request: ApprovalRequest, step?: LadderStep): void {
  if (isLong(self)) {
    const { session, callId, runId } = request;
    // The last word on a request is the one that is told.
    const before = self.untold.findIndex((one) => approvalKey(one) === approvalKey(request));
    if (before !== -1) self.untold.splice(before, 1);
    self.untold.push({ session, callId, runId, ...(step && { step }) });
  } else void send(self, request, step);
}

/** What the run before this one left; nobody is told of what no longer waits. */
export function notifyOfUntold(self: Session): void {
  for (const one of self.untold.splice(0)) notifyAgain(self, one);
}

/** A request that still waits is told of; nothing else changes, whoever is asked. */
export function notifyAgain(self: Session, { step, runId, ...name }: Untold): void {
  const waiting = self.approvals.pending[approvalKey(name)];
  if (waiting?.request.runId === runId) notify(self, waiting.request, step);
}

async function send(self: Session, request: ApprovalRequest, step?: LadderStep): Promise<void> {
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
  self.background += 1;
  try {
    const role = step?.role === undefined ? {} : { role: step.role };
    const notified = await tell(request)({ channel: self.facts.channel ?? '', request, kind, ...role });
    for (const { type, reason } of notified.failed) failed(`${type} could not be told: ${reason}`);
  } catch (error) {
    failed(`Nobody could be told: ${String(error)}`);
  } finally {
    self.background -= 1;
  }
}
