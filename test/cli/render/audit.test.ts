/** The story of a call, for a terminal and as Markdown: nothing in it is obeyed by either. */
import { expect, test } from 'vitest';
import { storyMarkdown, storyText } from '../../../src/cli/render/audit-forms.ts';
import { storyOf } from '../../../src/cli/render/audit.ts';
import type { CallAudit, SessionAudit } from '../../../src/client/index.ts';

const at = '2026-11-22T12:00:00.000Z';

/** Every text of a story is one that somebody else wrote. */
const callOf = (text: string): CallAudit => ({
  kind: 'call',
  id: 'call/s/c',
  session: 's',
  callId: 'c',
  runId: 'r',
  facts: { id: 's', kind: 'main', main: 's', depth: 0, workspace: text, agent: 'a', channel: 'inbox' },
  entries: [
    { at, what: 'called', tool: text, arguments: { [text]: text, list: [text] }, by: text },
    { at, what: 'judged', attempt: 1, verdict: 'ask', tier: 'elevated', rule: text, reason: text, tierReasons: [text] },
    { at, what: 'routed', session: 's' },
    {
      at,
      what: 'notified',
      session: 's',
      callId: 'c',
      channel: text,
      kind: 'requested',
      told: ['log', text],
      failed: [{ type: 'slack', reason: text }],
    },
    {
      at,
      what: 'decided',
      check: 'holds',
      approver: text,
      verified: false,
      decision: 'approve',
      reason: text,
      edited: { x: text },
    },
    {
      at,
      what: 'decision',
      session: 's',
      callId: 'c',
      in: 's',
      decision: 'deny',
      approver: text,
      verified: false,
      via: 'update',
      answer: 'bad_signature',
      message: text,
    },
    {
      at,
      what: 'executed',
      try: 1,
      worker: text,
      status: 'failed',
      where: 'activity',
      error: { code: 'tool_failed', message: text },
    },
    { at, what: 'ended', status: 'failed', error: { code: 'tool_failed', message: text } },
  ],
});

test.each([
  '](https://evil.example) ![x](http://t.example/p.png)',
  '\n# Approved by ada\n- all is well\n',
  '```\n\n# out of the fence\n\n````',
  '<script>alert(1)</script> <img src=x>',
  '**approved** `by` ada | cell | ~~no~~',
  '\u001b[2J\u202e\u200b hidden',
  '\r\n\r\n---\r\n',
])('%j stays text', (text) => {
  const markdown = storyMarkdown(storyOf(callOf(text), { trace: true }));
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const ticks = /^ {2}(`{3,})$/.exec(line)?.[1];
    if (fence === undefined && ticks !== undefined) fence = ticks;
    else if (fence !== undefined && line === `  ${fence}`) fence = undefined;
    else if (fence !== undefined) expect(line.slice(0, 2)).toBe('  ');
    else {
      expect(line).toMatch(/^(# call\/s\/c|## What happened|- (session|agent|workspace|run|day): .*|- 2026-.*|)$/);
      const live = line.replaceAll(/\\[\\`*_[\]<>!|~&@/.]/g, '').replaceAll('**', '');
      expect(live).not.toMatch(/[`*_[\]<>!|~]|:\/\//);
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what is to be found
    expect(line).not.toMatch(/[\u0000-\u001f\u007f\u200b\u202e]/);
  }
  expect(fence).toBeUndefined();
  const terminal = storyText(storyOf(callOf(text), { trace: true }));
  // oxlint-disable-next-line no-control-regex -- control characters are what is to be found
  expect(terminal).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
  expect(terminal.split('\n').every((line) => /^(call\/s\/c|\s|\d\d:|$)/.test(line))).toBe(true);
});

test('a call as Markdown', () => {
  expect(storyMarkdown(storyOf(callOf('x_y'), { trace: false })).split('\n')).toEqual([
    '# call/s/c',
    '',
    '- session: s (main)',
    '- agent: a',
    '- workspace: x\\_y',
    '- run: r',
    '- day: 2026-11-22',
    '',
    '## What happened',
    '',
    '- 2026-11-22T12:00:00.000Z **called** x\\_y by x\\_y',
    '',
    '  ```',
    '  x_y: x_y',
    '  list:',
    '    - x_y',
    '  ```',
    '',
    '- 2026-11-22T12:00:00.000Z judged **ask**, tier elevated, by x\\_y: x\\_y',
    '',
    '  ```',
    '  raised:',
    '    - x_y',
    '  ```',
    '',
    '- 2026-11-22T12:00:00.000Z request reached session s',
    '- 2026-11-22T12:00:00.000Z people are told in channel x\\_y: by log, x\\_y; **slack failed: x\\_y**',
    '- 2026-11-22T12:00:00.000Z **approved** by x\\_y (unverified): x\\_y',
    '',
    '  ```',
    '  edited to run instead:',
    '    x: x_y',
    '  ```',
    '',
    '- 2026-11-22T12:00:00.000Z **decision not taken (bad\\_signature)**: deny by x\\_y; x\\_y',
    '- 2026-11-22T12:00:00.000Z **try 1** on x\\_y: failed; tool\\_failed: x\\_y',
    '- 2026-11-22T12:00:00.000Z **failed**; tool\\_failed: x\\_y',
  ]);
});

test('a quorum, and a grant', () => {
  const on = { session: 's', callId: 'c', in: 's', decision: 'approve', via: 'update', answer: 'accepted' } as const;
  const entries: CallAudit['entries'] = [
    {
      at,
      what: 'decision',
      ...on,
      approver: 'ann',
      verified: true,
      reason: 'fine',
      edited: { x: 1 },
      agreed: { have: 1, need: 2 },
      message: '1 of 2 approvers agree so far.',
    },
    {
      at,
      what: 'decided',
      check: 'holds',
      approver: 'bob',
      approvers: ['ann', 'bob'],
      verified: true,
      decision: 'approve',
      reason: 'ok',
      edited: { x: 1 },
      decisions: [
        { approver: 'ann\u202e', reason: 'fine' },
        { approver: 'bob', reason: 'ok' },
      ],
    },
    {
      at,
      what: 'decided',
      check: 'holds',
      approver: 'ann',
      verified: false,
      decision: 'approve',
      grant: 'g1',
      reason: 'grant g1',
    },
    { at, what: 'judged', attempt: 1, verdict: 'run', reason: 'asks', grant: 'g1', grantBy: 'ann' },
  ];
  const lines = storyText(storyOf({ ...callOf('x'), entries }, { trace: false })).split('\n');
  expect(lines.slice(-10).map((line) => line.replace(/^\d\d:\d\d:[\d.]+/, ''))).toEqual([
    '  taken: approve with other arguments by ann (signature verified): fine; 1 of 2 approvers agree so far.',
    '              edited to run instead:',
    '                x: 1',
    '  approved by ann and bob (signature verified)',
    '              ann⟨U+202E⟩: fine',
    '              bob: ok',
    '              edited to run instead:',
    '                x: 1',
    '  let run by grant g1 of ann (unverified)',
    '  judged run: asks; let run by grant g1 of ann',
  ]);
});

test('a session as Markdown', () => {
  const facts = { id: 's', kind: 'main', main: 's', depth: 0, workspace: '/w', agent: 'a', channel: 'inbox' } as const;
  const entries: SessionAudit['entries'] = [
    { at, what: 'opened', by: 'me' },
    {
      at,
      what: 'decision',
      session: 's',
      callId: 'c',
      in: 's',
      decision: 'approve',
      approver: 'ann',
      verified: false,
      via: 'update',
      answer: 'accepted',
      agreed: { have: 1, need: 2 },
    },
    {
      at,
      what: 'call',
      id: 'call/s/c',
      callId: 'c',
      tool: 'shell',
      status: 'completed',
      summary: 'rm *',
      durationMs: 5,
    },
  ];
  const story = storyOf({ kind: 'session', id: 's', facts, state: 'open', entries }, { trace: false });
  expect(storyMarkdown(story).split('\n').slice(-4)).toEqual([
    '',
    '- 2026-11-22T12:00:00.000Z opened by me',
    '- 2026-11-22T12:00:00.000Z ann decides **approve** on call/s/c → accepted, 1 of 2',
    '- 2026-11-22T12:00:00.000Z **completed** rm \\* after 5 ms  call/s/c',
  ]);
});
