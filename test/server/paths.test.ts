import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { cacheDir, configDir, stateDir } from '../../src/server/paths.ts';

const places = (env: Record<string, string>): string[] =>
  [configDir(env), stateDir(env), cacheDir(env)].map((path) => path.replace(homedir(), '~'));

test.each<[Record<string, string>, string[]]>([
  [{}, ['~/.config/countersign', '~/.local/state/countersign', '~/.cache/countersign']],
  [
    { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' },
    ['/c/countersign', '/s/countersign', '/k/countersign'],
  ],
  // As the XDG base directory specification says of relative paths.
  [
    { XDG_STATE_HOME: 's', XDG_CACHE_HOME: './k' },
    ['~/.config/countersign', '~/.local/state/countersign', '~/.cache/countersign'],
  ],
  [{ COUNTERSIGN_HOME: '/h', XDG_STATE_HOME: '/s' }, ['/h/config', '/h/state', '~/.cache/countersign']],
])('with %j: configuration, state and cache', (env, expected) => {
  expect(places(env)).toEqual(expected);
});
