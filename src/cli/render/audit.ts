/**
 * The story of a call or a session as lines, one for each thing that happened: the same for every form. Words are raw here; the form
 * makes them safe (audit-forms.ts).
 */
import { stripVTControlCharacters } from 'node:util';
import type {
  CallAudit,
  CallEntry,
  DecidedBy,
  DecisionEntry,
  NotifiedEntry,
  RouteEntry,
  SessionAudit,
  SessionEntry,
} from '../../client/index.ts';
import { explanationSteps } from './explanation.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import type { JsonObject } from '../../protocol/json.ts';
import { objectLines } from './json-text.ts';
import { clock, span } from './time.ts';

export type Look = 'strong' | 'dim' | 'good' | 'careful' | 'bad' | 'odd';

/** Words, or words with a look. */
export type Piece = string | { text: string; look: Look };

export interface Line {
  /** ISO 8601. */
  at: string;
  said: Piece[];
  /** Lines that are safe to look at, without colours. */
  below: string[];
}

export interface Story {
  kind: 'call' | 'session';
  title: string;
  fields: { name: string; text: string }[];
  lines: Line[];
}

interface Options {
  /** Every rule that had something to say. */
  trace: boolean;
}

export const storyOf = (audit: CallAudit | SessionAudit, options: Options): Story =>
  audit.kind === 'call' ? callStory(audit, options) : sessionStory(audit);

const strong = (text: string): Piece => ({ text, look: 'strong' });
const dim = (text: string): Piece => ({ text, look: 'dim' });
const field = (name: string, text: string | undefined): Story['fields'] => (text === undefined ? [] : [{ name, text }]);
const plain = (lines: string[]): string[] => lines.map(stripVTControlCharacters);

function callStory({ id, facts, runId, uiUrl, entries }: CallAudit, options: Options): Story {
  const under = facts && `${facts.id} (${facts.kind}${facts.parent === undefined ? '' : ` of ${facts.parent}`})`;
  const fields = [
    ...field('session', under),
    ...field('agent', facts?.agent),
    ...field('workspace', facts?.workspace),
    ...field('run', runId),
    ...field('page', uiUrl),
    ...field('day', entries[0] && clock(entries[0].at).slice(0, 10)),
  ];
  const lines = entries.map((entry) =>
    lineOf(
      entry.at,
      () => callSaid(entry),
      () => callBelow(entry, options),
    ),
  );
  return { kind: 'call', title: id, fields, lines };
}

/** A worker that is none of ours may have recorded any value in any place; what cannot be put into words ends no story. */
function lineOf(at: string, said: () => Piece[], below: () => string[] = () => []): Line {
  try {
    const pieces = said();
    if (pieces.every((piece) => typeof (typeof piece === 'string' ? piece : piece.text) === 'string'))
      return { at, said: pieces, below: below() };
  } catch {
    // Said below.
  }
  return { at, said: [UNREADABLE], below: [] };
}

const UNREADABLE: Piece = { text: 'recorded in another form than Countersign’s', look: 'odd' };

function callBelow(entry: CallAudit['entries'][number], { trace }: Options): string[] {
  switch (entry.what) {
    case 'called':
    case 'amended':
      return plain(objectLines(entry.arguments, ''));
    case 'judged':
      return plain([
        ...objectLines({ raised: entry.tierReasons ?? [] }, '').slice(entry.tierReasons?.length ? 0 : 1),
        ...(trace ? explanationSteps(entry.trace ?? []) : []),
      ]);
    case 'decided':
      return [...(entry.decisions ?? []).map(decidedByText), ...editedLines(entry.edited)];
    case 'decision':
      return editedLines(entry.edited);
    default:
      return [];
  }
}

const editedLines = (edited: JsonObject | undefined): string[] =>
  edited ? ['edited to run instead:', ...plain(objectLines(edited))] : [];

const decidedByText = ({ approver, reason, at }: DecidedBy): string =>
  safeLine(`${approver}${at === undefined ? '' : `, signed ${clock(at)}`}${reason === undefined ? '' : `: ${reason}`}`);

function callSaid(entry: CallAudit['entries'][number]): Piece[] {
  switch (entry.what) {
    case 'called':
      return [strong('called'), ` ${entry.tool} `, dim(`by ${entry.by}`)];
    case 'judged':
      return judged(entry);
    case 'not_judged':
      return [{ text: 'not judged', look: 'careful' }, `: ${entry.reason}`];
    case 'asks':
      return [
        { text: 'asks for approval', look: 'careful' },
        ` ${entry.code}, until ${clock(entry.expiresAt)} `,
        dim(entry.digest),
      ];
    case 'routed':
      return [`request reached session ${entry.session}`];
    case 'notified':
      return notified(entry);
    case 'needs_correction':
      return [{ text: 'waits for corrected arguments', look: 'careful' }, ` until ${clock(entry.until)}`];
    case 'amended':
      return [strong('amended'), `, attempt ${entry.attempt} `, dim(`by ${entry.by}`)];
    case 'decided':
      return decided(entry);
    case 'decision':
      return decision(entry);
    case 'unheard':
      return unheard(entry);
    case 'unreadable':
      return [UNREADABLE, `: ${entry.event}`];
    default:
      return lastWords(entry);
  }
}

function judged({
  attempt,
  verdict,
  tier,
  rule,
  reason,
  error,
  grant,
  grantBy,
}: Extract<CallEntry, { what: 'judged' }>): Piece[] {
  const look = verdict === 'run' ? 'good' : verdict === 'ask' ? 'careful' : 'bad';
  const by = rule === undefined ? '' : `, by ${rule}`;
  const why = error ? `${error.code}${error.field ? ` at ${error.field}` : ''}: ${error.message}` : (reason ?? '');
  const where = `${attempt > 1 ? `, attempt ${attempt}` : ''}${tier === undefined ? '' : `, tier ${tier}`}${by}`;
  return [
    'judged ',
    { text: verdict, look },
    `${where}: ${why}${grant === undefined ? '' : `; let run by grant ${grant} of ${grantBy ?? 'nobody'}`}`,
  ];
}

const NOTIFIED = { requested: 'people are told', reminder: 'people are reminded', reassigned: 'others are asked' };

function notified({ channel, kind, role, told, failed, running }: NotifiedEntry): Piece[] {
  const whom = `${NOTIFIED[kind]} in channel ${channel}${role === undefined ? '' : ` (role ${role})`}`;
  const how = running ? 'under way' : told.length === 0 ? 'by nothing' : `by ${told.join(', ')}`;
  const wrong = failed.flatMap(({ type, reason }): Piece[] => [
    '; ',
    { text: `${type} failed: ${reason}`, look: 'bad' },
  ]);
  return [`${whom}: ${how}`, ...wrong];
}

function decided(entry: Extract<CallEntry, { what: 'decided' }>): Piece[] {
  const {
    decision: what,
    approver,
    approvers = [approver],
    verified,
    reason,
    code,
    grant,
    override,
    decisions,
    check,
    why,
  } = entry;
  const because = reason === undefined ? '' : `: ${reason}`;
  if (check !== 'holds' && code === undefined) {
    const claim = grant === undefined ? `${what} in the name of` : `grant ${grant} in the name of`;
    const whose = `${claim} ${approvers.join(' and ')}${because}`;
    return check === 'refused'
      ? [{ text: 'decision refused', look: 'odd' }, `: ${whose}; ${why ?? ''}`]
      : [{ text: 'decision', look: 'careful' }, `: ${whose}; no check of it is on record`];
  }
  const word: Piece = what === 'approve' ? { text: 'approved', look: 'good' } : { text: 'denied', look: 'bad' };
  const how = `${verified ? 'signature verified' : 'unverified'}${override ? ', emergency override' : ''}`;
  if (grant !== undefined) return [{ text: 'let run', look: 'good' }, ` by grant ${grant} of ${approver} (${how})`];
  const who = code === undefined ? `${approvers.join(' and ')} (${how})` : `Countersign itself (${code})`;
  // Of several, each has a line with its own reason.
  return [word, ` by ${who}${decisions ? '' : because}`];
}

const unheard = ({ message, by }: { message: string; by: string }): Piece[] => [
  { text: 'not heard', look: 'odd' },
  `: a ${message} message of another form, or on something else `,
  dim(`by ${by || 'nobody named'}`),
];

function decision({
  decision: what,
  approver,
  verified,
  reason,
  answer,
  message,
  via,
  edited,
  agreed,
}: DecisionEntry): Piece[] {
  const why = reason === undefined ? '' : `: ${reason}`;
  const said = `${what}${edited ? ' with other arguments' : ''} by ${approver}`;
  if (agreed) {
    const how = verified ? 'signature verified' : 'unverified';
    return [{ text: 'taken', look: 'good' }, `: ${said} (${how})${why}; ${message ?? ''}`];
  }
  return answer === undefined
    ? [`decision by ${via}: ${said}${why}`]
    : [{ text: `decision not taken (${answer})`, look: 'odd' }, `: ${said}; ${message ?? ''}`];
}

type Told =
  | 'called'
  | 'judged'
  | 'not_judged'
  | 'asks'
  | 'needs_correction'
  | 'amended'
  | 'decided'
  | 'routed'
  | 'notified'
  | 'unheard'
  | 'unreadable';
type LastWords = Exclude<CallEntry | RouteEntry | NotifiedEntry, { what: Told }>;

function lastWords(entry: LastWords): Piece[] {
  switch (entry.what) {
    case 'executed': {
      const where = { preparation: ' within preparation', record: ' looked up in the record', activity: '' }[
        entry.where
      ];
      const took = entry.durationMs === undefined ? '' : ` after ${span(entry.durationMs)}`;
      const on = `${where} on ${entry.worker || 'no worker yet'}: ${entry.status}${exitOf(entry)}${took}${errorOf(entry)}`;
      return [strong(`try ${entry.try}`), on];
    }
    case 'waits':
      return [`waits ${span(entry.ms)}: ${entry.summary}`];
    case 'cancel_requested':
      return [
        { text: 'cancel requested', look: 'odd' },
        ` by ${entry.by}${entry.reason === undefined ? '' : `: ${entry.reason}`}`,
      ];
    case 'session_closing':
      return [{ text: 'its session closes', look: 'odd' }];
    case 'reset':
      return [{ text: 'reset by an operator', look: 'odd' }, `: ${entry.reason}`];
    case 'ended': {
      const { status, attempts, tries } = entry;
      const counts = attempts === undefined || tries === undefined ? '' : ` (attempts ${attempts}, tries ${tries})`;
      return [
        { text: status, look: status === 'completed' ? 'good' : 'bad' },
        `${exitOf(entry)}${counts}${errorOf(entry)}`,
      ];
    }
  }
}

const exitOf = ({ exitStatus }: { exitStatus?: number }): string =>
  exitStatus === undefined ? '' : `, exit status ${exitStatus}`;

const errorOf = ({ error }: { error?: { code: string; message: string } }): string =>
  error ? `; ${error.code}: ${error.message}` : '';

function sessionStory({ id, facts, state, uiUrl, entries }: SessionAudit): Story {
  const fields = [
    ...field('kind', `${facts.kind}, ${state}`),
    ...field('parent', facts.parent),
    ...field('agent', facts.agent),
    ...field('workspace', facts.workspace),
    ...field('page', uiUrl),
  ];
  const lines = entries.map((entry) => lineOf(entry.at, () => sessionSaid(entry)));
  return { kind: 'session', title: id, fields, lines };
}

function sessionSaid(entry: SessionAudit['entries'][number]): Piece[] {
  switch (entry.what) {
    case 'opened':
      return [`opened by ${entry.by}`];
    case 'child':
      return ['child session ', strong(entry.session), ` (${entry.kind}): ${entry.state}`];
    case 'call':
      return callLine(entry);
    case 'decision': {
      const edited = entry.edited ? ' with other arguments' : '';
      const so = entry.agreed ? `, ${entry.agreed.have} of ${entry.agreed.need}` : '';
      const of = `${edited} on call/${entry.session}/${entry.callId} → ${entry.answer ?? 'by signal'}${so}`;
      const reason = entry.reason === undefined ? '' : `: ${entry.reason}`;
      return [`${entry.approver} decides `, strong(entry.decision), `${of}${reason}`];
    }
    case 'unheard':
      return unheard(entry);
    case 'notice': {
      const of = entry.callId === undefined ? entry.session : `call/${entry.session}/${entry.callId}`;
      return [{ text: 'told', look: 'odd' }, ` of ${of}: ${entry.text}`];
    }
    case 'notified':
      return [...notified(entry), ` of call/${entry.session}/${entry.callId}`];
    case 'close_requested':
      return [`close requested by ${entry.by}: ${entry.reason}`];
    case 'closed':
      return [
        `closed: ${entry.reason}; ${entry.callsEnded} call(s) ended by it`,
        ...(entry.callsLeft > 0 ? [`, ${entry.callsLeft} told to end that had not`] : []),
      ];
  }
}

function callLine({ status, summary, tool, durationMs, id }: Extract<SessionEntry, { what: 'call' }>): Piece[] {
  const took = durationMs === undefined ? '' : ` after ${span(durationMs)}`;
  const look = status === 'completed' ? 'good' : status === 'running' || status === 'waiting' ? 'careful' : 'bad';
  return [{ text: status.padEnd(9), look }, ` ${summary ?? tool}${took}  `, dim(id)];
}
