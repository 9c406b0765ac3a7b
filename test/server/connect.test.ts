import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configuredConnection, connectionSettings } from '../../src/server/connect.ts';
import { runNode } from '../support/processes.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'countersign-connect-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('connection settings', () => {
  test('come from the environment', () => {
    expect(
      connectionSettings({
        COUNTERSIGN_HOME: home,
        TEMPORAL_ADDRESS: 'acme.tmprl.cloud:7233',
        TEMPORAL_NAMESPACE: 'acme.prod',
        TEMPORAL_API_KEY: 'secret',
      }),
    ).toEqual({
      options: { address: 'acme.tmprl.cloud:7233', tls: true, apiKey: 'secret' },
      namespace: 'acme.prod',
      from: 'configured',
    });
  });

  test('come from a profile of a configuration file that is named', async () => {
    const file = join(home, 'temporal.toml');
    await writeFile(file, '[profile.staging]\naddress = "staging:7233"\nnamespace = "tools"\n');
    expect(
      configuredConnection({ COUNTERSIGN_HOME: home, TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'staging' }),
    ).toEqual({ options: { address: 'staging:7233' }, namespace: 'tools', from: 'configured' });
  });

  test("leave the user's own configuration file alone in a home of their own", async () => {
    await writeFile(join(home, 'temporal.toml'), '[profile.default]\naddress = "production:7233"\n');
    expect(configuredConnection({ COUNTERSIGN_HOME: home, XDG_CONFIG_HOME: home })).toBeUndefined();
  });

  test('that cannot be read are an error, not another server', async () => {
    const file = join(home, 'broken.toml');
    await writeFile(file, '[profile.default\n');
    expect(() => configuredConnection({ COUNTERSIGN_HOME: home, TEMPORAL_CONFIG_FILE: file })).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
  });

  test('say what to do when there is nothing to connect to', () => {
    expect(() => connectionSettings({ COUNTERSIGN_HOME: home })).toThrow(
      expect.objectContaining({ code: 'no_service', message: expect.stringContaining('countersign start') }),
    );
  });

  test('do not load the worker', async () => {
    await using program = runNode('-e', [
      `await import('./src/server/connect.ts');
       const { Module } = await import('node:module');
       console.log(Object.keys(Module._cache).filter((file) => /worker|webpack|core-bridge|swc/.test(file)).length);`,
    ]);
    expect(await program.ended).toBe(0);
    expect(program.output().trim()).toBe('0');
  });
});
