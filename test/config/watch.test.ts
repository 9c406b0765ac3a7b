import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConfigWatch, watchConfig, watchForFile } from '../../src/config/watch.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A file that is watched, and what was said of it. */
async function watched(text: string | ((path: string) => Promise<void>), exposed?: ConfigWatch['exposed']) {
  const path = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'countersign.config.jsonc');
  await (typeof text === 'string' ? writeFile(path, text) : text(path));
  const said: string[] = [];
  stops.push(
    watchConfig(path, {
      onChange: ({ config }) => said.push(`deny ${(config.deny ?? []).join()}`),
      onError: (error) => said.push(error.message.replace(path, 'FILE')),
      ...(exposed && { exposed }),
    }),
  );
  await new Promise((done) => setTimeout(done, 300));
  const next = async (): Promise<string | undefined> => {
    const before = said.length;
    for (let waited = 0; waited < 5_000 && said.length === before; waited += 20)
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

  it('is reloaded when it is a link and what it leads to changes', async () => {
    const real = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'real.jsonc');
    await writeFile(real, '{}');
    const { next } = await watched((path) => symlink(real, path));
    const changed = next();
    await writeFile(real, '{"deny": ["shell"]}');
    expect(await changed).toBe('deny shell');
  });

  it('is reloaded when a mounted ConfigMap changes, which swaps the link to the folder of the data', async () => {
    const { path, next } = await watched(async (file) => {
      const at = (name: string) => join(dirname(file), name);
      for (const [folder, text] of [
        ['..1', '{}'],
        ['..2', '{"deny": ["shell"]}'],
      ] as const) {
        await mkdir(at(folder));
        await writeFile(join(at(folder), 'countersign.config.jsonc'), text);
      }
      await symlink('..1', at('..data'));
      await symlink('..data/countersign.config.jsonc', file);
    });
    const changed = next();
    await symlink('..2', join(dirname(path), '..data_tmp'));
    await rename(join(dirname(path), '..data_tmp'), join(dirname(path), '..data'));
    expect(await changed).toBe('deny shell');
  });

  it('is reloaded when its folder is replaced by another', async () => {
    const { path, next } = await watched('{}');
    const changed = next();
    await mkdir(`${dirname(path)}.new`);
    await writeFile(join(`${dirname(path)}.new`, 'countersign.config.jsonc'), '{"deny": ["shell"]}');
    await rename(dirname(path), `${dirname(path)}.old`);
    await rename(`${dirname(path)}.new`, dirname(path));
    expect(await changed).toBe('deny shell');
  });

  it('tells of a broken file once, also when it is saved again as it was', async () => {
    const { path, said, next } = await watched('{}');
    const broken = next();
    await writeFile(path, '{"deny": ["shel"]}');
    await broken;
    await writeFile(path, '{"deny": ["shel"]}');
    await new Promise((done) => setTimeout(done, 2_600));
    expect(said).toHaveLength(1);
  });

  it('notices what changed before it looked, given the hash that is in force', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'countersign.config.jsonc');
    await writeFile(path, '{"deny": ["shell"]}');
    const changed = new Promise((done) => {
      stops.push(
        watchConfig(path, {
          onChange: ({ config }) => done(config.deny),
          onError: done,
          current: 'sha256:of something else',
        }),
      );
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

describe('a watched configuration that a command could write', () => {
  const REFUSED = /^FILE: changed while a command ran .* save it again when none runs there: then it is taken up$/;
  const replace = async (path: string, text: string): Promise<void> => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };

  it('is not taken up, nor read aloud, until it is saved again while none can; also with what it had', async () => {
    let open = true;
    const { path, said, next } = await watched('{}', () => open);
    const words = next();
    await replace(path, '{"deny": ["the words of a command"]}');
    expect(await words).toMatch(REFUSED);
    const rules = next();
    await replace(path, '{"deny": ["shell"]}');
    expect(await rules).toMatch(REFUSED);

    open = false;
    // What tools can do to a file that they must not write.
    await link(path, `${path}.other`);
    await rm(`${path}.other`);
    await new Promise((done) => setTimeout(done, 2_600));
    expect(said).toHaveLength(2);
    const again = next();
    await replace(path, '{"deny": ["shell"]}');
    expect(await again).toBe('deny shell');
  });

  it('is asked about since the last look at which it was as it was known', async () => {
    const asked: [string, number][] = [];
    const begun = performance.now();
    const { path, next } = await watched('{}', (...one) => asked.push(one) > 1);
    await new Promise((done) => setTimeout(done, 4_600));
    const looked = performance.now();
    const first = next();
    await replace(path, '{"deny": ["shell"]}');
    expect(await first).toBe('deny shell');
    const changed = performance.now();
    const second = next();
    await replace(path, '{"deny": ["write"]}');
    expect(await second).toMatch(REFUSED);
    expect(asked.map(([file]) => file)).toEqual([path, path]);
    const [before = 0, since = 0] = asked.map(([, at]) => at);
    // It was looked at once more after the first time.
    expect(before).toBeGreaterThan(begun + 1_000);
    expect(before).toBeLessThanOrEqual(looked);
    expect(since).toBeGreaterThan(looked);
    expect(since).toBeLessThanOrEqual(changed);
  });

  it('is let be where it changed to what is in force', async () => {
    const { path, said, next } = await watched('{"deny": ["shell"]}', () => true);
    await replace(path, '{"deny": ["shell"]}');
    await new Promise((done) => setTimeout(done, 600));
    expect(said).toEqual([]);
    const changed = next();
    await replace(path, '{}');
    expect(await changed).toMatch(REFUSED);
  });
});

it('what is no file any more is told of, and nobody waits for it', async () => {
  const { path, next } = await watched('{}');
  const gone = next();
  await rm(path);
  execFileSync('mkfifo', [path]);
  expect(await gone).toBe('FILE: is no file');
  const back = next();
  await rm(path);
  await writeFile(path, '{"deny": ["shell"]}');
  expect(await back).toBe('deny shell');
});

it('a file that comes to stand where none stood is told of, each time; a folder of the name is not', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'countersign-watch-')), 'countersign.config.jsonc');
  let told = 0;
  stops.push(watchForFile(path, () => (told += 1)));
  await mkdir(path);
  await new Promise((done) => setTimeout(done, 2_200));
  expect(told).toBe(0);
  await rm(path, { recursive: true });
  await writeFile(path, '{}');
  await expect.poll(() => told, { timeout: 4_000 }).toBe(1);
});
