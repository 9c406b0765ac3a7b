/** What people are told of a request: who is asked what by whom, a short excerpt, and how to decide. Never the whole, never a secret. */
import { foreignLines, shownCost } from '../approval/render/foreign.ts';
import type { RequestView } from '../approval/render/index.ts';
import { decisionCommands } from '../approval/render/index.ts';
import { safeLine } from '../approval/render/safe-text.ts';
import { span } from '../approval/render/times.ts';
import { excerpt } from '../approval/excerpt.ts';
import { redact, redactJson } from '../approval/redact.ts';
import { type Notification, longCode, shortCode } from '../protocol/approval.ts';
import { callWorkflowId } from '../protocol/ids.ts';
import { type Json, type JsonObject, isJsonObject } from '../protocol/json.ts';

export interface Notice extends Notification {
  /** The same for every repetition of one telling, so that receivers can tell repetitions from news. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** The request with secrets replaced; absent where the call could not be asked. */
  view?: RequestView;
  /** The call's page in the Temporal UI, where its address is known. */
  link?: string;
}

/** The view without what looks like a secret. A preview that was cut may hold half of one, so it goes as a whole. */
export function withoutSecrets(view: RequestView): RequestView {
  const { preview, ...rest } = view;
  const { arguments: args, ...others } = redactJson(rest as unknown as JsonObject) as unknown as typeof rest;
  const shown =
    preview === undefined || preview.secret
      ? undefined
      : (redactJson(preview as unknown as JsonObject) as unknown as typeof preview);
  return { ...others, arguments: args, ...(shown && { preview: shown }) };
}

const OPENINGS: Readonly<Record<Notification['kind'], string>> = {
  requested: 'Approval needed',
  reminder: 'Still waiting for approval',
  reassigned: 'Still waiting for approval, now asked of a role',
};

export const opening = ({ kind, request }: Notice): string => `${OPENINGS[kind]} ${shortCode(request.digest)}`;

/** Facts about the request, each on one line; the values are foreign, made safe and short. */
export function facts(notice: Notice): { name: string; value: string }[] {
  const { request, view, role, channel, at } = notice;
  const all: [string, string | undefined][] = [
    ['Tool', `${request.tool} (${request.tier})`],
    ['Agent', view?.agent],
    ['Session', (request.route.length > 0 ? request.route : [request.session]).join(' → ')],
    ['Because', view?.reason],
    ['Rule', view?.rule],
    [
      'Hosts',
      view === undefined || view.hosts.length === 0 ? undefined : view.hosts.map(({ host }) => host).join(', '),
    ],
    ['Asked of', role === undefined ? undefined : roleText(role, view)],
    ['Channel', channel],
    ['Call', callWorkflowId(request)],
    ['Expires', request.expiresAt > at ? `in ${span(request.expiresAt - at)}` : 'now'],
  ];
  return all.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: shortLine(value) }]));
}

/** The role, and who of it may decide, as far as that is known. */
function roleText(role: string, view: RequestView | undefined): string {
  const names = view?.mayDecide.roles?.find((asked) => asked.role === role)?.approvers;
  if (names === undefined) return `role ${role}`;
  return `role ${role}: ${names.length > 0 ? names.join(', ') : 'nobody of it may decide'}`;
}

export const commands = ({ request }: Notice): string[] => decisionCommands({ longCode: longCode(request.digest) });

/** At most so much of what would run goes where it is read by more people than decide. */
const SHOWN = { lines: 6, size: 480 };

/** A few lines of what would run, foreign, made safe; none where the call could not be asked. */
export function shortPreview({ view }: Notice): string[] {
  if (view === undefined) return [];
  const { head, left, tail } = foreignLines(telling(view), SHOWN);
  return [...head, ...(left === undefined ? [] : [`⋮ ${left}`]), ...tail].map(unlinked);
}

function telling({ arguments: args, preview }: RequestView): Parameters<typeof foreignLines>[0] {
  const command = Object.hasOwn(args, 'command') ? args['command'] : undefined;
  if (typeof command === 'string') return command;
  if (preview?.kind === 'diff') return { ...preview.diff, head: `${preview.path}\n${preview.diff.head}` };
  if (preview?.kind === 'message')
    return { ...preview.text, head: `to ${preview.to.join(', ')}\n${preview.text.head}` };
  return JSON.stringify(args);
}

/** The notice as plain text. Each foreign line stands behind `│`. */
export function noticeText(notice: Notice): string {
  const preview = shortPreview(notice);
  return [
    opening(notice),
    '',
    ...facts(notice).map(({ name, value }) => `${name.padEnd(9)}│ ${value}`),
    ...(preview.length === 0 ? [] : ['', 'What would run, in part:', ...preview.map((line) => `│ ${line}`)]),
    ...(notice.view === undefined ? ['', 'The call could not be asked for more; the command below shows it.'] : []),
    '',
    ...commands(notice).map((command) => `    ${command}`),
    ...(notice.link === undefined ? [] : ['', notice.link]),
    '',
  ].join('\n');
}

/** One foreign line, safe and of at most 200 characters, that no reader takes for a link. */
export function shortLine(text: string): string {
  const { head, tail, left } = excerpt(redact(text), { lines: 1_000, size: 200, costOf: shownCost });
  return unlinked(safeLine(left === undefined ? head : `${head} … ${tail ?? ''}`));
}

/** Readers of mail and chat make links of what looks like one; nobody should come from here to where a model wants them. */
export const unlinked = (text: string): string => text.replaceAll('://', '[:]//').replace(/\bwww\./gi, 'www[.]');

const TEXT_BYTES = 1_000;

/** Every text in a value cut to some length, both ends kept. */
export function withShortTexts<Value>(value: Value): Value {
  return shortened(value as Json) as Value;
}

function shortened(value: Json): Json {
  if (typeof value === 'string') {
    const { head, tail, left } = excerpt(value, { lines: 1_000, size: TEXT_BYTES });
    return left === undefined ? value : `${head} … ${left.characters} characters not shown … ${tail ?? ''}`;
  }
  if (Array.isArray(value)) return value.slice(0, 100).map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}
