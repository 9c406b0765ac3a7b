import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimTry, readClaim, recordExecution } from '../../../src/context/state/claims.ts';
import { openJournal } from '../../../src/context/state/journal.ts';
import type { Execution } from '../../../src/protocol/outcome.ts';
import { codeOf, filesIn, scratch } from '../support.ts';

const claim = { session: 's', callId: 'c', content: 'sha256:1', runId: 'run-1' };
const done: Execution = { status: 'completed', output: { exitCode: 0 }, display: 'ok' };

describe('a claim', () => {
  it('is made once; who comes later learns the outcome, when there is one', async () => {
    const { stateDir } = scratch();
    expect(await readClaim(stateDir, claim)).toBeUndefined();
    expect(await claimTry(stateDir, claim)).toEqual({ claimed: true });
    expect(await claimTry(stateDir, { ...claim, runId: 'run-2' })).toEqual({ claimed: false, sameContent: true });
    expect(await claimTry(stateDir, { ...claim, content: 'sha256:2' })).toEqual({ claimed: false, sameContent: false });
    await recordExecution(stateDir, claim, done);
    expect(await claimTry(stateDir, claim)).toEqual({ claimed: false, sameContent: true, execution: done });
    expect(await readClaim(stateDir, claim)).toEqual({ content: 'sha256:1', runId: 'run-1', execution: done });
  });

  it('tells odd and similar ids apart, and stays in its folder', async () => {
    const { stateDir } = scratch();
    const ids = ['.', '..', 'a', 'A', '-', 'a.b', 'CON', 'nul.txt'];
    for (const session of ids)
      for (const callId of ids)
        expect(await claimTry(stateDir, { ...claim, session, callId })).toEqual({ claimed: true });
    expect(await claimTry(stateDir, { ...claim, session: 'a.b', callId: '.' })).toMatchObject({ claimed: false });
    const files = filesIn(stateDir);
    expect(files.length).toBe(64);
    expect(files.every((file) => /\/claims\/[0-9a-f]{2}\/[0-9a-f]{64}\.claim$/.test(file))).toBe(true);
    expect(statSync(files[0] ?? '').mode & 0o777).toBe(0o600);
  });

  it('that is damaged is a claim without an outcome', async () => {
    const { stateDir } = scratch();
    await claimTry(stateDir, claim);
    for (const file of filesIn(stateDir)) truncateSync(file, 5);
    expect(await claimTry(stateDir, claim)).toEqual({ claimed: false, sameContent: true });
    for (const file of filesIn(stateDir)) truncateSync(file, 0);
    expect(await claimTry(stateDir, { ...claim, content: 'other' })).toEqual({ claimed: false, sameContent: true });
  });

  it('goes to one of many processes that race for it', async () => {
    const { stateDir } = scratch();
    const program = `
      const { claimTry } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/context/state/claims.ts'))});
      const results = [];
      for (let i = 0; i < 40; i += 1) results.push((await claimTry(${JSON.stringify(stateDir)}, { session: 's', callId: 'c' + i, content: 'x', runId: String(process.pid) })).claimed);
      console.log(JSON.stringify(results));`;
    const racers = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const results: boolean[][] = await Promise.all(
      racers.map(async (racer) => {
        let printed = '';
        racer.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        await once(racer, 'close');
        return JSON.parse(printed) as boolean[];
      }),
    );
    const winners = Array.from({ length: 40 }, (_, i) => results.filter((result) => result[i] === true).length);
    expect(winners).toEqual(Array.from({ length: 40 }, () => 1));
    expect(filesIn(stateDir).length).toBe(40);
  });
});

describe('an outcome', () => {
  it('is recorded by the run that claimed, and once', async () => {
    const { stateDir } = scratch();
    await claimTry(stateDir, claim);
    expect(await codeOf(recordExecution(stateDir, { ...claim, runId: 'run-2' }, done))).toBe('not_a_call');
    await recordExecution(stateDir, claim, done);
    expect(
      await codeOf(
        recordExecution(stateDir, claim, {
          status: 'unknown',
          error: { kind: 'ExecutionError', code: 'outcome_unknown', message: '' },
        }),
      ),
    ).toBe('not_a_call');
    expect((await readClaim(stateDir, claim))?.execution).toEqual(done);
  });

  it('that is damaged is none', async () => {
    const { stateDir } = scratch();
    await claimTry(stateDir, claim);
    await recordExecution(stateDir, claim, done);
    for (const file of filesIn(stateDir))
      if (file.endsWith('.outcome')) writeFileSync(file, '{"execution":{"status":"imagined"}}');
    expect(await claimTry(stateDir, claim)).toEqual({ claimed: false, sameContent: true });
  });
});

it('journal entries belong to one call', async () => {
  const { stateDir } = scratch();
  await openJournal(stateDir, 's', 'c').write('f', { before: 'a', after: 'b', note: [1] });
  expect(await openJournal(stateDir, 's', 'c').read('f')).toEqual({ before: 'a', after: 'b', note: [1] });
  expect(await openJournal(stateDir, 's', 'd').read('f')).toBeUndefined();
  expect(await openJournal(stateDir, 's', 'c').read('g')).toBeUndefined();
});
