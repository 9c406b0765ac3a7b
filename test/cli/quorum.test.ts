/** Two approvers at their terminals: what each is shown and told, while the service runs and while it is halted. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Ran, type RunningService, makePlace, startedService } from './cli.fixture.ts';

// Every step is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

let service: RunningService;
beforeAll(async () => {
  const place = await makePlace();
  await writeFile(join(place.workspace, 'countersign.config.jsonc'), '{"approvals":{"required":2}}');
  service = await startedService([], place);
});
afterAll(async () => {
  await service.stop();
  await service.remove();
});

const outsider = async (name: string): Promise<string> => {
  const file = join(service.workspace, '..', name);
  await writeFile(file, 'x');
  return file;
};

async function ask(file: string): Promise<string> {
  const { session, callId } = (await service.cli(['call', 'delete', JSON.stringify({ path: file }), '--json'])).json();
  return `call/${String(session)}/${String(callId)}`;
}

const json = async (...args: string[]): Promise<[Ran['status'], Record<string, unknown>]> => {
  const ran = await service.cli([...args, '--json']);
  return [ran.status, ran.json()];
};

it('each is shown what the others approve and may agree with their edit; all of it is told while the call waits', async () => {
  const [file, instead] = [await outsider('asked'), await outsider("it's instead")];
  const id = await ask(file);
  expect(await json('approve', id, '--as', 'ann', '--reason', 'fine')).toMatchObject([
    0,
    { answer: 'accepted', agreed: { have: 1, need: 2 } },
  ]);
  const edit = ['--edit', JSON.stringify({ path: instead })];
  const restarted = await service.cli(['approve', id, '--as', 'bob', ...edit, '--reason', 'this one']);
  expect(restarted.stdout).toBe(
    'accepted  1 of 2 approvers agree so far; the approval of ann, with other arguments, no longer counts. The call waits for more.\n',
  );

  const [, shown] = await json('show', id);
  const { edited, by } = shown['approved'] as { edited: { digest: string }; by: object[] };
  expect(by).toMatchObject([{ approver: 'bob', reason: 'this one', signed: false }]);
  expect(edited).toMatchObject({ arguments: { path: instead } });
  const { stdout } = await service.cli(['show', id]);
  for (const words of ['1 of 2 agree so far, as the session says:', `"${instead}"`, `--as-edited ${edited.digest}`])
    expect(stdout).toContain(words);

  const audit = async () => (await service.cli(['audit', id])).stdout;
  expect(await audit()).toContain('taken: approve by ann (unverified): fine; 1 of 2 approvers agree so far.');
  expect(await audit()).toMatch(
    /taken: approve with other arguments by bob \(unverified\): this one; 1 of 2 .*\n.*edited/,
  );

  const other = `sha256:${'0'.repeat(64)}`;
  expect(await json('approve', id, '--as', 'ann', '--as-edited', other)).toMatchObject([
    5,
    { answer: 'digest_mismatch' },
  ]);
  expect((await json('approve', id, '--as-edited', other, ...edit))[0]).toBe(2);
  expect(await json('approve', id, '--as', 'ann', '--as-edited', edited.digest)).toMatchObject([
    0,
    { answer: 'accepted', message: 'The call has it.' },
  ]);
  await expect.poll(() => existsSync(instead)).toBe(false);
  expect(existsSync(file)).toBe(true);
  expect(await audit()).toMatch(
    /approved by bob and ann \(unverified\)\n +bob: this one\n +ann\n +edited to run instead:/,
  );
  expect(await json('approve', id, '--as-edited', edited.digest)).toMatchObject([5, { answer: 'not_pending' }]);
});

it('who approves while the service is halted is told that the call is held', async () => {
  const id = await ask(await outsider('held'));
  await service.cli(['halt', '--reason', 'drill']);
  expect((await json('approve', id, '--as', 'ann'))[1]).not.toHaveProperty('held');
  const { stdout } = await service.cli(['approve', id, '--as', 'bob']);
  expect(stdout).toMatch(
    /^accepted {2}The call has it\.\n {2}Held: the service is halted by .*: drill\n {2}It runs after: {2}countersign resume/,
  );
  await service.cli(['resume', '--reason', 'over']);
  const denied = await ask(await outsider('denied'));
  await service.cli(['halt', '--reason', 'drill']);
  expect((await json('deny', denied, '--reason', 'no'))[1]).not.toHaveProperty('held');
  await service.cli(['resume', '--reason', 'over']);
});

it('of many that wait, the listing says how many there are', async () => {
  const ids = [await ask(await outsider('one')), await ask(await outsider('two'))];
  await expect.poll(async () => (await service.cli(['pending', '--json'])).lines().length).toBe(2);
  expect((await service.cli(['pending', '--limit', '1'])).stderr).toContain(
    'These are the newest 1 of 2 that wait, for an approval or a correction. --limit N shows more.',
  );
  expect((await service.cli(['pending', '--limit', '2'])).stderr).not.toContain('newest');
  await Promise.all(ids.map((id) => service.cli(['cancel', id])));
});
