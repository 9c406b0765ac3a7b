/** What a judgement must not do twice, counted, because times say little on a busy machine. */
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'unbash';
import { beforeEach, expect, it, vi } from 'vitest';
import { judgeCall } from '../../src/activities/judge-call.ts';
import { parseConfig } from '../../src/config/index.ts';
import { compilePattern } from '../../src/policy/patterns.ts';
import { compileRules } from '../../src/policy/rules.ts';
import { secondReading } from '../../src/policy/shell/second-parser.ts';
import { createCatalogue } from '../../src/tools/index.ts';
import { rulesOverAllLayers } from './many-rules.ts';
import { surroundings } from './support.ts';

vi.mock('unbash', { spy: true });
vi.mock('../../src/policy/shell/second-parser.ts', { spy: true });
vi.mock('../../src/policy/rules.ts', { spy: true });
vi.mock('../../src/policy/patterns.ts', { spy: true });

const workspace = await realpath(await mkdtemp(join(tmpdir(), 'countersign-once-')));
const facts = {
  id: 's',
  kind: 'main',
  main: 's',
  depth: 0,
  workspace,
  agent: 'coder',
  channel: 'team',
  provider: 'anthropic',
  group: 'room-1',
} as const;

const judged = (loaded: ReturnType<typeof parseConfig>, command: string) =>
  judgeCall(
    { catalogue: createCatalogue(), settings: () => loaded, surroundings: () => surroundings },
    { facts, state: 'open', above: [] },
    { tool: 'shell', arguments: { command, sandbox: false, reason: 'a test' } },
  );
const load = () => parseConfig(JSON.stringify(rulesOverAllLayers(200)), 'test.jsonc');
const linesOf = (parser: typeof parse | typeof secondReading): string[] =>
  vi.mocked(parser as (text: string) => unknown).mock.calls.map(([text]) => text);

beforeEach(() => vi.clearAllMocks());

it('compiles rules when they are loaded, and not again for a call', async () => {
  const loaded = load();
  expect([vi.mocked(compileRules).mock.calls.length, vi.mocked(compilePattern).mock.calls.length]).toEqual([1, 200]);
  for (let call = 0; call < 5; call += 1) expect(await judged(loaded, `echo ${call}`)).toMatchObject({ ok: true });
  expect([vi.mocked(compileRules).mock.calls.length, vi.mocked(compilePattern).mock.calls.length]).toEqual([1, 200]);
});

it.each([
  ['a list that is harmless', 'echo one && ls src | sort', 3, { verdict: 'run', rule: 'shell.safe_bin' }],
  ['a command that asks', 'npm install left-pad', 1, { verdict: 'ask', rule: 'shell.outside' }],
  ['a command that a rule allows', 'npm run task-3', 1, { verdict: 'run', rule: 'rules "rule 3"' }],
  ['50 commands', Array.from({ length: 50 }, (_, n) => `echo n${n}`).join(' && '), 50, { verdict: 'run' }],
])('reads %s once with each parser, however many rules there are', async (_what, command, parts, expected) => {
  const { judgement } = (await judged(load(), command)) as { judgement: object };
  expect(judgement).toMatchObject(expected);
  expect(linesOf(secondReading)).toEqual([command]);
  const read = linesOf(parse);
  expect(new Set(read).size).toBe(read.length);
  // The line, and each simple command of it by itself, for the allow rules.
  expect(read.length).toBeLessThanOrEqual(1 + parts);
});
