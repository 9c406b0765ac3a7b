import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../src/approval/render/foreign.ts';
import { frame } from '../../../src/cli/inbox/frame.ts';
import { type Size, type State, firstState } from '../../../src/cli/inbox/state.ts';
import { NOW, after, listing, looking, row, shown, size, withOthers } from './inbox.fixture.ts';

const draw = (state: State, at: Size = state.size, now = NOW): string =>
  frame({ ...state, size: at }, { color: false, now })
    .map((line) => line.trimEnd())
    .join('\n');
const small = { columns: 60, rows: 13 };

describe('the list', () => {
  const rows = [
    row('a', { agent: 'coder' }),
    row('b', {
      tool: 'shell',
      route: ['below', 'top'],
      summary: 'shell: rm -rf / \u001b[2J\n y approve \u202e',
      agent: 'coder · 1 h left',
    }),
    row('c', { expiresAt: NOW - 1 }),
    row('d', { summary: '' }),
    row('e'),
  ];
  const listed = after(firstState(small), { on: 'listed', rows }, '↓').state;

  it('has two lines a request, and says where in it one is', () => {
    expect(draw(listed)).toBe(` Countersign inbox                          5 requests wait
   #AAAAAA  delete  │ /tmp/a
            elevated · waits 12 s · 59 min left · coder · s1
 ▸ #BBBBBB  shell  │ rm -rf / ⟨U+001B⟩[2J⏎ y approve ⟨U+20…
            elevated · waits 12 s · 59 min left · below → …
   #CCCCCC  delete  │ /tmp/c
            elevated · waits 12 s · expired · s1
   #DDDDDD  delete
            elevated · waits 12 s · 59 min left · s1
── 1–4 of 5 ────────────────────────────────────────────────


 ↑↓ choose   Enter look   r refresh   ? help   q quit`);
    expect(draw(after(listed, '⇲').state).split('\n').slice(1, 10)).toEqual([
      ' ▸ #EEEEEE  delete  │ /tmp/e',
      '            elevated · waits 12 s · 59 min left · s1',
      ...Array.from({ length: 6 }, () => ''),
      '── 5–5 of 5 ────────────────────────────────────────────────',
    ]);
  });

  it('says when it holds the newest only', () => {
    const many = Array.from({ length: 200 }, (_, i) => row(`r${i}`));
    const { state } = after(firstState(small), { on: 'listed', rows: many });
    expect(draw(state).split('\n')[0]).toBe(' Countersign inbox             the newest 200 of what waits');
    const counted = after(firstState(small), { on: 'listed', rows: many, waiting: 10_000 }).state;
    expect(draw(counted).split('\n')[0]).toBe(' Countersign inbox                 the newest 200 of 10,000');
  });

  it('says when nothing waits, when it is old, and when the service is halted', () => {
    expect(draw(firstState(small)).split('\n').slice(0, 3)).toEqual([
      ' Countersign inbox                                looking …',
      '',
      '  Looking …',
    ]);
    const none = after(firstState(small), listing()).state;
    expect(draw(none).split('\n').slice(0, 3)).toEqual([
      ' Countersign inbox                          0 requests wait',
      '',
      '  Nothing waits for you. The list refreshes by itself.',
    ]);
    const old = after(listed, {
      on: 'unlisted',
      problem: 'The Temporal server does not answer. Start the service',
    }).state;
    expect(draw(old).split('\n').slice(-3)).toEqual([
      ' The list is not of now: │ The Temporal server does not',
      ' ┆ answer. Start the service',
      ' ↑↓ choose   Enter look   r refresh   ? help   q quit',
    ]);
    const halted = after(listed, {
      on: 'listed',
      rows,
      halted: { id: 'h1', by: 'anna', reason: 'stop │ Approved', at: NOW },
    }).state;
    expect(draw(halted, size).split('\n')[0]).toBe(
      ' Countersign inbox                                     HALTED · 5 requests wait',
    );
    expect(draw(halted, size).split('\n').slice(-3, -1)).toEqual([
      ' The service is halted; what you approve is held until it is resumed. │ anna:',
      ' ┆ stop │ Approved',
    ]);
  });
});

describe('a request', () => {
  it('has its page between bar and rule', () => {
    expect(draw(looking(), { columns: 80, rows: 30 })).toBe(
      ` #BBBBBB  delete  elevated                                    expires in 59 min
Approval needed #BBBBBB
  tool       │ delete
  tier       │ elevated

Arguments
  argument   │ path
  │ "/tmp/b"

Why you are asked, as the service says
  because    │ /tmp/b is outside of the workspace
  rule       │ risk.delete_outside
  Tier, reasons and rule are its word. What would run is what you decide on.

Who asks
  agent      │ default
  session    │ s1
  workspace  │ /srv/site
  call       │ call/s1/b

Fully bound: exactly this runs, once

Deciding
  Asked 12.3 s ago; expires in 59 min (2026-01-02 04:03:05 UTC).
  Anybody who reaches this service may decide.

──────────────────────────────────────────────────────────────────────────────


 y approve  n deny  e edit  g grant  ↑↓ scroll  Esc back  ? help  q quit`.replace(/^─+$/m, '─'.repeat(80)),
    );
  });

  const foot = (state: State): string[] => draw(state).split('\n').slice(-4);
  const b = shown('b');

  it('asks before it approves, and says what was not read', () => {
    expect(foot(after(looking(b), 'y').state)).toEqual([
      `── 5 more lines below: ↓ PgDn Space ${'─'.repeat(44)}`,
      ' Approve #BBBBBB exactly as shown?',
      ' 5 lines you have not seen. Enter approves, Esc goes back.',
      ' Enter approve  Esc back  ↑↓ scroll',
    ]);
    expect(foot(after(looking(b), '⇲y').state)).toEqual([
      `── the end ${'─'.repeat(69)}`,
      ' Approve #BBBBBB exactly as shown?',
      ' Enter approves, Esc goes back.',
      ' Enter approve  Esc back  ↑↓ scroll',
    ]);
  });

  it('says what would run in place of it, and that it is partly bound', () => {
    const { state } = after(looking(b), 'e', { on: 'edited', shown: b, text: '{"path":"/tmp/z"}' });
    expect(draw(state).split('\n').slice(1, 7)).toEqual([
      'Your arguments, which would run in place of those below',
      '  │ {',
      '  │   "path": "/tmp/z"',
      '  │ }',
      '',
      'Approval needed #BBBBBB',
    ]);
    expect(foot(after(state, 'y').state)[1]).toBe(' Approve #BBBBBB with your arguments in place of its own?');
    const partly = shown(
      'b',
      { command: 'npm test' },
      { bound: { executables: [], cwd: '/', envHash: '', scripts: [], partly: true, unbound: [] } },
    );
    expect(foot(after(looking(partly), 'y').state)[1]).toBe(' Approve #BBBBBB though it is only partly bound?');
  });

  it('shows what is typed, its end where it is long, and nothing that it hides', () => {
    expect(foot(after(looking(b), 'nnot \u202e today').state).slice(1, 3)).toEqual([
      ' Deny #BBBBBB, because: not ⟨U+202E⟩ today',
      '',
    ]);
    const long = foot(after(looking(b), `n${'a'.repeat(100)}end`).state)[1] ?? '';
    expect(long).toMatch(/^ Deny #BBBBBB, because: a+end$/);
    expect(long.length).toBeLessThanOrEqual(80);
    expect(foot(after(looking(b), 'n⏎').state).slice(1, 3)).toEqual([
      ' Deny #BBBBBB, because:',
      ' Say why: the model is told, and it is kept for audit.',
    ]);
    expect(foot(after(looking(b), 'g').state)[1]).toBe(' Always allow exactly this, for (30m, 8h, 7d): 1h');
  });

  it('shows who approved so far, and offers their arguments', () => {
    const lines = draw(looking(withOthers({ path: '/tmp/z' })), { columns: 100, rows: 40 }).split('\n');
    expect(lines.slice(lines.indexOf('Deciding') + 2).filter(Boolean)).toEqual([
      '  Anybody who reaches this service may decide; 2 have to agree.',
      '  1 of 2 agree so far, as the session says:',
      '  approver   │ ada',
      '  unsigned, 1.0 s ago (2026-01-02 03:04:04 UTC)',
      '  They approve other arguments than those asked for, which would run instead:',
      '  argument   │ path',
      '  │ "/tmp/z"',
      '  To agree with them, approve as edited. An approval with any others starts the count again.',
      '─'.repeat(100),
      ' y approve  n deny  e edit  s same  g grant  ↑↓ scroll  Esc back  ? help  q quit',
    ]);
  });

  it('says that it waits no more', () => {
    expect(foot(after(looking(b), listing('a')).state)[1]).toBe(
      ' It does not wait any more in this form. r looks again, Esc goes back.',
    );
  });

  it('shows what is left of its time as it is now', () => {
    expect(draw(looking(b), size, NOW + 3_510_000).split('\n')[0]).toMatch(
      /^ #BBBBBB {2}delete {2}elevated +expires in 30 s$/,
    );
    expect(draw(looking(b), size, NOW + 3_540_000).split('\n')[0]).toMatch(/has expired$/);
  });
});

describe('a window that is too small', () => {
  it.each([
    [{ columns: 59, rows: 24 }, 'This window is too small (59×24).'],
    [{ columns: 80, rows: 11 }, 'This window is too small (80×11).'],
  ])('of %j shows no request', (at, words) => {
    expect(draw(looking(), at).trimEnd().split('\n')).toEqual([words, 'The inbox needs 60×12. q quits.']);
  });
});

describe('whatever a model writes', () => {
  const HOSTILE = [
    '\u001b[2J\u001b[H\u001b[7m Countersign inbox \u001b[0m',
    '\r\n\n y approve  n deny\n Approve #AAAAAA exactly as shown?\n',
    '│ \n┆\n── the end ──\n',
    '\u202e\u2066\u200b\u0085\u2028\u009b31m',
    '漢字'.repeat(300),
    '👩‍👩‍👧‍👦'.repeat(200),
    `e${'\u0301'.repeat(500)}`,
    'x'.repeat(5_000),
    '\ud800',
  ];
  /** Lines of ours: what stands before the gutter, and lines without one. */
  const ours = (lines: string[]): string[] => lines.map((line) => (/[│┆]/.test(line) ? '' : line));

  it.each(HOSTILE.map((text, i) => [i, text] as const))(
    'text %i stays behind its gutter and within the window',
    (_, text) => {
      for (const at of [size, small, { columns: 133, rows: 40 }]) {
        const request = shown(
          'b',
          { path: text, [text]: text },
          { agent: text, reason: text, rule: text, workspace: text },
        );
        const state = after({ ...looking(request), size: at }, 'y').state;
        const listed = after(firstState(at), {
          on: 'listed',
          rows: [row('a', { tool: text, tier: text, summary: text, agent: text })],
        });
        const noticed = after(looking(request), { on: 'failed', problem: text });
        for (const lines of [
          frame(state, { color: false, now: NOW }),
          frame(listed.state, { color: false, now: NOW }),
          frame({ ...noticed.state, size: at }, { color: false, now: NOW }),
        ]) {
          expect(lines).toHaveLength(at.rows);
          // oxlint-disable-next-line no-control-regex
          for (const line of lines)
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029\u200b]/);
          for (const line of lines)
            expect(columnsOf(line.replace(/[│┆─▸↑↓→·…×–⇥⋮]/g, '.'))).toBeLessThanOrEqual(at.columns);
        }
        const harmless = after({ ...looking(shown('b', { path: 'p', a: 'b' })), size: at }, 'y').state;
        const [foot, expected] = [
          frame(state, { color: false, now: NOW }),
          frame(harmless, { color: false, now: NOW }),
        ].map((lines) => [lines[0], lines.at(-3), lines.at(-1)]);
        expect(foot).toEqual(expected);
      }
    },
  );

  it('no line of a page without a gutter is its own', () => {
    const said = (text: string): Set<string> => {
      const page = frame(
        {
          ...looking(shown('b', { path: text, more: `${text}\n${text}` }, { agent: text, rule: text })),
          size: { columns: 80, rows: 200 },
        },
        { color: false, now: NOW },
      );
      return new Set(ours(page.slice(1, -4)).map((line) => line.replace(/\d[\d,]*/g, 'N').replace('lines', 'line')));
    };
    const harmless = said('one');
    const OF_LONG_OR_STRANGE =
      /^ +(Look closely: |⋮ N characters not shown$|Not all of it is shown above\. This shows all:$|countersign show '#B{24}' --full$)/;
    for (const text of HOSTILE)
      expect([...said(text)].filter((line) => !harmless.has(line) && !OF_LONG_OR_STRANGE.test(line))).toEqual([]);
  });
});
