/** A path is judged and then opened; whoever swaps a link in between gains nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { type TestService, startTestService } from '../support/worker.ts';

/** As a command in the sandbox could: two links that lead elsewhere by turns, as fast as a process can. Each is replaced in one step, so there is always one. */
const SWAPPER = `
const { renameSync, symlinkSync } = require('node:fs');
const link = (target, path) => { symlinkSync(target, 'next'); renameSync('next', path); };
function round() {
  for (let i = 0; i < 20; i += 1) for (const [path, place] of [['w', '.vscode'], ['r', 'keys']]) { link(place, path); link('free', path); }
  setImmediate(round);
}
round();
console.log('ready');
`;

let service: TestService;
beforeAll(async () => {
  const rules = [
    { name: 'no editors', effect: 'deny', tool: 'write', when: { path: { glob: '.vscode/**' } } },
    { name: 'no keys', effect: 'deny', tool: 'read', when: { path: { glob: 'keys/**' } } },
  ];
  service = await startTestService({
    address: inject('temporalAddress'),
    taskQueue: 'judged-paths',
    config: JSON.stringify({ rules }),
  });
});
afterAll(() => service[Symbol.asyncDispose]());

test('neither a protected place nor one that a rule denies is reached by a link that changes meanwhile', async () => {
  const { workspace } = service;
  const session = await service.countersign.openSession({ id: 'judged-paths', workspace });
  for (const folder of ['.vscode', 'keys', 'free']) await mkdir(join(workspace, folder));
  await writeFile(join(workspace, '.vscode/a'), 'kept');
  await writeFile(join(workspace, 'keys/a'), 'SECRET');
  await writeFile(join(workspace, 'free/a'), 'free');
  const swapper = spawn(process.execPath, ['-e', SWAPPER], { cwd: workspace, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void swapper.kill());
  await once(swapper.stdout, 'data');
  const statuses = new Set<string>();
  for (let i = 0; i < 15; i += 1) {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        n % 2 === 0
          ? session.call('write', { path: 'w/a', content: `evil ${i} ${n}` })
          : session.call('read', { path: 'r/a' }),
      ),
    );
    for (const outcome of outcomes) statuses.add(outcome.error?.code ?? outcome.status);
    expect(JSON.stringify(outcomes)).not.toContain('SECRET');
  }
  swapper.kill();
  expect(await readFile(join(workspace, '.vscode/a'), 'utf8')).toBe('kept');
  expect(await readdir(join(workspace, '.vscode'))).toEqual(['a']);
  expect([...statuses]).toEqual(expect.arrayContaining(['completed', 'policy_denied']));
}, 60_000);
