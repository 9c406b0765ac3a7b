import { describe, expect, it } from 'vitest';
import { objectLines } from '../../../src/cli/render/json-text.ts';
import { outcomeText } from '../../../src/cli/render/outcome.ts';
import { table, widthOf } from '../../../src/cli/render/table.ts';
import { span } from '../../../src/cli/render/time.ts';

describe('spans of time', () => {
  it.each([
    [0, '0 ms'],
    [41.4, '41 ms'],
    [1_000, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min'],
    [3_599_000, '1 h'],
    [3_900_000, '1 h 5 min'],
    [3 * 86_400_000, '3 d'],
    [-5, '0 ms'],
  ])('%d ms is %s', (ms, text) => expect(span(ms)).toBe(text));
});

describe('tables', () => {
  it('align columns by what characters take on a terminal', () => {
    expect(widthOf('日本é')).toBe(5);
    expect(
      table(
        ['A', 'B'],
        [
          ['日本', 'x'],
          ['abc', 'y'],
        ],
        80,
      ),
    ).toEqual(['A     B', '日本  x', 'abc   y']);
  });

  it('cut the last column to the terminal, and never when piped', () => {
    const rows = [['a', 'x'.repeat(100)]];
    expect(table(['A', 'B'], rows, 33)[1]).toBe(`a  ${'x'.repeat(29)}…`);
    expect(table(['A', 'B'], rows, undefined)[1]).toHaveLength(process.stdout.columns ? process.stdout.columns : 103);
  });
});

describe('arguments for people', () => {
  it('show text of several lines as a block, blanks at the ends in quotes, and hidden characters by number', () => {
    expect(
      objectLines({
        command: 'a\nb\u202e\n',
        path: ' x',
        list: ['a', 'b'],
        empty: '',
        on: true,
        more: { deep: 1 },
        '\u200bkey': 'v',
      }),
    ).toEqual([
      '  command:',
      '    │ a',
      '    │ b⟨U+202E⟩',
      '  path: " x"',
      '  list:',
      '    - a',
      '    - b',
      '  empty: ""',
      '  on: true',
      '  more:',
      '    deep: 1',
      '  ⟨U+200B⟩key: v',
    ]);
    expect(objectLines({})).toEqual(['  (none)']);
  });
});

describe('an outcome for people', () => {
  const base = { callId: 'c', session: 's', attempts: 1, tries: 1, durationMs: 41 };

  it('shows what the tool made of it, then how the call stands', () => {
    const text = outcomeText({
      ...base,
      tool: 'read',
      status: 'completed',
      output: { path: 'a', content: 'x\ny' },
      display: 'a: 2 lines',
    });
    expect(text).toBe('a: 2 lines\n  path: a\n  content:\n    │ x\n    │ y\ncompleted  read  41 ms  call/s/c');
  });

  it('says what to type next while it waits for a person', () => {
    const waits = { status: 'waiting', waitingFor: 'approval', longCode: '#ABCDEFGHJKLM', tries: 0 } as const;
    const text = outcomeText({ ...base, tool: 'shell', ...waits });
    expect(text).toContain("countersign approve '#ABCDEFGHJKLM'");
    expect(text).toContain("countersign deny '#ABCDEFGHJKLM' --reason '…'");
  });

  it('says what is wrong, where, and how to correct it', () => {
    const schema = { type: 'object', required: ['path', 'content'] };
    const error = {
      kind: 'ValidationError',
      code: 'invalid_arguments',
      message: 'no\u001b[31m',
      field: '/pa',
      schema,
    } as const;
    const text = outcomeText({ ...base, tool: 'write', status: 'waiting', waitingFor: 'correction', error, tries: 0 });
    expect(text).toContain('invalid_arguments at /pa: no⟨U+001B⟩[31m');
    expect(text).toContain(`countersign amend call/s/c '{"path": …, "content": …}'`);
  });

  it('says which grant let it run, and whose it is', () => {
    const approval = { approver: 'ann', verified: true, decision: 'approve', reason: 'grant g1', grant: 'g1' } as const;
    expect(
      outcomeText({ ...base, tool: 'shell', status: 'completed', approval })
        .split('\n')
        .at(-1),
    ).toBe('  let run by grant g1 of ann');
  });

  it('names the approver, and that nobody verified who it was', () => {
    const approval = { approver: 'ann', verified: false, decision: 'deny', reason: 'not now' } as const;
    const error = {
      kind: 'PermissionDenied',
      code: 'approval_denied',
      message: 'ann denied this call: not now',
    } as const;
    expect(outcomeText({ ...base, tool: 'shell', status: 'denied', error, approval })).toContain(
      'denied by ann (unverified): not now',
    );
  });

  it('says that the approver had other arguments run, and which', () => {
    const instead = { edited: true, arguments: { command: 'git push --dry-run' } } as const;
    const approval = {
      approver: 'ann',
      verified: true,
      decision: 'approve',
      reason: 'look first',
      ...instead,
    } as const;
    expect(
      outcomeText({ ...base, tool: 'shell', status: 'completed', approval })
        .split('\n')
        .slice(-2),
    ).toEqual(['  approved by ann, with other arguments: look first', '    command: git push --dry-run']);
  });
});
