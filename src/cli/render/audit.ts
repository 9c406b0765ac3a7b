/** The story of a call or a session, for people: one line for each thing that happened. */
import type {
  CallAudit,
  CallEntry,
  DecisionEntry,
  RouteEntry,
  SessionAudit,
  SessionEntry,
} from '../../client/index.ts';
import { paint } from '../io/output.ts';
import { explanationSteps } from './explanation.ts';
import { objectLines } from './json-text.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { clock, clockMs, span } from './time.ts';

interface Options {
  /** Every rule that had something to say. */
  trace: boolean;
}

export const auditText = (audit: CallAudit | SessionAudit, options: Options): string =>
  (audit.kind === 'call' ? callAudit(audit, options) : sessionAudit(audit)).join('\n');

function callAudit({ id, facts, runId, uiUrl, entries }: CallAudit, options: Options): string[] {
  const first = entries[0];
  return [
    paint('bold', id),
    ...(facts
      ? [
          field('session', `${facts.id} (${facts.kind}${facts.parent === undefined ? '' : ` of ${facts.parent}`})`),
          field('agent', safeLine(facts.agent)),
          field('workspace', safeLine(facts.workspace)),
        ]
      : []),
    field('run', runId),
    ...(uiUrl === undefined ? [] : [field('page', uiUrl)]),
    ...(first ? [field('day', clock(first.at).slice(0, 10))] : []),
    '',
    ...entries.flatMap((entry) => callEntry(entry, options)),
  ];
}

function callEntry(entry: CallAudit['entries'][number], { trace }: Options): string[] {
  const line = (text: string, ...below: string[]): string[] => [
    `${paint('dim', clockMs(entry.at))}  ${text}`,
    ...below.map((one) => `              ${one}`),
  ];
  switch (entry.what) {
    case 'called':
      return line(
        `${paint('bold', 'called')} ${safeLine(entry.tool)} ${paint('dim', `by ${safeLine(entry.by)}`)}`,
        ...objectLines(entry.arguments, ''),
      );
    case 'judged':
      return line(
        judged(entry),
        ...(entry.tierReasons ?? []).map((reason) => `raised: ${safeLine(reason)}`),
        ...(trace ? explanationSteps(entry.trace ?? []) : []),
      );
    case 'not_judged':
      return line(`${paint('yellow', 'not judged')}: ${safeLine(entry.reason)}`);
    case 'asks':
      return line(
        `${paint('yellow', 'asks for approval')} ${entry.code}, until ${clock(entry.expiresAt)} ${paint('dim', entry.digest)}`,
      );
    case 'routed':
      return line(`request reached session ${entry.session}`);
    case 'needs_correction':
      return line(`${paint('yellow', 'waits for corrected arguments')} until ${clock(entry.until)}`);
    case 'amended':
      return line(
        `${paint('bold', 'amended')}, attempt ${entry.attempt} ${paint('dim', `by ${safeLine(entry.by)}`)}`,
        ...objectLines(entry.arguments, ''),
      );
    case 'decided':
      return line(decided(entry), ...(entry.edited ? ['edited to run instead:', ...objectLines(entry.edited)] : []));
    case 'decision':
      return line(decision(entry));
    default:
      return line(lastWords(entry));
  }
}

function judged({ attempt, verdict, tier, rule, reason, error }: Extract<CallEntry, { what: 'judged' }>): string {
  const colour = verdict === 'run' ? 'green' : verdict === 'ask' ? 'yellow' : 'red';
  const by = rule === undefined ? '' : `, by ${safeLine(rule)}`;
  const why = error
    ? `${error.code}${error.field ? ` at ${safeLine(error.field)}` : ''}: ${safeLine(error.message)}`
    : safeLine(reason ?? '');
  return `judged ${paint(colour, verdict)}${attempt > 1 ? `, attempt ${attempt}` : ''}${tier === undefined ? '' : `, tier ${tier}`}${by}: ${why}`;
}

function decided({
  decision: what,
  approver,
  verified,
  reason,
  code,
}: Extract<CallEntry, { what: 'decided' }>): string {
  const word = what === 'approve' ? paint('green', 'approved') : paint('red', 'denied');
  const who =
    code === undefined
      ? `${safeLine(approver)} (${verified ? 'signature verified' : 'unverified'})`
      : `Countersign itself (${code})`;
  return `${word} by ${who}${reason === undefined ? '' : `: ${safeLine(reason)}`}`;
}

function decision({ decision: what, approver, answer, message, via, edited }: DecisionEntry): string {
  const said = `${what}${edited ? ' with other arguments' : ''} by ${safeLine(approver)}`;
  return answer === undefined
    ? `decision by ${via}: ${said}`
    : `decision not taken (${answer}): ${said}; ${safeLine(message ?? '')}`;
}

type LastWords = Exclude<
  CallEntry,
  { what: 'called' | 'judged' | 'not_judged' | 'asks' | 'needs_correction' | 'amended' | 'decided' }
>;

function lastWords(entry: Exclude<LastWords, RouteEntry>): string {
  switch (entry.what) {
    case 'executed': {
      const where =
        entry.where === 'preparation'
          ? ' within preparation'
          : entry.where === 'record'
            ? ' looked up in the record'
            : '';
      const took = entry.durationMs === undefined ? '' : ` after ${span(entry.durationMs)}`;
      return `${paint('bold', `try ${entry.try}`)}${where} on ${safeLine(entry.worker || 'no worker yet')}: ${entry.status}${took}${errorOf(entry)}`;
    }
    case 'waits':
      return `waits ${span(entry.ms)}: ${safeLine(entry.summary)}`;
    case 'cancel_requested':
      return `${paint('magenta', 'cancel requested')} by ${safeLine(entry.by)}${entry.reason === undefined ? '' : `: ${safeLine(entry.reason)}`}`;
    case 'session_closing':
      return paint('magenta', 'its session closes');
    case 'reset':
      return `${paint('magenta', 'reset by an operator')}: ${safeLine(entry.reason)}`;
    case 'ended': {
      const counts = [entry.attempts, entry.tries].every((count) => count !== undefined)
        ? ` (attempts ${entry.attempts}, tries ${entry.tries})`
        : '';
      return `${paint([entry.status === 'completed' ? 'green' : 'red', 'bold'], entry.status)}${counts}${errorOf(entry)}`;
    }
  }
}

const errorOf = ({ error }: { error?: { code: string; message: string } }): string =>
  error ? `; ${error.code}: ${safeLine(error.message)}` : '';

function sessionAudit({ id, facts, state, uiUrl, entries }: SessionAudit): string[] {
  return [
    `${paint('bold', id)}  ${facts.kind}  ${state}`,
    ...(facts.parent === undefined ? [] : [field('parent', facts.parent)]),
    field('agent', safeLine(facts.agent)),
    field('workspace', safeLine(facts.workspace)),
    ...(uiUrl === undefined ? [] : [field('page', uiUrl)]),
    '',
    ...entries.map((entry) => `${paint('dim', clock(entry.at))}  ${sessionEntry(entry)}`),
  ];
}

function sessionEntry(entry: SessionEntry | DecisionEntry): string {
  switch (entry.what) {
    case 'opened':
      return `opened by ${safeLine(entry.by)}`;
    case 'child':
      return `child session ${paint('bold', entry.session)} (${entry.kind}): ${entry.state}`;
    case 'call': {
      const took = entry.durationMs === undefined ? '' : ` after ${span(entry.durationMs)}`;
      const colour =
        entry.status === 'completed'
          ? 'green'
          : entry.status === 'running' || entry.status === 'waiting'
            ? 'yellow'
            : 'red';
      return `${paint(colour, entry.status.padEnd(9))} ${safeLine(entry.summary ?? entry.tool)}${took}  ${paint('dim', entry.id)}`;
    }
    case 'decision': {
      const word = entry.decision === 'approve' ? 'approve' : 'deny';
      const reason = entry.reason === undefined ? '' : `: ${safeLine(entry.reason)}`;
      return `${safeLine(entry.approver)} decides ${paint('bold', word)}${entry.edited ? ' with other arguments' : ''} on call/${entry.session}/${entry.callId} → ${entry.answer ?? 'by signal'}${reason}`;
    }
    case 'close_requested':
      return `close requested by ${safeLine(entry.by)}: ${safeLine(entry.reason)}`;
    case 'closed':
      return `closed: ${safeLine(entry.reason)}; ${entry.callsEnded} call(s) ended by it`;
  }
}

const field = (name: string, text: string): string => `  ${paint('dim', name.padEnd(10))} ${text}`;
