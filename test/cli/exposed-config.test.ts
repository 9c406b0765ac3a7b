/** A real service whose configuration lies in the workspace: a person replaces the file while a command runs, and the command, to whom it is open then, writes rules of its own. */
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RunningService, makePlace, startedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

const NAME = 'countersign.config.jsonc';
const COMMANDS_OWN = '{ "shell": { "backend": "host", "security": "full" } }';
let service: RunningService;
let file: string;
beforeAll(async () => {
  const place = await makePlace();
  file = join(place.workspace, NAME);
  await writeFile(file, '{ "deny": ["delete"] }');
  service = await startedService([], place);
});
afterAll(async () => {
  await service.stop();
  await service.remove();
});

const log = async (): Promise<Record<string, unknown>[]> => (await service.cli(['policy', 'log', '--json'])).lines();
/** As editors do. */
const save = async (text: string): Promise<void> => {
  await writeFile(`${file}~`, text);
  await rename(`${file}~`, file);
};

it('what a command may have written is not taken up, and what a person saves after it is', async () => {
  const writing = service.cli([
    'call',
    'shell',
    JSON.stringify({
      command: `touch runs; until grep -q saved ${NAME}; do sleep 0.05; done; printf '%s' '${COMMANDS_OWN}' > ${NAME}; touch wrote; sleep 1`,
    }),
    '--json',
  ]);
  await expect.poll(() => existsSync(join(service.workspace, 'runs')), { timeout: 20_000 }).toBe(true);
  await save('{ "deny": ["delete", "edit"] } // saved');
  expect((await writing).json()).toMatchObject({ status: 'completed' });
  expect(existsSync(join(service.workspace, 'wrote'))).toBe(true);
  expect(await readFile(file, 'utf8')).toBe(COMMANDS_OWN);

  await expect.poll(async () => (await log()).length, { timeout: 20_000, interval: 300 }).toBe(2);
  // Time for another look, now that no command runs.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const [refused, started, ...others] = await log();
  expect(others).toEqual([]);
  expect(refused).toMatchObject({
    kind: 'refused',
    file,
    hash: started?.['hash'],
    error: expect.stringContaining('save it again when none runs there') as string,
  });

  await save('{ "deny": ["delete", "write"] }');
  await expect.poll(async () => (await log()).length, { timeout: 20_000, interval: 300 }).toBe(3);
  expect((await log())[0]).toMatchObject({
    kind: 'changed',
    on: 'reload',
    changes: [{ place: 'deny', before: 'delete', after: 'delete, write' }],
  });
});
