/** Tells the people of a channel that a request waits. Whatever fails here, the request waits on, and the session is told of it. */
import { createHash } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { shownDigest } from '../approval/digest.ts';
import { previewHere } from '../approval/preview-here.ts';
import { type RequestView, describeRequest } from '../approval/render/index.ts';
import type { NotifierConfig } from '../config/index.ts';
import { type Notice, openNotifier, tellAll, withoutSecrets } from '../notify/index.ts';
import type { ApprovalDetails, ApprovalRequest, Notification, Notified } from '../protocol/approval.ts';
import { isApprovalDetails } from '../protocol/forms.ts';
import { callWorkflowId } from '../protocol/ids.ts';
import { CALL_MESSAGE } from '../protocol/names.ts';
import type { Dependencies } from './dependencies.ts';

/** What a channel has that says nothing of it; the inbox is the listing itself. */
const DEFAULT: readonly NotifierConfig[] = [{ type: 'log' }];

export async function notifyApprover(dependencies: Dependencies, notification: Notification): Promise<Notified> {
  const { log } = dependencies;
  const { channel, request } = notification;
  const configured = notifiersOf(dependencies, channel);
  const notice = await noticeOf(dependencies, notification);
  const { told, failed } = await tellAll(
    configured.map((config) => openNotifier(config, { log })),
    notice,
  );
  const { session, callId } = request;
  for (const { type, reason } of failed)
    log.warn(
      { channel, session, callId, notifier: type, reason },
      'people could not be told of a request; it waits on',
    );
  if (told.length > 0 || configured.length === 0) return { told, failed };
  // Nobody was reached: the log is then the only place where somebody may find it.
  const last = await tellAll([openNotifier({ type: 'log' }, { log })], notice);
  return { told: last.told, failed };
}

function notifiersOf({ settings }: Dependencies, channel: string): readonly NotifierConfig[] {
  const { channels } = settings().config;
  return (Object.hasOwn(channels, channel) ? channels[channel]?.notify : undefined) ?? DEFAULT;
}

async function noticeOf(dependencies: Dependencies, notification: Notification): Promise<Notice> {
  const { request } = notification;
  const at = Date.now();
  const [view, link] = [await viewOf(dependencies, request, at), linkOf(dependencies, request)];
  return {
    ...notification,
    id: noticeId(),
    at,
    ...(view && { view: withoutSecrets(view) }),
    ...(link !== undefined && { link }),
  };
}

/** The same for each try of this activity. */
function noticeId(): string {
  const { workflowExecution, activityId } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  return `msg_${createHash('sha256')
    .update(JSON.stringify([workflowId, runId, activityId]))
    .digest('hex')
    .slice(0, 32)}`;
}

const QUERY_MS = 3_000;

/** What the call says of its request; undefined where it does not answer, or says something else than what is asked. */
async function viewOf(
  { client, log }: Dependencies,
  request: ApprovalRequest,
  now: number,
): Promise<RequestView | undefined> {
  try {
    const handle = client.workflow.getHandle(callWorkflowId(request), request.runId);
    const details: unknown = await client.withDeadline(now + QUERY_MS, () => handle.query(CALL_MESSAGE.approval));
    if (details === null) return undefined;
    if (!isApprovalDetails(details) || !isOfRequest(details, request)) {
      log.warn(
        { session: request.session, callId: request.callId },
        'what the call shows is not what it asks for; people are told its name only',
      );
      return undefined;
    }
    const preview = await previewHere({ ...details, request });
    return describeRequest(details, { ...(preview && { preview }), route: request.route, now });
  } catch {
    // It ended in the meantime, or its worker is busy: people are told its name.
    return undefined;
  }
}

const isOfRequest = (details: ApprovalDetails, request: ApprovalRequest): boolean =>
  shownDigest({ ...details, request }) === request.digest;

function linkOf({ client, uiUrl }: Dependencies, request: ApprovalRequest): string | undefined {
  if (uiUrl === undefined) return undefined;
  return `${uiUrl}/namespaces/${client.options.namespace}/workflows/${encodeURIComponent(callWorkflowId(request))}`;
}
