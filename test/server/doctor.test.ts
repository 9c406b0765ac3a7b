import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { CONFIG_FILE } from '../../src/config/index.ts';
import { configDir } from '../../src/server/paths.ts';
import { doctor, parserCheck, stateCheck } from '../../src/server/doctor.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'countersign-doctor-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('doctor', () => {
  test('finds what this machine has, and that no service runs', async () => {
    const checks = await doctor({ COUNTERSIGN_HOME: home });
    expect(checks.map(({ name }) => name)).toEqual([
      'node',
      'temporal',
      'sandbox',
      'ripgrep',
      'shell-parsers',
      'file-confinement',
      'config',
      'service',
    ]);
    const notOk = checks.filter((check) => !check.ok && check.name !== 'sandbox');
    expect(notOk).toEqual([
      { name: 'service', ok: false, found: 'none', hint: expect.stringContaining('countersign start') },
    ]);
  });

  test('names settings that contradict each other, with their place', async () => {
    const folder = configDir({ COUNTERSIGN_HOME: home });
    const file = join(folder, CONFIG_FILE);
    await mkdir(folder, { recursive: true });
    const check = async (text: string) => {
      await writeFile(file, text);
      return (await doctor({ COUNTERSIGN_HOME: home })).find(({ name }) => name === 'config');
    };
    try {
      expect(await check('{ "deny": ["write"] }')).toEqual({
        name: 'config',
        ok: true,
        found: `${file} (the user’s)`,
      });
      expect(await check('{ "deny": ["write"], "ask": ["write"], "ownerOnly": ["shell"] }')).toEqual({
        name: 'config',
        ok: false,
        found: `${file} (the user’s)`,
        hint: '/ask/0: write is also denied here; deny wins\n/ownerOnly: no owners are declared, so nobody may use these tools',
      });
      expect(await check('{ "denny": [] }')).toMatchObject({
        ok: false,
        found: 'broken',
        hint: expect.stringContaining('did you mean "deny"?') as string,
      });
    } finally {
      await rm(file);
    }
  });

  test('looks at the namespace of a service that answers', async () => {
    const address = inject('temporalAddress');
    const checks = await doctor({ COUNTERSIGN_HOME: home, TEMPORAL_ADDRESS: address });
    expect(checks.slice(7)).toEqual([
      { name: 'service', ok: true, found: `${address}, namespace default (configured)` },
      { name: 'halt', ok: true, found: 'not halted: calls run' },
      { name: 'search-attributes', ok: true, found: 'all four' },
      { name: 'retention', ok: true, found: '30 days' },
      { name: 'state-folder', ok: true, found: 'no worker takes calls' },
    ]);
  });

  test('says what it means that there is no second shell parser', () => {
    expect(parserCheck(false)).toEqual({
      name: 'shell-parsers',
      ok: false,
      found: 'one: the second does not start',
      hint: expect.stringMatching(/npm ci.*outside of the sandbox ask/) as string,
    });
  });

  test.each([
    [[], true, 'no worker takes calls'],
    [['a'], true, 'one, for all workers'],
    [['a', 'b'], false, '2 different ones'],
  ])('of the state folders %j says ok: %s', (states, ok, found) => {
    expect(stateCheck(states)).toMatchObject({ name: 'state-folder', ok, found });
  });

  test('says so when the configured server does not answer', async () => {
    const checks = await doctor({ COUNTERSIGN_HOME: home, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(checks.at(-1)).toMatchObject({
      name: 'service',
      ok: false,
      hint: expect.stringContaining('TEMPORAL_ADDRESS'),
    });
  });
});
