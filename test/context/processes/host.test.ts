import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missingHandles } from '../../../src/context/tool-context.ts';
import { builtInTools, createCatalogue } from '../../../src/tools/catalogue.ts';
import type { HandleName, ToolContext } from '../../../src/tools/tool-context.ts';
import { HANDLE_NAMES } from '../../../src/tools/tool-context.ts';
import { codeOf, contextOf, eventually, factsOf, outputOf, run, scratch, text } from '../support.ts';

const handlesOf = (context: ToolContext): HandleName[] => HANDLE_NAMES.filter((name) => context[name] !== undefined);

describe('the hands of a session', () => {
  it('are few for a worker session, whatever else is allowed', async () => {
    const folders = scratch();
    const context = await contextOf(folders, {
      facts: factsOf(folders, { id: 'w', kind: 'worker', parent: 'main-1', depth: 1, channel: null }),
      allowElevated: true,
    });
    expect(handlesOf(context)).toEqual(['files', 'searcher', 'artifacts']);
    const missing = Object.fromEntries(builtInTools.map((tool) => [tool.name, missingHandles(tool, context)]));
    expect(missing).toEqual({
      read: [],
      list: [],
      stat: [],
      search: [],
      write: ['writer'],
      edit: ['writer'],
      delete: ['writer'],
      shell: ['shell'],
    });
  });

  it('hold a shell only where there is a backend, and elevated ones only when allowed', async () => {
    const folders = scratch();
    expect(handlesOf(await contextOf(folders))).toEqual(['files', 'writer', 'searcher', 'shell', 'artifacts']);
    expect(handlesOf(await contextOf(folders, { backend: 'disabled' }))).toEqual([
      'files',
      'writer',
      'searcher',
      'artifacts',
    ]);
    expect(handlesOf(await contextOf(folders, { allowElevated: true, backend: 'host' }))).toEqual([
      'files',
      'writer',
      'searcher',
      'shell',
      'artifacts',
      'elevated',
    ]);
  });
});

describe('a command on the host', () => {
  it('has the environment of the allow-list only', async () => {
    process.env['COUNTERSIGN_TEST_SECRET'] = 'hidden';
    const { shell } = await contextOf(scratch(), { backend: 'host' });
    const result = await shell?.run({ command: 'env', timeoutMs: 5_000 });
    delete process.env['COUNTERSIGN_TEST_SECRET'];
    expect(text(result?.stdout ?? new Uint8Array())).not.toContain('hidden');
    expect(text(result?.stdout ?? new Uint8Array())).toMatch(/^TERM=dumb$/m);
  });

  it('dies as a whole within a second: what ignores SIGTERM, and what has left for a session of its own', async () => {
    const folders = scratch();
    const abort = new AbortController();
    const { shell } = await contextOf(folders, { backend: 'host', signal: abort.signal });
    const pids = join(folders.workspace, 'pids');
    const work = codeOf(
      shell?.run({
        command: `trap "" TERM; echo $$ >> pids; (trap "" TERM; setsid sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &); while :; do sleep 1; done`,
        timeoutMs: 60_000,
      }) ?? Promise.resolve(),
    );
    const started = (): number[] => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []);
    expect(await eventually(() => started().length === 2)).toBe(true);
    const aborted = Date.now();
    abort.abort();
    expect(await work).toBe('cancelled');
    const alive = (pid: number): boolean =>
      existsSync(`/proc/${pid}/status`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    expect(await eventually(() => !started().some(alive))).toBe(true);
    expect(Date.now() - aborted).toBeLessThan(1_000);
  });

  it('that leaves a daemon holding its output does not hang the call', async () => {
    const { shell } = await contextOf(scratch(), { backend: 'host' });
    const started = Date.now();
    const result = await shell?.run({ command: 'env -i setsid sleep 3 & echo hi', timeoutMs: 10_000 });
    expect(text(result?.stdout ?? new Uint8Array())).toBe('hi\n');
    expect(Date.now() - started).toBeLessThan(1_500);
  });

  it('runs elevated outside of the sandbox, where a session has the hand for it', async () => {
    const folders = scratch();
    const args = { command: `cat ${folders.outside}/secret.txt`, sandbox: false, reason: 'to see' };
    expect(await outputOf('shell', args, await contextOf(folders, { allowElevated: true }))).toEqual({
      exitCode: 0,
      stdout: 'SECRET\n',
      stderr: '',
    });
    expect(await codeOf(run('shell', args, await contextOf(folders)))).toBe('missing_capability');
  });
});

describe('an elevated delete', () => {
  it('takes an absolute path outside of the workspace, in an approved call only', async () => {
    const folders = scratch();
    const target = join(folders.outside, 'tree');
    mkdirSync(join(target, 'a'), { recursive: true });
    expect(await codeOf(run('delete', { path: target, recursive: true }, await contextOf(folders)))).toBe(
      'outside_workspace',
    );
    const context = await contextOf(folders, { allowElevated: true });
    expect(await codeOf(run('delete', { path: '../outside/tree', recursive: true }, context))).toBe(
      'outside_workspace',
    );
    expect(await outputOf('delete', { path: target, recursive: true }, context)).toEqual({ path: target, deleted: 2 });
    expect(readdirSync(folders.outside)).toEqual(['secret.txt']);
  });

  it('refuses a path with a link in it, because it is not what the approver saw', async () => {
    const folders = scratch();
    symlinkSync(folders.outside, join(folders.base, 'link'));
    const context = await contextOf(folders, { allowElevated: true });
    expect(await codeOf(run('delete', { path: join(folders.base, 'link/secret.txt') }, context))).toBe(
      'outside_workspace',
    );
    expect(readdirSync(folders.outside)).toEqual(['secret.txt']);
  });

  it.each(['/', '/etc', '/usr', homedir(), '/proc/../', '//'])('never takes %s', async (path) => {
    const folders = scratch();
    const context = await contextOf(folders, { allowElevated: true });
    expect(await codeOf(run('delete', { path, recursive: true }, context))).toMatch(
      /^(protected_path|outside_workspace)$/,
    );
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  it('never takes our own state or configuration, or what holds them', async () => {
    const folders = scratch();
    writeFileSync(join(folders.outside, 'config.json'), '{}');
    const context = await contextOf(folders, {
      allowElevated: true,
      protectedPaths: [join(folders.outside, 'config.json')],
    });
    for (const path of [folders.stateDir, folders.base, folders.outside, join(folders.outside, 'config.json')]) {
      expect(await codeOf(run('delete', { path, recursive: true }, context))).toBe('protected_path');
    }
    expect(existsSync(join(folders.outside, 'config.json'))).toBe(true);
  });
});

it('tells progress at most four times a second, the latest always', async () => {
  const told: string[] = [];
  const { progress } = await contextOf(scratch(), { progress: (line) => void told.push(line) });
  for (let i = 0; i < 1_000; i += 1) progress(`step ${i}`);
  expect(told).toEqual(['step 0']);
  expect(await eventually(() => told.length === 2)).toBe(true);
  expect(told).toEqual(['step 0', 'step 999']);
  expect(createCatalogue().names().length).toBe(8);
});
