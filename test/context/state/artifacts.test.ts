import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openArtifacts } from '../../../src/context/state/artifacts.ts';
import { bytes, codeOf, scratch, text } from '../support.ts';

const HELLO = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
const about = { mediaType: 'text/plain', name: 'greeting' };

it('stores content once, by its hash, for its user alone', async () => {
  const { stateDir } = scratch();
  const artifacts = openArtifacts(stateDir, 'main', []);
  expect(await artifacts.put(bytes('hello'), about)).toEqual({ hash: HELLO, bytes: 5, ...about });
  await artifacts.put(bytes('hello'), about);
  const content = join(stateDir, 'artifacts/2c');
  expect(readdirSync(content)).toEqual([HELLO.slice(7)]);
  expect(statSync(join(content, HELLO.slice(7))).mode & 0o777).toBe(0o600);
  expect(statSync(content).mode & 0o777).toBe(0o700);
  const read = await artifacts.get(HELLO);
  expect({ ...read, bytes: text(read.bytes) }).toEqual({ bytes: 'hello', ...about });
});

it('lets the session that made it read it, and those above; no child, no sibling, no stranger', async () => {
  const { stateDir } = scratch();
  const sessions = {
    main: openArtifacts(stateDir, 'main', []),
    branch: openArtifacts(stateDir, 'branch', ['main']),
    leaf: openArtifacts(stateDir, 'leaf', ['branch', 'main']),
    sibling: openArtifacts(stateDir, 'sibling', ['main']),
    stranger: openArtifacts(stateDir, 'stranger', []),
  };
  const readers = async (): Promise<string[]> => {
    const able: string[] = [];
    for (const [name, artifacts] of Object.entries(sessions))
      if ((await codeOf(artifacts.get(HELLO))) !== 'artifact_not_found') able.push(name);
    return able;
  };
  expect(await readers()).toEqual([]);
  await sessions.branch.put(bytes('hello'), about);
  expect(await readers()).toEqual(['main', 'branch']);
  await sessions.leaf.put(bytes('hello'), about);
  expect(await readers()).toEqual(['main', 'branch', 'leaf']);
});

it('says the same of what does not exist, of what is another session’s and of what is no hash', async () => {
  const { stateDir } = scratch();
  await openArtifacts(stateDir, 'a', []).put(bytes('hello'), about);
  const other = openArtifacts(stateDir, 'b', []);
  for (const hash of [HELLO, `sha256:${'0'.repeat(64)}`, '../../etc/passwd', 'sha256:x', ''])
    expect(await codeOf(other.get(hash))).toBe('artifact_not_found');
});

it('notices damage, and puts content back that was cut off', async () => {
  const { stateDir } = scratch();
  const artifacts = openArtifacts(stateDir, 'a', []);
  await artifacts.put(bytes('hello'), about);
  const file = join(stateDir, 'artifacts/2c', HELLO.slice(7));
  writeFileSync(file, 'jello');
  expect(await codeOf(artifacts.get(HELLO))).toBe('artifact_not_found');
  truncateSync(file, 2);
  await artifacts.put(bytes('hello'), about);
  expect(text((await artifacts.get(HELLO)).bytes)).toBe('hello');
});
