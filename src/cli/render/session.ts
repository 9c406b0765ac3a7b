/** A session for people. */
import type { SessionFacts, SessionState, SessionView } from '../../client/index.ts';
import { paint } from '../io/output.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { clock } from './time.ts';

type Shown = (SessionFacts & { state: SessionState }) & Partial<SessionView>;

export function sessionText(session: Shown): string {
  const { id, kind, state, parent, agent, workspace, channel, children, pending, notices = [] } = session;
  return [
    `${paint('bold', id)}  ${kind}  ${paint(state === 'open' ? 'green' : 'yellow', state)}`,
    field('agent', safeLine(agent)),
    field('workspace', safeLine(workspace)),
    ...(parent === undefined
      ? [field('channel', channel === null ? 'none: what has to be asked is denied' : safeLine(channel))]
      : [field('parent', parent)]),
    ...(children === undefined ? [] : [field('children', children.length === 0 ? 'none' : children.join(', '))]),
    ...(pending === undefined ? [] : [field('pending', String(pending))]),
    ...notices.map(({ at, text }) => field('notice', `${clock(at)} ${safeLine(text)}`)),
  ].join('\n');
}

const field = (name: string, text: string): string => `  ${paint('dim', name.padEnd(10))} ${text}`;
