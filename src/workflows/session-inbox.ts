/** The order of what waits in a session's inbox, and how much of it: pure. */
import { LIMITS } from '../protocol/limits.ts';
import { approvalKey } from './approvals.ts';
import type { Message } from './session-state.ts';

/**
 * Messages about one call stay in order; calls do not wait for each other. Only a decision whose sender waits for the answer comes before
 * those sent by signal, of which anybody can send any number.
 */
export function byCall(batch: readonly Message[]): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of batch) {
    const key = groupOf(message);
    const group = groups.get(key);
    if (!group) groups.set(key, [message]);
    else if (!isAsked(message)) group.push(message);
    else group.splice(group.findLastIndex((one) => !isSignalled(one)) + 1, 0, message);
  }
  return groups;
}

const isAsked = (message: Message): boolean => message.kind === 'decide' && message.ticket !== undefined;
const isSignalled = (message: Message): boolean => message.kind === 'decide' && message.ticket === undefined;

/** What a message is about: a call, the grants, or all of its kind. */
export function groupOf(message: Message): string {
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
    case 'addGrant':
    case 'revokeGrant':
      return 'grant';
    default:
      return message.kind;
  }
}

/** How many of one kind about one call may wait: each takes milliseconds, and what comes later waits for all of them. */
const WAITING = 20;

/** How many messages like this one may wait. Of notices no more are kept than these; that of a child's end waits for nothing. */
export function mostOf({ kind }: Message): number {
  if (kind === 'childEnded' || kind === 'granted') return Infinity;
  return kind === 'notice' ? LIMITS.notices : WAITING;
}
