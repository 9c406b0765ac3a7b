/**
 * The request as rows, the same for every form. A row's own words are ours; everything else in it is foreign, and the form
 * keeps it behind its gutter. So nothing that a model wrote can pass for a line of the frame, whatever it says.
 */
import { type Deed, DEEDS, type Excerpt, type Joint, type Preview } from '../../protocol/preview.ts';
import type { Json } from '../../protocol/json.ts';
import { HOST_MARKS, SIGHT_MARKS } from './look-alikes.ts';
import { safeJson } from './safe-text.ts';
import { span, utc } from './times.ts';
import type { ArgumentsView, RequestView, RoleView } from './view.ts';

export type Tone = 'plain' | 'good' | 'careful';

export type Row =
  | { kind: 'title'; text: string }
  | { kind: 'heading'; text: string; tone?: Tone }
  | { kind: 'note'; text: string; tone?: Tone }
  /** A short foreign text under a name of ours. */
  | { kind: 'field'; name: string; text: string }
  /** Foreign text of any length. `diff`: its lines begin with their signs. */
  | { kind: 'block'; text: string | Excerpt; look?: 'diff' }
  | { kind: 'command'; text: string };

export function documentOf(view: RequestView): Row[] {
  return [
    { kind: 'title', text: `Approval needed ${view.code}` },
    { kind: 'field', name: 'tool', text: view.tool },
    { kind: 'field', name: 'tier', text: view.tier },
    ...(view.preview === undefined ? [] : previewRows(view.preview)),
    ...argumentRows(view),
    { kind: 'heading', text: 'Why you are asked, as the service says' },
    ...unique([view.reason, ...view.tierReasons]).map((text): Row => ({ kind: 'field', name: 'because', text })),
    { kind: 'field', name: 'rule', text: view.rule },
    { kind: 'note', text: 'Tier, reasons and rule are its word. What would run is what you decide on.' },
    { kind: 'heading', text: 'Who asks' },
    { kind: 'field', name: 'agent', text: view.agent },
    { kind: 'field', name: 'session', text: view.session },
    ...(view.route.length > 1 ? [{ kind: 'field', name: 'route', text: view.route.join(' → ') } as const] : []),
    { kind: 'field', name: 'workspace', text: view.workspace },
    { kind: 'field', name: 'call', text: view.call },
    ...bindingRows(view),
    ...decisionRows(view),
  ];
}

/** The commands that decide, on exactly this request; made of our own letters only. */
export const decisionCommands = ({ longCode, approved }: Pick<RequestView, 'longCode' | 'approved'>): string[] => [
  `countersign show '${longCode}'`,
  ...(approved?.edited ? [`countersign approve '${longCode}' --as-edited ${approved.edited.digest}`] : []),
  `countersign approve '${longCode}'`,
  `countersign deny '${longCode}' --reason '…'`,
];

function decisionRows(view: RequestView): Row[] {
  const { required, approvers, roles = [] } = view.mayDecide;
  const agree = required > 1 ? `; ${required} have to agree` : '';
  const left = view.leftMs > 0 ? `expires in ${span(view.leftMs)}` : 'has expired';
  return [
    { kind: 'heading', text: 'Deciding' },
    { kind: 'note', text: `Asked ${span(view.ageMs)} ago; ${left} (${utc(view.expiresAt)}).` },
    ...(approvers.length === 0
      ? [{ kind: 'note', text: `Anybody who reaches this service may decide${agree}.` } as const]
      : [
          { kind: 'note', text: `These may decide${agree}:` } as const,
          { kind: 'field', name: 'approvers', text: approvers.join(', ') } as const,
        ]),
    ...roles.flatMap(roleRows),
    ...approvedRows(view),
    ...decisionCommands(view).map((text): Row => ({ kind: 'command', text })),
  ];
}

function roleRows({ role, at, inMs, approvers }: RoleView): Row[] {
  const who = approvers.length > 0 ? 'these of it may decide:' : 'none of it may decide.';
  return [
    { kind: 'note', text: `${inMs > 0 ? `In ${span(inMs)}` : 'By now'} this role is asked, too (${utc(at)}); ${who}` },
    { kind: 'field', name: 'role', text: role },
    ...(approvers.length > 0 ? [{ kind: 'field', name: 'approvers', text: approvers.join(', ') } as const] : []),
  ];
}

/** Also who approved so far is the word of a session, which a stranger may have started. */
function approvedRows({ approved, mayDecide }: RequestView): Row[] {
  if (!approved) return [];
  const { by, edited } = approved;
  const others: Row[] = edited
    ? [
        {
          kind: 'note',
          text: 'They approve other arguments than those asked for, which would run instead:',
          tone: 'careful',
        },
        ...valueRows(edited),
        {
          kind: 'note',
          text: 'To agree with them, approve as edited. An approval with any others starts the count again.',
        },
      ]
    : [{ kind: 'note', text: 'An approval with other arguments starts the count again.' }];
  return [
    {
      kind: 'note',
      text: `${by.length} of ${mayDecide.required} agree so far, as the session says${by.length > 0 ? ':' : '.'}`,
    },
    ...by.flatMap(({ approver, reason, signed, takenAt, agoMs }): Row[] => [
      { kind: 'field', name: 'approver', text: approver },
      { kind: 'note', text: `${signed ? 'signed' : 'unsigned'}, ${span(agoMs)} ago (${utc(takenAt)})` },
      ...(reason === undefined ? [] : [{ kind: 'field', name: 'reason', text: reason } as const]),
    ]),
    ...(by.length > 0 ? others : []),
  ];
}

function bindingRows({ binding }: RequestView): Row[] {
  const { extent, unbound, executables, scripts } = binding;
  const said: Row =
    extent === 'full'
      ? { kind: 'heading', text: 'Fully bound: exactly this runs, once', tone: 'good' }
      : { kind: 'heading', text: 'Partly bound: it runs more than an approval can fix', tone: 'careful' };
  return [
    said,
    ...unbound.map((text): Row => ({ kind: 'field', name: 'not bound', text })),
    ...executables.map(({ name, path }): Row => ({ kind: 'field', name: 'program', text: `${name} is ${path}` })),
    ...scripts.map(({ path, sha256 }): Row => ({ kind: 'field', name: 'script', text: `${path} ${sha256}` })),
  ];
}

function warningRows({ hosts, sights }: ArgumentsView): Row[] {
  return [
    ...hosts.flatMap(({ host, marks }): Row[] => [
      ...marks.map((mark): Row => ({
        kind: 'note',
        text: `Look closely: the host is ${HOST_MARKS[mark]}.`,
        tone: 'careful',
      })),
      { kind: 'field', name: 'host', text: host },
    ]),
    ...sights.flatMap(({ argument, marks }): Row[] => [
      ...marks.map((mark): Row => ({ kind: 'note', text: `Look closely: ${SIGHT_MARKS[mark]}.`, tone: 'careful' })),
      { kind: 'field', name: 'in', text: argument },
    ]),
  ];
}

// ── arguments ───────────────────────────────────────────────────────────────

const argumentRows = (view: ArgumentsView): Row[] => [
  { kind: 'heading', text: Object.keys(view.arguments).length === 0 ? 'No arguments' : 'Arguments' },
  ...valueRows(view),
];

const valueRows = (view: ArgumentsView): Row[] => [
  ...Object.entries(view.arguments).flatMap(([name, value]) => argumentRow(name, value)),
  ...warningRows(view),
];

/** Text of several lines as lines, all else as JSON; which of both is said outside of the gutter. */
function argumentRow(name: string, value: Json): Row[] {
  const named: Row = { kind: 'field', name: 'argument', text: name };
  if (typeof value === 'string' && value.includes('\n')) {
    return [
      named,
      { kind: 'note', text: `text of ${counted(lineCount(value), 'line')}:` },
      { kind: 'block', text: value },
    ];
  }
  return [named, { kind: 'block', text: safeJson(value, 2) }];
}

function lineCount(text: string): number {
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

// ── previews ────────────────────────────────────────────────────────────────

/**
 * Previews come with the request, so their words are foreign; what they may say in our name is a choice among our own. What a file held
 * is known to the service alone, so that what is compared with it stands there as its word.
 */
function previewRows(preview: Preview): Row[] {
  switch (preview.kind) {
    case 'diff': {
      const change = chosen(CHANGES, preview.change);
      const counts = `${counted(Number(preview.added), 'line')} added, ${counted(Number(preview.removed), 'line')} removed`;
      return [
        {
          kind: 'heading',
          text:
            change === undefined
              ? 'What it would do: change a file; what that holds now is not known here'
              : `What it would do, as the service says: ${change}`,
        },
        { kind: 'field', name: 'file', text: preview.path },
        {
          kind: 'note',
          text: `${counts}, ${change === undefined ? 'by the arguments alone' : 'against the file as it was when this was asked'}`,
        },
        { kind: 'block', text: preview.diff, look: 'diff' },
      ];
    }
    case 'delete':
      return [
        {
          kind: 'heading',
          text: `What it would do: delete ${preview.recursive === true ? 'this and all in it' : 'this'}, for good`,
          tone: 'careful',
        },
        { kind: 'field', name: 'path', text: preview.path },
      ];
    case 'command':
      return commandRows(preview);
    case 'message':
      return [
        { kind: 'heading', text: 'What it would do: send this message' },
        ...preview.to.map((text): Row => ({ kind: 'field', name: 'to', text })),
        { kind: 'block', text: preview.text },
      ];
    case 'web':
      return [
        { kind: 'heading', text: 'What it would do: reach this address' },
        { kind: 'field', name: 'url', text: preview.url },
      ];
    default:
      return [];
  }
}

/** What a word of the request stands for among ours; a word like `constructor` stands for nothing. */
const chosen = (words: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(words, name) ? words[name] : undefined;

const CHANGES = {
  create: 'write a new file',
  change: 'change a file',
  none: 'leave the file as it is',
  refused: 'fail, the file being what it is',
} as const;

const PLACES = {
  sandbox: 'in the sandbox, without network',
  host: 'outside of the sandbox, with the whole machine and the network',
  nowhere: 'nowhere: the shell is switched off',
} as const;

const JOINTS: Readonly<Record<Joint, string>> = {
  '|': 'fed with its output',
  '&&': 'if that succeeds',
  '||': 'if that fails',
  ';': 'then',
  '&': 'at the same time',
};

function commandRows(preview: Extract<Preview, { kind: 'command' }>): Row[] {
  const { steps, more, plain, where, cwd, env } = preview;
  return [
    {
      kind: 'heading',
      text: `What it would do, ${chosen(PLACES, where) ?? PLACES.host}`,
      tone: where === 'sandbox' ? 'plain' : 'careful',
    },
    { kind: 'field', name: 'folder', text: cwd },
    ...(env.length === 0 ? [] : [{ kind: 'field', name: 'variables', text: env.join(', ') } as const]),
    ...steps.flatMap(({ joint, text, deeds, depth }, i): Row[] => {
      const how = joint === undefined ? (depth > 0 ? 'within it' : '') : (chosen(JOINTS, joint) ?? '');
      const what = deeds.filter((deed) => Object.hasOwn(DEEDS, deed)).map((deed) => DEEDS[deed]);
      const tone: Tone = deeds.some((deed) => CAREFUL.has(deed)) ? 'careful' : 'plain';
      return [
        { kind: 'note', text: `${i + 1}. ${how === '' ? '' : `${how}: `}${what.join('; ')}`, tone },
        { kind: 'block', text },
      ];
    }),
    ...(more > 0
      ? [{ kind: 'note', text: `and ${counted(more, 'more command')}, not listed`, tone: 'careful' } as const]
      : []),
    ...(plain
      ? []
      : [
          {
            kind: 'note',
            text: 'It is more than plain words, so what is listed is a guess.',
            tone: 'careful',
          } as const,
        ]),
  ];
}

const CAREFUL: ReadonlySet<Deed> = new Set([
  'deletes',
  'deletes_trees',
  'sends',
  'installs',
  'runs_text',
  'other_rights',
  'machine',
  'remote',
  'dangerous',
  'unknown',
]);

const counted = (value: number, noun: string): string =>
  `${Number.isFinite(value) ? value.toLocaleString('en-US') : '?'} ${noun}${value === 1 ? '' : 's'}`;

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].filter((text) => text !== '');
