/** A request for approval as its approver reads it: everything that would run, and nothing that could mislead the eye. */
import type { OpenRequest } from '../../client/index.ts';
import { paint } from '../io/output.ts';
import { objectLines } from './json-text.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { clock, span } from './time.ts';

export function requestText(open: OpenRequest, now = Date.now()): string {
  const { request, code, id, agent, workspace, tier, tierReasons, rule, reason, requestedAt } = open;
  const left = request.expiresAt - now;
  const why = [reason, ...tierReasons].filter((line, i, all) => all.indexOf(line) === i);
  return [
    `${paint('bold', safeLine(request.tool))}  ${paint('yellow', tier)}  ${code}`,
    '',
    ...objectLines(open.arguments),
    '',
    field('asked by', `agent ${safeLine(agent)} in session ${request.session}, ${span(now - requestedAt)} ago`),
    field('workspace', safeLine(workspace)),
    ...why.map((line, i) => field(i === 0 ? 'because' : '', safeLine(line))),
    field('rule', safeLine(rule)),
    field(
      'expires',
      left > 0 ? `in ${span(left)} (${clock(request.expiresAt)})` : `${clock(request.expiresAt)}, which is over`,
    ),
    field('call', id),
    field('digest', request.digest),
    '',
    `  countersign approve '${code}'`,
    `  countersign approve '${code}' --edit '{…}'   to run other arguments in place of these`,
    `  countersign deny '${code}' --reason '…'`,
  ].join('\n');
}

const field = (name: string, text: string): string => `  ${paint('dim', name.padEnd(10))} ${text}`;
