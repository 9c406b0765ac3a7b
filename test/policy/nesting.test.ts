import { parse } from 'unbash';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { judge } from '../../src/policy/index.ts';
import { readingsOf } from '../../src/policy/shell/forms.ts';
import { rulesOf, session, shellCall, surroundings } from './support.ts';

vi.mock('unbash', { spy: true });

beforeEach(() => void vi.mocked(parse).mockClear());

const FLOODS: [string, string][] = [
  ['open substitutions', '$('.repeat(16_000)],
  ['open substitutions in quotes', '"$('.repeat(10_000)],
  ['closed substitutions', `${'$('.repeat(2_000)}x${')'.repeat(2_000)}`],
  ['brackets that only look closed', '$(")" '.repeat(5_000)],
  ['process substitutions around many words', `${'cat <('.repeat(100)}${'x '.repeat(25_000)}${')'.repeat(100)}`],
  ['arithmetic', '$(('.repeat(10_000)],
  ['expansions', 'echo ${x/'.repeat(3_500)],
  ['here-documents', '<<a '.repeat(8_000)],
];

describe('a line nested deeper than a parser should follow', () => {
  it.each(FLOODS)('%s: it is not parsed, and unreadable', (_what, line) => {
    expect(readingsOf(line)).toMatchObject({ complete: false, cut: true, commands: [] });
    expect(parse).not.toHaveBeenCalled();
  });

  it.each(FLOODS)('%s: nor is it inside of a line that is parsed', (_what, line) => {
    const { complete } = readingsOf(`bash -c '${line}'`);
    expect(complete).toBe(false);
    const parsed = vi.mocked(parse).mock.calls.map(([text]) => text);
    expect(parsed.filter((text) => text.includes(line))).toEqual([]);
  });

  it.each(FLOODS)('%s: deny rules hold by its text, and else it asks', (_what, line) => {
    const deny = { rules: [{ tool: 'shell', effect: 'deny', when: { command: { glob: 'rm *' } } }] };
    for (const sandbox of [true, false])
      expect(judge(shellCall(`rm x; ${line}`, { sandbox }), session(), rulesOf(deny), surroundings).verdict).toBe(
        'deny',
      );
    for (const approval of ['auto', 'dangerous'])
      expect(
        judge(
          shellCall(line, { sandbox: false }),
          session(),
          rulesOf({ shell: { backend: 'host', ...(approval === 'auto' && { approval }) } }),
          surroundings,
        ).verdict,
      ).toBe('ask');
  });

  it('the work of many such lines in one is bounded as a whole', () => {
    const line = `${'$('.repeat(90)}x${')'.repeat(90)}`;
    readingsOf(`bash -c '${line}' ${`; bash -c '${line}'`.repeat(100)}`);
    const work = vi.mocked(parse).mock.calls.reduce((sum, [text]) => sum + text.length * text.split('$(').length, 0);
    expect(work).toBeLessThan(2_100_000);
  });
});

it.each([
  [
    'substitutions of every day',
    'for f in $(ls); do x=$(basename "$f"); echo "${x%.ts}" >> $(pwd)/out; done\n'.repeat(20),
  ],
  [
    'a long file written in place',
    `cat > a.ts <<'EOF'\n${'call(function () { return (1 + 2) * (3); });\n'.repeat(1_000)}EOF\n`,
  ],
  ['twenty levels', `${'echo $('.repeat(20)}x${')'.repeat(20)}`],
])('%s are read', (_what, line) => {
  expect(readingsOf(line)).toMatchObject({ complete: true, cut: false });
});
