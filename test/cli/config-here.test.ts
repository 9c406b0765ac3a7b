/** By which configuration commands judge that judge in their own process, and that they say so. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, makePlace, startedService } from './cli.fixture.ts';

const NAME = 'countersign.config.jsonc';

let service: RunningService;
let elsewhere: string;
let services: string;
beforeAll(async () => {
  const place = await makePlace();
  services = join(place.workspace, NAME);
  elsewhere = join(place.home, '..', 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(services, '{ "deny": ["list"] }');
  service = await startedService([], place);
});
afterAll(async () => {
  await service.stop();
  await service.remove();
});

const said = async (args: string[], cwd: string): Promise<string> => (await service.cli(args, { cwd })).stdout;

describe('in another folder than the service’s', () => {
  it('explain judges as the service does, and says by which file', async () => {
    const text = await said(['explain', 'list', '{}'], elsewhere);
    expect(text).toMatch(/^deny {2}list/);
    expect(text).toContain(`judged by ${services} (the running service’s)`);
  });

  it('policy test and doctor do, too', async () => {
    const cases = join(service.home, 'cases.json');
    await writeFile(
      cases,
      '[{ "name": "no lists", "tool": "list", "arguments": {}, "expect": { "verdict": "deny" } }]',
    );
    const tested = await service.cli(['policy', 'test', cases], { cwd: elsewhere });
    expect(tested.status).toBe(0);
    expect(tested.stdout).toContain(`judged by ${services} (the running service’s)`);
    expect(await said(['doctor'], elsewhere)).toMatch(new RegExp(`config +${services} \\(the running service’s\\)`));
  });

  it('the folder’s own configuration comes first, and the service’s is named beside it', async () => {
    const own = join(service.home, '..', 'own');
    await mkdir(own);
    await writeFile(join(own, NAME), '{}');
    const text = await said(['explain', 'list', '{}'], own);
    expect(text).toMatch(/^run {2}list/);
    expect(text).toContain(`judged by ${join(own, NAME)} (this folder’s; the running service goes by ${services})`);
  });

  it('what is given with --config comes before all', async () => {
    const given = join(service.home, 'given.jsonc');
    await writeFile(given, '{}');
    const text = await said(['explain', 'list', '{}', '--config', given], elsewhere);
    expect(text).toMatch(/^run {2}list/);
    expect(text).toContain(`judged by ${given}\n`);
  });

  it('the worker is said where it explains', async () => {
    const { id } = (await service.cli(['session', 'open', '--json'])).json();
    expect(await said(['explain', 'list', '{}', '--session', String(id)], elsewhere)).toContain(
      'judged by the worker, by its rules of now',
    );
  });
});

it('without a service the user’s configuration is said, else that there is none', async () => {
  const place = await makePlace();
  try {
    expect((await place.cli(['explain', 'list', '{}'])).stdout).toContain(
      'judged by the defaults: no configuration is here',
    );
    await mkdir(join(place.home, 'config'));
    const file = join(place.home, 'config', NAME);
    await writeFile(file, '{ "deny": ["list"] }');
    const { stdout } = await place.cli(['explain', 'list', '{}']);
    expect(stdout).toMatch(/^deny {2}list/);
    expect(stdout).toContain(`judged by ${file} (the user’s)`);
  } finally {
    await place.remove();
  }
});
