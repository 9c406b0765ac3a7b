import { describe, expect, it } from 'vitest';
import { type Event, firstState } from '../../../src/cli/inbox/state.ts';
import type { DecisionAnswerStatus } from '../../../src/protocol/approval.ts';
import { after, listing, looking, row, shown, size, withOthers } from './inbox.fixture.ts';

const list = (...names: string[]) => after(firstState(size), listing(...names)).state;
const answer = (of: ReturnType<typeof shown>, status: DecisionAnswerStatus): Event => ({
  on: 'answered',
  shown: of,
  decision: 'approve',
  answer: { answer: status, message: 'so it is' },
});

describe('the list', () => {
  it.each([
    ['', 'a'],
    ['↓', 'b'],
    ['j', 'b'],
    ['↓↓↓↓', 'd'],
    ['⇲k', 'c'],
    ['⇲⇱', 'a'],
    ['↑', 'a'],
    ['⇟', 'd'],
    ['⇟⇞', 'a'],
  ])('%j chooses %s', (keys, name) => {
    expect(after(list('a', 'b', 'c', 'd'), `${keys}⏎`).effects).toEqual([{ do: 'open', id: `call/s1/${name}` }]);
  });

  it('keeps the choice with its request while the list moves', () => {
    const { state } = after(list('a', 'b', 'c'), '↓', listing('x', 'y', 'a', 'b'));
    expect(state.selected).toBe('call/s1/b');
    expect(after(state, '⏎').effects).toEqual([{ do: 'open', id: 'call/s1/b' }]);
  });

  it.each([
    [['a', 'c'], 'call/s1/c'],
    [['a'], 'call/s1/a'],
    [[], undefined],
  ])('when the chosen one is gone and %j is left, chooses %s', (left, id) => {
    expect(after(list('a', 'b', 'c'), '↓', listing(...left)).state.selected).toBe(id);
  });

  it.each(['y', 'n', 'e', 'g', 'u'])('takes no decision: %s', (key) => {
    expect(after(list('a'), key).effects).toEqual([]);
    // What Enter then does is to look.
    expect(after(list('a'), `${key}⏎`).effects).toEqual([{ do: 'open', id: 'call/s1/a' }]);
  });

  it('opens nothing where nothing is', () => {
    expect(after(list(), '⏎y⏎').effects).toEqual([]);
  });

  it('is refreshed on demand, and says when it is old', () => {
    expect(after(list('a'), 'r').effects).toEqual([{ do: 'refresh' }]);
    const old = after(list('a'), { on: 'unlisted', problem: 'no server' }).state;
    expect([old.problem, old.rows.length]).toEqual(['no server', 1]);
    expect(after(old, listing('a')).state.problem).toBeUndefined();
  });
});

describe('opening', () => {
  it('shows only what was asked for last', () => {
    const opening = after(list('a', 'b'), '⏎⎋↓⏎').state;
    expect(after(opening, { on: 'opened', shown: shown('a') }).state.page).toEqual({ at: 'opening', id: 'call/s1/b' });
    const b = shown('b');
    expect(after(opening, { on: 'opened', shown: b }).state.page).toEqual({
      at: 'request',
      shown: b,
      scroll: 0,
      seen: 19,
    });
  });

  it('takes no decision before the request is there', () => {
    expect(after(list('a'), '⏎y⏎', { on: 'opened', shown: shown('a') }).state.page).toMatchObject({
      at: 'request',
      scroll: 0,
    });
    expect(after(list('a'), '⏎y⏎').effects).toEqual([{ do: 'open', id: 'call/s1/a' }]);
  });

  it('goes back with the reason when it can not be shown', () => {
    const { state } = after(list('a'), '⏎', { on: 'not_opened', id: 'call/s1/a', problem: 'gone' });
    expect([state.page, state.notice]).toEqual([{ at: 'list' }, { tone: 'bad', text: 'Not shown:', foreign: 'gone' }]);
    expect(after(list('a'), '⏎', { on: 'not_opened', id: 'call/s1/b', problem: 'gone' }).state.page.at).toBe('opening');
  });
});

describe('approving', () => {
  it('takes y and Enter, and decides on the very object that is shown', () => {
    const b = shown('b');
    const { state, effects } = after(looking(b), 'y⏎');
    expect(effects).toEqual([{ do: 'approve', shown: b }]);
    expect(effects[0]).toHaveProperty('shown', b);
    expect(effects[0] && 'shown' in effects[0] && effects[0].shown === b).toBe(true);
    expect(state.busy).toBe('approving');
  });

  it.each(['y', 'yy', 'yyy', 'yn', 'y ', 'y⎋⏎', '⏎', 'Y⏎', 'y⎋y⎋⏎'])('%j approves nothing', (keys) => {
    expect(after(looking(), keys).effects).toEqual([]);
  });

  it('is not done by what is pasted', () => {
    expect(after(looking(), { on: 'key', key: { name: 'paste', text: 'y\r' } }).effects).toEqual([]);
    expect(after(looking(), 'y', { on: 'key', key: { name: 'paste', text: '\r' } }).effects).toEqual([]);
  });

  it('is of the request that is looked at, wherever the list has moved to meanwhile', () => {
    const b = shown('b');
    const { effects } = after(
      looking(b),
      'y',
      listing('x', 'b', 'a'),
      listing('b'),
      { on: 'opened', shown: shown('a') },
      '⏎',
    );
    expect(effects).toEqual([{ do: 'approve', shown: b }]);
  });

  it.each([
    ['is gone', listing('a', 'c')],
    ['is another one by now', { on: 'listed', rows: [row('b', { digest: 'sha256:other' })] } satisfies Event],
  ])('is refused where the request %s', (_, event) => {
    for (const keys of ['y⏎', 'nno⏎', 'e', 'g⏎']) expect(after(looking(), event, keys).effects).toEqual([]);
    for (const key of ['y', 'n', 'e', 'g']) {
      expect(after(looking(), event, key).state.notice?.text).toBe(
        'It does not wait any more in this form. r looks again, Esc goes back.',
      );
    }
    expect(after(looking(), event, 'r').effects).toEqual([{ do: 'open', id: 'call/s1/b' }]);
  });

  it('is done once, however often the keys come', () => {
    expect(after(looking(), 'y⏎y⏎⏎').effects).toHaveLength(1);
  });

  it.each([
    ['accepted', 'list', 'good'],
    ['already_decided', 'list', 'good'],
    ['conflict', 'list', 'bad'],
    ['not_pending', 'list', 'bad'],
    ['digest_mismatch', 'list', 'bad'],
    ['bad_signature', 'request', 'bad'],
    ['invalid_edit', 'request', 'bad'],
  ] as const)('%s leads to the %s', (status, at, tone) => {
    const b = shown('b');
    const { state, effects } = after(looking(b), 'y⏎', answer(b, status));
    expect([state.page.at, state.busy, state.notice]).toEqual([
      at,
      undefined,
      { tone, text: `#BBBBBB ${status}`, foreign: 'so it is' },
    ]);
    expect(effects.at(-1)).toEqual({ do: 'refresh' });
  });

  it.each([
    ['accepted', 'approve', undefined, '; held until countersign resume'],
    ['accepted', 'approve', { have: 1, need: 2 }, ''],
    ['already_decided', 'approve', undefined, ''],
    ['accepted', 'deny', undefined, ''],
  ] as const)('%s to %s, agreed %j, while the service is halted', (status, decision, agreed, words) => {
    const b = shown('b');
    const halted = { id: 'h', by: 'anna', reason: 'stop', at: 0 };
    const event: Event = {
      on: 'answered',
      shown: b,
      decision,
      answer: { answer: status, message: '', ...(agreed && { agreed }) },
    };
    expect(after({ ...looking(b), halted }, event).state.notice?.text).toBe(`#BBBBBB ${status}${words}`);
  });

  it('of one request does not take the person away from another', () => {
    const [b, c] = [shown('b'), shown('c')];
    const elsewhere = after(looking(b), 'y⏎⎋↓⏎', { on: 'opened', shown: c }, answer(b, 'accepted')).state;
    expect(elsewhere.page).toMatchObject({ at: 'request', shown: c });
  });
});

describe('denying', () => {
  const typed = (keys: string) =>
    after(looking(), `n${keys}⏎`).effects.map((effect) => ('reason' in effect ? effect.reason : effect.do));

  it.each([
    ['not today', ['not today']],
    [' yes? q ', ['yes? q']],
    ['nox⌫', ['no']],
    ['👍🏽a⌫', ['👍🏽']],
    ['', []],
    ['  ', []],
    ['x⎋', []],
  ])('%j sends %j', (keys, reasons) => {
    expect(typed(keys)).toEqual(reasons);
  });

  it('asks again for a reason', () => {
    const { state } = after(looking(), 'n⏎');
    expect(state.notice?.text).toBe('Say why: the model is told, and it is kept for audit.');
    expect(state.page).toMatchObject({ asking: { for: 'deny', text: '' } });
  });

  it('takes a paste as text on one line, and Ctrl-U and Ctrl-W as terminals do', () => {
    const paste: Event = { on: 'key', key: { name: 'paste', text: 'two\r\nlines' } };
    const ctrl = (letter: string): Event => ({ on: 'key', key: { name: 'ctrl', letter } });
    expect(after(looking(), 'n', paste, '⏎').effects).toMatchObject([{ do: 'deny', reason: 'two lines' }]);
    expect(after(looking(), 'n', paste, ctrl('w'), '⏎').effects).toMatchObject([{ reason: 'two' }]);
    expect(after(looking(), 'n', paste, ctrl('u'), 'no⏎').effects).toMatchObject([{ reason: 'no' }]);
  });
});

describe('editing', () => {
  const b = shown('b', { path: '/tmp/b' });
  const edited = (text: string) => after(looking(b), 'e', { on: 'edited', shown: b, text });

  it('opens the editor once, and decides nothing by itself', () => {
    expect(after(looking(b), 'ee').effects).toEqual([{ do: 'edit', shown: b }]);
    expect(edited('{"path":"/tmp/z"}').effects).toEqual([{ do: 'edit', shown: b }]);
  });

  it('approves with the new arguments after y and Enter', () => {
    const { state } = edited('{"path":"/tmp/z"}');
    expect(after(state, 'y⏎').effects).toMatchObject([
      { do: 'approve', shown: { open: b.open }, arguments: { path: '/tmp/z' } },
    ]);
    expect(after(state, 'uy⏎').effects).toEqual([{ do: 'approve', shown: { open: b.open } }]);
  });

  it.each([
    ['{"path":', 'What you wrote is not valid JSON'],
    ['[]', 'What you wrote must be a JSON object'],
    ['', 'What you wrote is not valid JSON'],
  ])('keeps %j for the next try and says what is wrong with it', (text, words) => {
    const { state } = edited(text);
    expect(state.notice?.foreign).toContain(words);
    expect(state.page).toMatchObject({ shown: { draft: text } });
    expect(after(state, 'y⏎').effects[0]).not.toHaveProperty('arguments');
  });

  it('changes nothing where nothing was changed', () => {
    const { state } = edited('{ "path": "/tmp/b" }\n');
    expect([state.notice?.text, state.page]).toMatchObject(['Nothing is changed.', { shown: b }]);
  });

  it('goes on after invalid_edit with what was written', () => {
    const { state } = edited('{"pth":1}');
    const at = state.page.at === 'request' ? state.page.shown : b;
    const refused = after(state, 'y⏎', {
      on: 'answered',
      shown: at,
      decision: 'approve',
      answer: { answer: 'invalid_edit', message: 'no', field: '/path' },
    }).state;
    expect(refused.notice?.text).toBe('#BBBBBB invalid_edit at /path');
    expect(after(refused, 'e').effects).toMatchObject([{ do: 'edit', shown: { draft: '{"pth":1}' } }]);
  });

  it('is over when the editor fails', () => {
    const { state } = after(looking(b), 'e', { on: 'failed', problem: 'no editor' });
    expect([state.busy, state.notice]).toEqual([
      undefined,
      { tone: 'bad', text: 'That did not work:', foreign: 'no editor' },
    ]);
  });
});

describe('agreeing', () => {
  it('approves with the arguments that others approve, once they are seen as one’s own', () => {
    const b = withOthers({ path: '/tmp/z' });
    const { state, effects } = after(looking(b), 's');
    expect([effects, state.page]).toMatchObject([[], { scroll: 0, shown: { edited: { path: '/tmp/z' } } }]);
    expect(after(state, 'y⏎').effects).toMatchObject([{ do: 'approve', arguments: { path: '/tmp/z' } }]);
    expect(after(state, 'uy⏎').effects).toEqual([{ do: 'approve', shown: { open: b.open } }]);
  });

  it.each([shown('b'), withOthers()])('changes nothing where others changed nothing', (b) => {
    const { state } = after(looking(b), 's');
    expect([state.page, state.notice?.text]).toMatchObject([
      { shown: b },
      'Nobody has approved it with other arguments.',
    ]);
  });
});

describe('granting', () => {
  it.each([
    ['g⏎', [3_600_000]],
    ['g⌫⌫30m⏎', [1_800_000]],
    ['g⌫⌫7d⏎', [604_800_000]],
    ['g⌫⌫⏎', []],
    ['g⌫⌫0h⏎', []],
    ['g⌫⌫1s⏎', []],
    ['g⎋⏎', []],
  ])('%s is for %j ms', (keys, times) => {
    const b = shown('b');
    expect(after(looking(b), keys).effects).toEqual(times.map((forMs) => ({ do: 'grant', shown: b, forMs })));
  });

  it('is not offered by a service that takes none, nor for changed arguments', () => {
    expect(after({ ...looking(), grants: false }, 'g⏎').effects).toEqual([]);
    const b = shown('b');
    expect(after(looking(b), 'e', { on: 'edited', shown: b, text: '{"path":"/tmp/z"}' }, 'g⏎').effects).toEqual([
      { do: 'edit', shown: b },
    ]);
  });
});

describe('the window', () => {
  const long = shown('b', { path: '/tmp/b', note: Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n') });

  it('scrolls within the request, and remembers how far it was read', () => {
    const page = (keys: string) => after(looking(long), keys).state.page;
    expect(page('↑')).toMatchObject({ scroll: 0, seen: 19 });
    expect(page('↓j')).toMatchObject({ scroll: 2, seen: 21 });
    expect(page('⇟ ')).toMatchObject({ scroll: 36, seen: 55 });
    expect(page('⇟⇞')).toMatchObject({ scroll: 0, seen: 37 });
    const end = page('⇲');
    expect(page('⇲↓⇟')).toEqual(end);
    expect(page('⇲⇱')).toMatchObject({ scroll: 0, seen: (end as { seen: number }).seen });
  });

  it('keeps its place at another size', () => {
    const taller = after(looking(long), '⇲', { on: 'resized', size: { columns: 100, rows: 200 } });
    expect(taller.state.page).toMatchObject({ scroll: 0 });
    expect(taller.effects).toEqual([{ do: 'repaint' }]);
  });

  it('decides nothing while it is too small to show what on', () => {
    const small = after(looking(), { on: 'resized', size: { columns: 59, rows: 24 } }).state;
    expect(after(small, 'y⏎nx⏎e').effects).toEqual([]);
    expect(after(small, 'q').effects).toEqual([{ do: 'quit', interrupted: false }]);
    expect(after(small, { on: 'resized', size }, 'y⏎').effects.map((effect) => effect.do)).toEqual([
      'repaint',
      'approve',
    ]);
  });
});

describe('quitting', () => {
  const ctrlC: Event = { on: 'key', key: { name: 'ctrl', letter: 'c' } };
  it.each(['', 'y', 'n', '?', '⎋'])('after %j, Ctrl-C interrupts', (keys) => {
    expect(after(looking(), keys, ctrlC).effects.at(-1)).toEqual({ do: 'quit', interrupted: true });
  });

  it('is q, but for a q that is typed', () => {
    expect(after(looking(), 'q').effects).toEqual([{ do: 'quit', interrupted: false }]);
    expect(after(looking(), '?q').effects).toEqual([{ do: 'quit', interrupted: false }]);
    expect(after(looking(), 'nq⏎').effects).toMatchObject([{ do: 'deny', reason: 'q' }]);
  });

  it('help is left by any key, which does nothing else', () => {
    const { state, effects } = after(looking(), '?y⏎');
    expect([state.help, effects]).toEqual([false, []]);
  });
});
