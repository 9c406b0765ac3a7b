import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { watchConfig } from '../../src/config/index.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A file that is watched, and what was said of it. */
async function watched(text: string | undefined) {
  const path = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'countersign.config.jsonc');
  if (text !== undefined) await writeFile(path, text);
  const said: string[] = [];
  stops.push(
    watchConfig(
      path,
      ({ config }) => said.push(`deny ${(config.deny ?? []).join()}`),
      (error) => said.push(error.message.replace(path, 'FILE')),
    ),
  );
  await new Promise((done) => setTimeout(done, 300));
  const next = async (): Promise<string | undefined> => {
    const before = said.length;
    for (let waited = 0; waited < 3_000 && said.length === before; waited += 20)
      await new Promise((done) => setTimeout(done, 20));
    return said.at(-1);
  };
  return { path, said, next };
}

describe('a watched configuration', () => {
  it('is reloaded when it changes, and says loudly what is wrong with a broken one', async () => {
    const { path, said, next } = await watched('{}');
    expect(said).toEqual([]);

    const first = next();
    await writeFile(path, '{"deny": ["shell"]}');
    expect(await first).toBe('deny shell');

    const second = next();
    await writeFile(path, '{"deny": ["shel"]}');
    expect(await second).toBe('FILE:1:11: /deny/0: unknown tool "shel"; did you mean "shell"?');

    const third = next();
    await writeFile(`${path}.new`, '{"deny": ["write"]}');
    await rename(`${path}.new`, path);
    expect(await third).toBe('deny write');
  });

  it('says when the file is gone, and does not fall back to the defaults', async () => {
    const { path, next } = await watched('{"deny": ["shell"]}');
    const gone = next();
    await rm(path);
    expect(await gone).toBe('FILE: the file is gone');
  });

  it('takes a file that is made later', async () => {
    const { path, said, next } = await watched(undefined);
    expect(said).toEqual([]);
    const made = next();
    await writeFile(path, '{"deny": ["shell"]}');
    expect(await made).toBe('deny shell');
  });

  it('notices what changed before it looked, given the hash that is in force', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'countersign.config.jsonc');
    await writeFile(path, '{"deny": ["shell"]}');
    const changed = new Promise((done) => {
      stops.push(watchConfig(path, ({ config }) => done(config.deny), done, 'sha256:of something else'));
    });
    expect(await changed).toEqual(['shell']);
  });

  it('says nothing of a change that changes nothing', async () => {
    const { path, said } = await watched('{"deny": ["shell"]}');
    await writeFile(path, '// a comment\n{ "deny": ["shell"] }');
    await new Promise((done) => setTimeout(done, 600));
    expect(said).toEqual([]);
  });
});
