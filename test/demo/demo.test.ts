/** `npm run demo` as a person runs it, with a temporary folder of its own to see that nothing is left behind. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { runNode } from '../support/processes.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'demo-test-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function demo(env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(root, 'run-'));
  return {
    folder,
    program: runNode('scripts/demo.ts', [], { env: { ...process.env, TMPDIR: folder, NO_COLOR: '1', ...env } }),
  };
}

/** Processes whose command line names the folder. */
async function processesOf(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(folder)).map((line) => line.replaceAll('\0', ' '));
}

/** Names of what is left in the folder, and processes that still know it after ten seconds. */
async function leftIn(folder: string): Promise<string[]> {
  // Node keeps a cache of compiled code there, which is nobody's to delete.
  const files = (await readdir(folder)).filter((name) => name !== 'node-compile-cache');
  for (let i = 0; i < 100; i += 1) {
    if ((await processesOf(folder)).length === 0) return files;
    await sleep(100);
  }
  return [...files, ...(await processesOf(folder))];
}

describe.concurrent('the demo', { timeout: 240_000 }, () => {
  test('shows each outcome, checks it, and ends well', async ({ expect }) => {
    const { folder, program } = await demo();
    expect([await program.ended, program.output()]).toEqual([0, expect.stringContaining('All 14 checks hold.')]);
    const output = program.output();
    expect(output).toMatch(/waiting {3}write slug\.sh {2}for a correction of \/content/);
    expect(output).toContain('3 passed, 0 failed');
    expect(output).toContain('elevated, asked by branch → main');
    expect(output).toContain('3 requests still wait: delete, push, tag');
    expect(output).toMatch(/unknown {3}shell {2}outcome_unknown/);
    expect(output).toMatch(/expired {3}tag {2}approval_expired/);
    expect(output).not.toContain('\u001B');
    expect(await leftIn(folder)).toEqual([]);
  });

  test('ends with status 1 where an outcome is not the one expected', async ({ expect }) => {
    const { folder, program } = await demo({ COUNTERSIGN_DEMO_BREAK: '1' });
    expect(await program.ended).toBe(1);
    expect(program.output()).toContain('✗ the read ran: "completed, attempts 1, tries 1", not "something else"');
    expect(program.output()).toContain('1 of 14 checks failed.');
    expect(await leftIn(folder)).toEqual([]);
  });

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s in the middle leaves nothing behind', async ([signal, status], { expect }) => {
    const { folder, program } = await demo();
    await program.until(/it works on meanwhile/, 120_000);
    program.child.kill(signal);
    expect(await program.ended).toBe(status);
    expect(await leftIn(folder)).toEqual([]);
  });
});
