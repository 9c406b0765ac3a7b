/**
 * How long the whole preparation of a call takes with 200 rules over all nine layers: `node test/policy/prepare.bench.ts`. Everything is real
 * (tools, files, rules, parsers) but for the server, which answers at once. Prints; asserts nothing.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { Type } from 'typebox';
import type { Prepared } from '../../src/protocol/outcome.ts';
import { prepareCall } from '../../src/activities/prepare-call.ts';
import type { KnownSession } from '../../src/activities/session-reader.ts';
import { createSlots } from '../../src/activities/slots.ts';
import { callLimits, parseConfig } from '../../src/config/index.ts';
import { preparePolicy } from '../../src/policy/index.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import { surroundings } from '../../src/server/surroundings.ts';
import { type Tool, builtInTools, createCatalogue, defineTool } from '../../src/tools/index.ts';
import { rulesOverAllLayers } from './many-rules.ts';

const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-prepare-')));
const workspace = join(folder, 'workspace');
const stateDir = join(folder, 'state');
await mkdir(join(workspace, 'src', 'a', 'b'), { recursive: true });
await mkdir(stateDir);
await writeFile(join(workspace, 'src', 'a', 'b', 'c.ts'), 'export const answer = 42;\n'.repeat(100));

const fetchTool = defineTool({
  name: 'bench_fetch',
  label: 'Fetch',
  description: 'stands for what reaches other hosts',
  parameters: Type.Object({ url: Type.String() }, { additionalProperties: false }),
  tier: 'system',
  effect: 'read',
  limits: { timeoutMs: 1_000, maxTries: 1, backoffMs: 1, maxBackoffMs: 1 },
  groups: ['group:web'],
  needs: [],
  version: 1,
  subjects: ({ url }) => [{ kind: 'host', argument: 'url', url }],
  summary: ({ url }) => url,
  execute: async () => ({ output: {} }),
}) as unknown as Tool;
const tools = [...builtInTools, fetchTool];

const loaded = parseConfig(JSON.stringify(rulesOverAllLayers(200)), 'bench.jsonc', tools);
const main = { id: 'm', kind: 'main', main: 'm', depth: 0, workspace, agent: 'coder', channel: 'team' } as const;
const facts = { ...main, id: 's', kind: 'branch', parent: 'm', depth: 1, channel: null } as const;
const spoken = { provider: 'anthropic', group: 'room-1' };
const session: KnownSession = { facts: { ...facts, ...spoken }, state: 'open', above: [{ ...main, ...spoken }] };
const client = { workflow: { getHandle: () => ({ describe: async () => ({ memo: {} }) }) } } as unknown as Client;
const dependencies = {
  client,
  catalogue: createCatalogue(tools),
  sessions: { read: async () => session },
  settings: () => loaded,
  surroundings: await surroundings(() => loaded, [stateDir]),
  halted: () => undefined,
  slots: createSlots((agent) => callLimits(loaded.config, agent)),
  stateDir,
  protectedPaths: [stateDir],
  log: pino({ level: 'silent' }),
};

// A line is never the same twice: what is remembered of the last ones is of no use here.
const pipe = (n: number) => `cat src/a/b/c.ts | grep answer-${n} | sort | uniq -c | head -n 5`;
const fifty = (n: number) => Array.from({ length: 50 }, (_, index) => `echo ${n} ${index} "a b"`).join(' && ');
const nested = (n: number) => `sh -c 'cd src && env A=${n} timeout 5 ls $(pwd) | xargs -n 1 echo'`;
const outside = { sandbox: false, reason: 'to measure' };
const calls: Record<string, (n: number) => [string, JsonObject]> = {
  'read (and run)': () => ['read', { path: 'src/a/b/c.ts' }],
  'list (and run)': () => ['list', { path: 'src' }],
  write: (n) => ['write', { path: `src/a/b/${n}.ts`, content: 'x'.repeat(2_000) }],
  edit: () => ['edit', { path: 'src/a/b/c.ts', oldText: 'a', newText: 'b' }],
  'write that asks': (n) => ['write', { path: `.github/workflows/${n}.yml`, content: 'on: push' }],
  delete: () => ['delete', { path: 'src/a/b/c.ts' }],
  search: () => ['search', { pattern: 'x', path: 'src' }],
  'host, known': (n) => ['bench_fetch', { url: `https://docs.example-4.com/${n}` }],
  'host, unknown: asks': (n) => ['bench_fetch', { url: `https://host-${n}.example` }],
  'shell, one command': (n) => ['shell', { command: `npm test ${n}` }],
  'shell, pipe': (n) => ['shell', { command: pipe(n) }],
  'shell, 50 commands': (n) => ['shell', { command: fifty(n) }],
  'shell, nested': (n) => ['shell', { command: nested(n) }],
  'outside, one command': (n) => ['shell', { command: `grep -n ${n} src/a/b/c.ts`, ...outside }],
  'outside, pipe': (n) => ['shell', { command: pipe(n), ...outside }],
  'outside, 50 commands': (n) => ['shell', { command: fifty(n), ...outside }],
  'outside, asks': (n) => ['shell', { command: `npm install left-pad@${n}`, ...outside }],
};

await preparePolicy();
const rounds = Number(process.argv[2] ?? 1_000);
const environment = new MockActivityEnvironment({
  workflowExecution: { workflowId: 'call/s/c', runId: 'r' },
  workflowType: 'toolCall',
});
for (const [name, call] of Object.entries(calls)) {
  const times: number[] = [];
  let used = process.cpuUsage();
  let verdict = '';
  for (let round = -100; round < rounds; round += 1) {
    if (round === 0) used = process.cpuUsage();
    const [tool, args] = call(round + 100);
    const since = performance.now();
    const prepared = await environment.run<[], Prepared, () => Promise<Prepared>>(() =>
      prepareCall(dependencies, { tool, arguments: args, attempt: 1 }),
    );
    if (round >= 0) times.push(performance.now() - since);
    verdict = prepared.verdict;
  }
  const { user, system } = process.cpuUsage(used);
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(3);
  const cpu = ((user + system) / 1_000 / rounds).toFixed(3);
  console.log(
    `${name.padEnd(22)} ${verdict.padEnd(5)} p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  p99 ${at(0.99)} ms  processor ${cpu} ms`,
  );
}
await rm(folder, { recursive: true, force: true });
process.exit(0);
