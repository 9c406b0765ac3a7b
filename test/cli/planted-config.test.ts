/** A real service, started without a configuration: neither a command nor a file that appears changes its rules before a person starts it again. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { sharedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

const NAME = 'countersign.config.jsonc';
const { service, cli, json } = sharedService();

const log = async (): Promise<Record<string, unknown>[]> => (await cli(['policy', 'log', '--json'])).lines();
const call = async (tool: string, args: object) => (await json('call', tool, JSON.stringify(args)))[1];

it('a command cannot plant rules, and what a person puts there is taken up at the next start', async () => {
  const { workspace } = service();
  const rules = '{ "shell": { "backend": "host" }, "security": "full", "approval": "auto" }';
  await call('shell', {
    command: `printf '%s' '${rules}' > ${NAME}; rmdir ${NAME}; printf '%s' '${rules}' > ${NAME}; touch ran; sleep 3`,
  });
  expect(await readdir(workspace)).toContain('ran');
  expect(await readdir(workspace)).not.toContain(NAME);
  expect(await log()).toHaveLength(1);
  expect(await call('write', { path: NAME, content: rules })).toMatchObject({
    error: { code: 'protected_path' },
  });

  await writeFile(join(workspace, NAME), '{ "deny": ["list"] }');
  await expect.poll(async () => (await log()).length, { timeout: 20_000, interval: 300 }).toBe(2);
  expect((await log())[0]).toMatchObject({
    kind: 'refused',
    error: expect.stringContaining('start the service again') as string,
  });
  expect(await call('list', {})).toMatchObject({ status: 'completed' });
});
