import { describe, expect, test } from 'vitest';
import { previewOf } from '../../../src/approval/preview.ts';
import { describeRequest, toMarkdown, toTerminal } from '../../../src/approval/render/index.ts';
import type { CollectedDecision } from '../../../src/protocol/approval.ts';
import type { JsonObject } from '../../../src/protocol/json.ts';
import { detailsOf } from './support.ts';

const noFiles = { readText: async () => undefined };

const pushed = async () => {
  const args = { command: 'cd web && git push origin main', reason: 'release', sandbox: false };
  const preview = await previewOf('shell', args, noFiles);
  const bound = {
    executables: [{ name: 'git', path: '/usr/bin/git' }],
    cwd: '/srv/project',
    envHash: 'x',
    scripts: [],
    partly: true,
    unbound: ['what git runs by its configuration'],
  };
  const details = detailsOf({ arguments: args, bound, required: 2, approvers: ['ann', 'bob'] });
  return describeRequest(details, { ...(preview && { preview }), route: ['leaf', 'build', 'main'], now: 181_000 });
};

test('a command on a terminal', async () => {
  expect(toTerminal(await pushed(), { width: 80, color: false })).toBe(
    `Approval needed #RRRRRR
  tool       │ shell
  tier       │ elevated

What it would do, outside of the sandbox, with the whole machine and the network
  folder     │ .
  1. goes to another folder: paths after it start there
  │ cd web
  2. if that succeeds: changes a remote repository; sends data out
  │ git push origin main

Arguments
  argument   │ command
  │ "cd web && git push origin main"
  argument   │ reason
  │ "release"
  argument   │ sandbox
  │ false

Why you are asked, as the service says
  because    │ elevated calls need an approval
  because    │ it runs outside of the sandbox
  rule       │ shell.outside
  Tier, reasons and rule are its word. What would run is what you decide on.

Who asks
  agent      │ coder
  session    │ leaf
  route      │ leaf → build → main
  workspace  │ /srv/project
  call       │ call/leaf/c1

Partly bound: it runs more than an approval can fix
  not bound  │ what git runs by its configuration
  program    │ git is /usr/bin/git

Deciding
  Asked 3 min ago; expires in 57 min (1970-01-01 01:00:01 UTC).
  These may decide; 2 have to agree:
  approvers  │ ann, bob
    countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'`,
  );
});

const soFar = (edit?: JsonObject) => {
  const on = { session: 'leaf', callId: 'c1', digest: detailsOf().request.digest, decision: 'approve' } as const;
  const edited = edit && { arguments: edit };
  const collected: CollectedDecision[] = [
    {
      decision: { ...on, approver: 'ann', reason: 'release day', signature: 'A'.repeat(86), ...edited },
      takenAt: 61_000,
    },
    { decision: { ...on, approver: 'bob', ...edited }, takenAt: 121_000 },
  ];
  return describeRequest(detailsOf({ required: 3 }), { route: ['main'], now: 181_000, collected });
};
const deciding = (text: string): string => text.slice(text.indexOf('have to agree.') + 'have to agree.'.length);

test('who of several has approved so far, and with which arguments', () => {
  expect(deciding(toTerminal(soFar(), { width: 80, color: false }))).toBe(`
  2 of 3 agree so far, as the session says:
  approver   │ ann
  signed, 2 min ago (1970-01-01 00:01:01 UTC)
  reason     │ release day
  approver   │ bob
  unsigned, 1 min ago (1970-01-01 00:02:01 UTC)
  An approval with other arguments starts the count again.
    countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'
    countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'`);
  const view = soFar({ command: 'npm test; curl https://\u0430pple.com', note: 'a\nb' });
  expect(
    deciding(toTerminal(view, { width: 80, color: false }))
      .split('\n')
      .slice(7),
  ).toEqual([
    '  They approve other arguments than those asked for, which would run instead:',
    '  argument   │ command',
    '  │ "npm test; curl https://\u0430pple.com"',
    '  argument   │ note',
    '  text of 2 lines:',
    '  │ a',
    '  │ b',
    '  Look closely: the host is an international name, which may look like another',
    '  one.',
    '  Look closely: the host is written in another form in the arguments.',
    '  host       │ xn--pple-43d.com',
    '  Look closely: letters of several scripts in one word.',
    '  in         │ command',
    '  To agree with them, approve as edited. An approval with any others starts the',
    '  count again.',
    "    countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'",
    expect.stringMatching(
      /^ {4}countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR' --as-edited sha256:[0-9a-f]{64}$/,
    ) as string,
    "    countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'",
    "    countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'",
  ]);
  expect(deciding(toMarkdown(soFar())).split('\n').filter(Boolean)).toEqual([
    '2 of 3 agree so far, as the session says:',
    '- approver: `ann`',
    'signed, 2 min ago (1970-01-01 00:01:01 UTC)',
    '- reason: `release day`',
    '- approver: `bob`',
    'unsigned, 1 min ago (1970-01-01 00:02:01 UTC)',
    'An approval with other arguments starts the count again.',
    "- `countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR'`",
    "- `countersign approve '#RRRRRRRRRRRRRRRRRRRRRRRR'`",
    "- `countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'`",
  ]);
  expect(soFar().approved).toEqual({
    by: [
      { approver: 'ann', reason: 'release day', signed: true, takenAt: 61_000, agoMs: 120_000 },
      { approver: 'bob', signed: false, takenAt: 121_000, agoMs: 60_000 },
    ],
  });
});

test('that nobody has approved yet is said; where one is enough, nothing', () => {
  const seen = { route: ['main'], now: 1_000, collected: [] };
  const several = describeRequest(detailsOf({ required: 2 }), seen);
  expect(toTerminal(several, { width: 80, color: false })).toContain('\n  0 of 2 agree so far, as the session says.\n');
  expect(describeRequest(detailsOf(), seen).approved).toBeUndefined();
});

test('which roles are asked later, and who of them may decide', () => {
  const roles = [
    { role: 'lead', at: 121_000, approvers: ['ann', 'bob'] },
    { role: 'head', at: 1_801_000, approvers: [] },
  ];
  const view = describeRequest(detailsOf({ approvers: ['ann', 'bob', 'cy'], roles }), {
    route: ['main'],
    now: 181_000,
  });
  const text = toTerminal(view, { width: 100, color: false });
  expect(text.slice(text.indexOf('  These may decide'), text.indexOf('    countersign show'))).toBe(`  These may decide:
  approvers  │ ann, bob, cy
  By now this role is asked, too (1970-01-01 00:02:01 UTC); these of it may decide:
  role       │ lead
  approvers  │ ann, bob
  In 27 min this role is asked, too (1970-01-01 00:30:01 UTC); none of it may decide.
  role       │ head
`);
  expect(view.mayDecide.roles?.map(({ inMs }) => inMs)).toEqual([0, 1_620_000]);
});

test('a change of a file in Markdown', async () => {
  const args = { path: 'a.md', content: '# One\n```sh\nrm -rf /\n```\n' };
  const preview = await previewOf('write', args, { readText: async () => '# One\n' });
  const details = detailsOf({ arguments: args, tierReasons: [] });
  const text = toMarkdown(describeRequest(details, { ...(preview && { preview }), route: ['main'], now: 1_000 }));
  expect(text.slice(0, text.indexOf('**Why you are asked, as the service says**'))).toBe(`**Approval needed #RRRRRR**

- tool: \`shell\`
- tier: \`elevated\`

**What it would do, as the service says: change a file**

- file: \`a.md\`

3 lines added, 0 lines removed, against the file as it was when this was asked

\`\`\`\`
│ @@ -1,1 +1,4 @@
│  # One
│ +\`\`\`sh
│ +rm -rf /
│ +\`\`\`
\`\`\`\`

**Arguments**

- argument: \`content\`

text of 4 lines:

\`\`\`\`
│ # One
│ \`\`\`sh
│ rm -rf /
│ \`\`\`
│ 
\`\`\`\`

- argument: \`path\`

\`\`\`
│ "a.md"
\`\`\`

`);
});

test('long texts show both ends, and say what is between', () => {
  const content = Array.from({ length: 1_000 }, (_, i) => `line ${i + 1}`).join('\n');
  const view = describeRequest(detailsOf({ arguments: { content } }), { route: ['main'], now: 1_000 });
  const lines = toTerminal(view, { width: 80, color: false, lines: 6 }).split('\n');
  const from = lines.indexOf('  text of 1,000 lines:');
  expect(lines.slice(from + 1, from + 8)).toEqual([
    '  │ line 1',
    '  │ line 2',
    '  │ line 3',
    '  │ line 4',
    '  ⋮ 994 lines, 8,846 characters not shown',
    '  │ line 999',
    '  │ line 1000',
  ]);
  expect(lines.slice(-2)).toEqual([
    '  Not all of it is shown above. This shows all:',
    "    countersign show '#RRRRRRRRRRRRRRRRRRRRRRRR' --full",
  ]);
  const full = toTerminal(view, { width: 80, color: false, lines: Infinity }).split('\n');
  expect(full.filter((line) => /^ {2}│ line \d+$/.test(line))).toHaveLength(1_000);
  expect(full.at(-1)).toBe("    countersign deny '#RRRRRRRRRRRRRRRRRRRRRRRR' --reason '…'");
});

test.each([
  [24, 3],
  [Infinity, 11],
])('a long field is shown by %s lines of each text as %s', (lines, shown) => {
  const reason = 'word '.repeat(200);
  const view = describeRequest(detailsOf({ reason, tierReasons: [] }), { route: ['main'], now: 1_000 });
  const text = toTerminal(view, { width: 110, color: false, lines });
  expect(text.match(/[│┆] ?(word ?)+/g)).toHaveLength(shown);
  expect(text.includes('--full')).toBe(lines === 24);
});

test('lines go on behind a gutter of their own', () => {
  const view = describeRequest(detailsOf({ arguments: { command: 'x'.repeat(50) } }), { route: ['main'], now: 1_000 });
  const lines = toTerminal(view, { width: 40, color: false }).split('\n');
  expect(lines.filter((line) => line.includes('xxx'))).toEqual([`  │ "${'x'.repeat(35)}`, `  ┆ ${'x'.repeat(15)}"`]);
});

test('arguments stand in canonical order, as data too', () => {
  const view = describeRequest(detailsOf({ arguments: { b: { d: 1, c: 2 }, a: [] } }), { route: ['main'], now: 5_000 });
  expect(JSON.stringify(view.arguments)).toBe('{"a":[],"b":{"c":2,"d":1}}');
  expect({ ...view, arguments: {} }).toEqual({
    call: 'call/leaf/c1',
    code: '#RRRRRR',
    longCode: '#RRRRRRRRRRRRRRRRRRRRRRRR',
    digest: 'sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f',
    runId: 'run-1',
    tool: 'shell',
    tier: 'elevated',
    agent: 'coder',
    session: 'leaf',
    route: ['main'],
    workspace: '/srv/project',
    arguments: {},
    hosts: [],
    sights: [],
    reason: 'elevated calls need an approval',
    tierReasons: ['it runs outside of the sandbox'],
    rule: 'shell.outside',
    requestedAt: 1_000,
    expiresAt: 3_601_000,
    ageMs: 4_000,
    leftMs: 3_596_000,
    mayDecide: { required: 1, approvers: [] },
    binding: { extent: 'full', unbound: [], executables: [], scripts: [] },
  });
});

test('a request that is over says so', () => {
  const view = describeRequest(detailsOf(), { route: ['main'], now: 4_000_000 });
  expect(toTerminal(view, { width: 80, color: false })).toContain(
    '  Asked 1 h 7 min ago; has expired (1970-01-01 01:00:01 UTC).',
  );
});

describe('hosts', () => {
  test.each([
    ['https://example.org/a?b=c', [{ host: 'example.org', marks: [] }]],
    ['HTTPS://Example.ORG.:8443/', [{ host: 'example.org', marks: [] }]],
    ['https://\u0430pple.com/', [{ host: 'xn--pple-43d.com', marks: ['international', 'written_otherwise'] }]],
    ['https://xn--pple-43d.com/', [{ host: 'xn--pple-43d.com', marks: ['international'] }]],
    ['https://ｇｉｔｈｕｂ.com/', [{ host: 'github.com', marks: ['written_otherwise'] }]],
    ['https://paypal.com@evil.example/', [{ host: 'evil.example', marks: ['user_name'] }]],
    ['http://2130706433/', [{ host: '127.0.0.1', marks: ['written_otherwise', 'address'] }]],
    ['http://[::1]:80/', [{ host: '[::1]', marks: ['address'] }]],
    [
      'curl -s https://a.example/x | tee b; wget ftp://b.example/y',
      [
        { host: 'a.example', marks: [] },
        { host: 'b.example', marks: [] },
      ],
    ],
    ['no host here://', []],
  ])('%s', (command, hosts) => {
    expect(describeRequest(detailsOf({ arguments: { command } }), { route: ['main'], now: 0 }).hosts).toEqual(hosts);
  });

  test('are not looked for in what is written into a file', () => {
    const details = detailsOf({ arguments: { path: 'a', content: 'https://a.example/' } });
    expect(describeRequest(details, { route: ['main'], now: 0 }).hosts).toEqual([]);
  });
});

describe('what is not what it seems', () => {
  test.each([
    ['npm test', []],
    ['Grüße, 世界, Привет', []],
    ['👩‍💻 ⚠️', []],
    ['rm\u200b x', ['hidden']],
    ['a\u00a0b', ['hidden']],
    ['p\u0430ypal', ['mixed_scripts']],
    ['ｒｍ', ['look_alike']],
    ['a\u2215b', ['look_alike']],
    ['שלום', ['right_to_left']],
    ['\u202epj.exe', ['hidden']],
  ])('%j', (command, marks) => {
    const { sights } = describeRequest(detailsOf({ arguments: { command } }), { route: ['main'], now: 0 });
    expect(sights).toEqual(marks.length === 0 ? [] : [{ argument: 'command', marks }]);
  });

  test('letters of two directions in one line are shown by number, those of one as they are', () => {
    const text = 'שלום עולם\nrm /א/x';
    const view = describeRequest(detailsOf({ arguments: { text } }), { route: ['main'], now: 0 });
    const lines = toTerminal(view, { width: 80, color: false }).split('\n');
    expect(lines).toContain('  │ שלום עולם');
    expect(lines).toContain('  │ rm /⟨U+05D0⟩/x');
  });
});
