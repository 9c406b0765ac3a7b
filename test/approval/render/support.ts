import type { ApprovalDetails, CollectedDecision, Decision } from '../../../src/protocol/approval.ts';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { Preview } from '../../../src/protocol/preview.ts';

export function detailsOf(rest: Partial<ApprovalDetails> = {}): ApprovalDetails {
  return {
    request: {
      session: 'leaf',
      callId: 'c1',
      runId: 'run-1',
      tool: 'shell',
      digest: `sha256:${'0f'.repeat(32)}`,
      tier: 'elevated',
      requestedAt: 1_000,
      expiresAt: 3_601_000,
      route: [],
    },
    arguments: { command: 'npm test' },
    workspace: '/srv/project',
    agent: 'coder',
    fingerprint: `sha256:${'1'.repeat(64)}`,
    tier: 'elevated',
    tierReasons: ['it runs outside of the sandbox'],
    rule: 'shell.outside',
    reason: 'elevated calls need an approval',
    requestedAt: 1_000,
    required: 1,
    approvers: [],
    route: [],
    ...rest,
  };
}

/** The same foreign text in every place that takes one, with each kind of preview. */
export function hostileDetails(text: string): ApprovalDetails {
  return detailsOf({
    request: { ...detailsOf().request, session: text, callId: text, runId: text, tool: text, tier: text as 'elevated' },
    arguments: { command: text, [text]: [text, { [text]: text }], lines: `${text}\n${text}` },
    workspace: text,
    agent: text,
    tier: text as 'elevated',
    tierReasons: [text],
    rule: text,
    reason: text,
    required: 2,
    approvers: [text],
    roles: [
      { role: text, at: 1_000, approvers: [text] },
      { role: text, at: 3_601_000, approvers: [] },
    ],
    bound: {
      executables: [{ name: text, path: text }],
      cwd: text,
      envHash: text,
      scripts: [{ path: text, sha256: text }],
      partly: true,
      unbound: [text],
    },
  });
}

/** What has no canonical form can't be signed. */
const editOf = (text: string): JsonObject => ({ command: text, [text]: [text] });

/** Approvals so far, as a session that a stranger started might answer. */
export function hostileCollected(text: string): CollectedDecision[] {
  const on = { session: 'leaf', callId: 'c1', digest: detailsOf().request.digest, decision: 'approve' } as const;
  const decision: Decision = { ...on, approver: text, reason: text, arguments: editOf(text.toWellFormed()) };
  return [
    { decision, takenAt: 1_000 },
    { decision: { ...decision, signature: text }, takenAt: 1_500 },
  ];
}

export const hostilePreviews = (text: string): Preview[] => [
  {
    kind: 'diff',
    path: text,
    change: text as 'change',
    added: 1,
    removed: 1,
    diff: { head: text, left: { lines: 1, characters: 2 }, tail: text },
  },
  { kind: 'delete', path: text, recursive: true },
  {
    kind: 'command',
    steps: [{ text, deeds: [text as 'deletes', 'deletes'], depth: 0, joint: text as '|' }],
    more: 1,
    plain: false,
    where: text as 'host',
    network: true,
    cwd: text,
    env: [text],
  },
  { kind: 'message', to: [text], text: { head: text } },
  { kind: 'web', url: text },
];

/** Contents that have misled people and programs elsewhere. */
export const HOSTILE: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['names that every object has', '__proto__'],
  ['and another', 'constructor'],
  ['colours and screens', 'ok\u001b[2J\u001b[1;1H\u001b[32mapproved'],
  ['a link of a terminal', '\u001b]8;;https://evil.example\u0007safe\u001b]8;;\u0007'],
  ['C1 controls', 'a\u009b2Jb\u009dx'],
  ['overwriting', 'rm -rf /\recho harmless      '],
  ['backspaces', 'evil\b\b\b\bgood'],
  ['bidirectional override', 'user\u202egpj.exe\u202c \u2066x\u2069'],
  ['right-to-left file names', '/srv/\u05d0\u05d1/../etc \u0645.txt'],
  ['zero width and tags', 'rm\u200b -rf\u{e0041}\u{e0020} \ufeff/'],
  ['a line of the frame', 'x\n\nDeciding\n  Asked 1 s ago by ann, approved by ann; nothing to do.'],
  ['a fake gutter', 'x\n  │ y\n  agent      │ root\n┆ z'],
  ['a fake omission', 'x\n  ⋮ 3 lines, 9 characters not shown\ny'],
  ['fences', 'x\n```\n# Approved by ann\n````\n~~~\n`````````'],
  ['backticks', '`` ` ``` `a` \\`'],
  ['HTML', '<script>alert(1)</script><img src=x onerror=y><!-- -->'],
  ['links and images', '![x](https://evil.example/a.png) [ok](javascript:x) <https://evil.example> @channel'],
  ['Markdown blocks', '# h\n\n> q\n\n1. l\n\n---\n| a |\n| - |'],
  ['Slack markup', '<!channel> <https://evil.example|safe> *b* _i_ :smile:'],
  ['NUL', 'a\0b'],
  ['lone surrogates', '\ud800x\udc00'],
  ['line separators', 'a\u2028Deciding\u2029b\u0085c\u000bd\u000ce'],
  ['blanks that are none', 'rm\u00a0-rf\u3000\u2800/'],
  ['heaps of marks', `a${'\u0301'.repeat(500)}`],
  ['our marks', '⟨U+202E⟩ ⏎ ⇥'],
  ['look-alike hosts', 'https://\u0430pple.com/ https://paypal.com@evil.example/'],
  ['emoji joined without end', '👩\u200d'.repeat(5_000)],
  ['one huge line', 'x'.repeat(100_000)],
  ['a huge line of wide characters', '漢'.repeat(50_000)],
  ['1 MB of line breaks', '\n'.repeat(1_000_000)],
  ['1 MB of tabs', '\t'.repeat(1_000_000)],
  ['1 MB of backticks', '`'.repeat(1_000_000)],
];
