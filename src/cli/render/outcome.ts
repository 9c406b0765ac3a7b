/** A call's outcome, and what it waits for, for people. */
import { isJsonObject, type Json } from '../../protocol/json.ts';
import type { ApprovalRecord } from '../../protocol/outcome.ts';
import type { OutcomeLine } from '../calls/outcome-line.ts';
import { paint } from '../io/output.ts';
import { heldLines } from './halted.ts';
import { objectLines } from './json-text.ts';
import { safeJson, safeLine, safeText } from '../../approval/render/safe-text.ts';
import { span } from './time.ts';

const COLOURS = {
  completed: 'green',
  waiting: 'yellow',
  running: 'yellow',
  denied: 'red',
  failed: 'red',
  invalid: 'red',
  expired: 'red',
  timed_out: 'red',
  cancelled: 'magenta',
  unknown: 'magenta',
} as const;

export const statusText = (status: keyof typeof COLOURS): string => paint([COLOURS[status], 'bold'], status);

/** What the tool made of it, then one line that says how the call stands, then what to type next. */
export function outcomeText(line: OutcomeLine): string {
  const id = `call/${line.session}/${line.callId}`;
  return [...resultLines(line), headLine(line, id), ...errorLines(line), ...nextSteps(line, id)].join('\n');
}

function headLine(line: OutcomeLine, id: string): string {
  const waiting = line.waitingFor === undefined ? '' : ` for ${line.waitingFor}`;
  const tries = line.tries > 1 ? `, ${line.tries} tries` : '';
  const attempts = line.attempts > 1 ? `, ${line.attempts} attempts` : '';
  return `${statusText(line.status)}${waiting}  ${safeLine(line.tool)}  ${paint('dim', `${span(line.durationMs)}${tries}${attempts}  ${id}`)}`;
}

function resultLines({ output, display, artifacts = [] }: OutcomeLine): string[] {
  const shown = display === undefined ? '' : safeText(display.trimEnd());
  // A single line is a title; below it stands what the model got.
  const body = shown.includes('\n') || output === undefined ? [] : outputLines(output);
  return [
    ...(shown === '' ? [] : [shown]),
    ...body,
    ...artifacts.map(({ hash, bytes, name, path }) =>
      paint('dim', `  artifact ${hash}  ${bytes} bytes  ${safeLine(path ?? name ?? '')}`),
    ),
  ];
}

const outputLines = (output: Json): string[] =>
  isJsonObject(output)
    ? objectLines(output)
    : [`  ${typeof output === 'string' ? safeText(output) : safeJson(output)}`];

function errorLines({ error, approval }: OutcomeLine): string[] {
  return [
    ...(error
      ? [
          `  ${paint('red', error.code)}${error.field ? ` at ${safeLine(error.field)}` : ''}: ${safeText(error.message)}`,
        ]
      : []),
    ...(approval ? approvalLines(approval) : []),
  ];
}

function approvalLines(approval: ApprovalRecord): string[] {
  const { arguments: instead } = approval;
  return [`  ${approvalText(approval)}`, ...(instead ? objectLines(instead, '    ') : [])];
}

function approvalText(record: ApprovalRecord): string {
  const { approver, approvers = [approver], verified, decision, reason, grant, edited } = record;
  const who = `${safeLine(approvers.join(' and '))}${verified ? '' : ' (unverified)'}`;
  if (grant !== undefined) return `let run by grant ${safeLine(grant)} of ${who}`;
  const instead = edited ? ', with other arguments' : '';
  return `${decision === 'approve' ? 'approved' : 'denied'} by ${who}${instead}${reason === undefined ? '' : `: ${safeLine(reason)}`}`;
}

function nextSteps({ status, waitingFor, longCode, held, error, callId }: OutcomeLine, id: string): string[] {
  if (held) return heldLines({ ...held, at: Date.parse(held.at) });
  if (status === 'running') return [`  It runs on. See what came of it: countersign result ${id}`];
  if (longCode !== undefined) {
    return [
      `  Look at it:   countersign show '${longCode}'`,
      `  Then decide:  countersign approve '${longCode}'`,
      `                countersign deny '${longCode}' --reason '…'`,
    ];
  }
  if (waitingFor === 'correction' && error?.code === 'unknown_tool') {
    return [`  A call keeps its tool. End it, and call the right one: countersign cancel ${id}`];
  }
  if (waitingFor === 'correction') {
    const required = requiredArguments(error?.schema);
    return [`  Correct it:   countersign amend ${id} '{${required}}'`, `  Or end it:    countersign cancel ${id}`];
  }
  return status === 'unknown' ? [`  Look whether ${callId} happened before you call again.`] : [];
}

function requiredArguments(schema: Json | undefined): string {
  if (!isJsonObject(schema ?? null)) return '…';
  const { required } = schema as { required?: Json };
  return Array.isArray(required) ? required.map((name) => `${safeJson(name)}: …`).join(', ') : '…';
}
