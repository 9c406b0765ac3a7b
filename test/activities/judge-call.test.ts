/** What a worker judges of a command before and when it runs: the line's files as they stand, by the configuration's own limits. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { judgeCall } from '../../src/activities/judge-call.ts';
import { parseConfig } from '../../src/config/index.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import { createCatalogue } from '../../src/tools/index.ts';
import { surroundings } from '../policy/support.ts';

const workspace = await realpath(await mkdtemp(join(tmpdir(), 'countersign-judged-')));
await writeFile(join(workspace, 'README.md'), 'read me\n');
afterAll(() => rm(workspace, { recursive: true }));

const facts = { id: 's', kind: 'main', main: 's', depth: 0, workspace, agent: 'default', channel: '' } as const;

const judgedTool = (tool: string, args: JsonObject, shell: object = {}) =>
  judgeCall(
    {
      catalogue: createCatalogue(),
      settings: () => parseConfig(JSON.stringify({ shell }), 'test.jsonc'),
      surroundings: () => surroundings,
    },
    { facts, state: 'open', above: [] },
    { tool, arguments: args },
  );
const judged = (shell: object, args: JsonObject) =>
  judgedTool('shell', { sandbox: false, reason: 'a test', ...args }, shell);

const SIXTY = Array.from({ length: 60 }, () => 'cat README.md').join(';');
const LONG = `cat README.md${' '.repeat(9_000)}README.md`;

it.each([
  ['60 commands', {}, SIXTY, 'ask'],
  ['60 commands, 100 allowed', { maxParts: 100 }, SIXTY, 'run'],
  ['a long line', {}, LONG, 'ask'],
  ['a long line, 20,000 characters allowed', { maxLength: 20_000 }, LONG, 'run'],
  ['files for a program that was added', { safeBins: { look: { operands: 'files' } } }, 'look README.md', 'run'],
])('%s that read files of the workspace: %j', async (_what, shell, command, verdict) => {
  expect(await judged(shell, { command })).toMatchObject({ ok: true, judgement: { verdict } });
});

it('a configuration with a longer line than the tool takes is refused', () => {
  expect(() => parseConfig('{"shell":{"maxLength":32001}}', 'test.jsonc')).toThrow('maxLength');
  expect(() => parseConfig('{"shell":{"maxLength":32000}}', 'test.jsonc')).not.toThrow();
});

it.each([
  'LD_PRELOAD',
  'DYLD_X',
  'BASH_ENV',
  'BASH_FUNC_x',
  'PS4',
  'IFS',
  'SSH_CLIENT',
  'SSH2_CLIENT',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
  'COUNTERSIGN_KEY',
  'TEMPORAL_ADDRESS',
])('the variable %s is refused when the call is judged, not when it runs', async (name) => {
  for (const sandbox of [true, false]) {
    expect(await judged({}, { command: 'ls', sandbox, env: { A: 'b', [name]: 'x' } })).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_arguments',
        field: `/env/${name}`,
        message: `shell: ${name} may not be set from outside of the command; if it is needed, set it in the command itself`,
      },
    });
  }
  expect(await judged({}, { command: 'ls', sandbox: true, env: { [`A_${name}`]: 'x' } })).toMatchObject({ ok: true });
});

it('what the configuration of the repository names asks, and nothing else does', async () => {
  await mkdir(join(workspace, '.git'));
  await writeFile(
    join(workspace, '.git/config'),
    '[core]\n\thooksPath = tools/git\n[include]\n\tpath = ../shared.cfg\n',
  );
  const verdictOf = async (path: string, content = 'x') => {
    const result = await judgedTool('write', { path, content });
    return result.ok && [result.judgement.verdict, result.judgement.rule, result.judgement.tier];
  };
  for (const path of ['tools/git/any', 'tools/git/deep/any', 'shared.cfg'])
    expect(await verdictOf(path)).toEqual(['ask', 'risk.protected_path', 'elevated']);
  expect(await verdictOf('tools/other')).toEqual(['run', 'tier.workspace', 'workspace']);
});
