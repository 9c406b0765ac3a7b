import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FileReader, FileWriter } from '../../../src/tools/tool-context.ts';
import { bytes, codeOf, contextOf, scratch, text, type Scratch } from '../support.ts';

async function hands(
  more: { protectedPaths?: string[] } = {},
): Promise<Scratch & { files: FileReader; writer: FileWriter }> {
  const folders = scratch();
  const { files, writer } = await contextOf(folders, {
    protectedPaths: (more.protectedPaths ?? []).map((path) => join(folders.workspace, path)),
  });
  if (files === undefined || writer === undefined) throw new Error('no handles');
  return { ...folders, files, writer };
}

describe('paths that stay inside', () => {
  it.each(['a.txt', './a.txt', 'd/../a.txt', 'd//../a.txt', 'link', 'chain', 'absolute-link', 'folder-link/../a.txt'])(
    'reads %s',
    async (path) => {
      const { workspace, files } = await hands();
      writeFileSync(join(workspace, 'a.txt'), 'here');
      mkdirSync(join(workspace, 'd'));
      symlinkSync('a.txt', join(workspace, 'link'));
      symlinkSync('link', join(workspace, 'chain'));
      symlinkSync(join(workspace, 'a.txt'), join(workspace, 'absolute-link'));
      symlinkSync('d', join(workspace, 'folder-link'));
      const read = await files.read(path);
      expect({ text: text(read.bytes), path: read.path }).toEqual({ text: 'here', path: 'a.txt' });
    },
  );

  it('takes an absolute path inside of the workspace', async () => {
    const { workspace, files } = await hands();
    writeFileSync(join(workspace, 'a.txt'), 'here');
    expect((await files.read(join(workspace, 'a.txt'))).path).toBe('a.txt');
  });

  it('takes tilde, backslash and other odd names as names, and tells Unicode forms apart', async () => {
    const { workspace, files, writer } = await hands();
    for (const name of ['~', '..\\..\\x', 'new\nline', 'é', 'e\u0301', '-rf', '日本語'])
      await writer.write(name, bytes(name));
    expect(readdirSync(workspace).length).toBe(7);
    expect(text((await files.read('é')).bytes)).toBe('é');
    expect(text((await files.read('e\u0301')).bytes)).toBe('e\u0301');
  });
});

describe('paths that lead outside', () => {
  const cases: [string, string][] = [
    ['dots', '../outside/secret.txt'],
    ['dots from within', 'd/../../outside/secret.txt'],
    ['absolute', '/etc/passwd'],
    ['a link', 'out/secret.txt'],
    ['a link to a file', 'file-out'],
    ['a chain of links', 'chain-1'],
    ['a link with dots', 'dots/outside/secret.txt'],
    ['a neighbour with the same beginning', '../workspace-2/x'],
    ['the process file system', 'proc/self/root/etc/passwd'],
    ['descriptors', 'proc/self/fd/0'],
  ];
  it.each(cases)('refuses %s to read, write, list, stat and delete', async (_name, path) => {
    const { workspace, outside, files, writer } = await hands();
    mkdirSync(join(workspace, 'd'));
    symlinkSync(outside, join(workspace, 'out'));
    symlinkSync(join(outside, 'secret.txt'), join(workspace, 'file-out'));
    symlinkSync('chain-2', join(workspace, 'chain-1'));
    symlinkSync('out/secret.txt', join(workspace, 'chain-2'));
    symlinkSync('..', join(workspace, 'dots'));
    symlinkSync('/proc', join(workspace, 'proc'));
    expect(await codeOf(files.read(path))).toBe('outside_workspace');
    expect(await codeOf(files.list(path))).toBe('outside_workspace');
    expect(await codeOf(files.stat(path))).toBe('outside_workspace');
    expect(await codeOf(writer.write(path, bytes('x')))).toBe('outside_workspace');
    expect(await codeOf(writer.update(path, (b) => ({ bytes: b, note: null })))).toBe('outside_workspace');
    // A link itself may go; what it leads to may not.
    if (!['file-out', 'chain-1'].includes(path))
      expect(await codeOf(writer.remove(path, { recursive: true }))).toBe('outside_workspace');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
  });

  it('deletes a link and not what it leads to', async () => {
    const { workspace, outside, writer } = await hands();
    symlinkSync(outside, join(workspace, 'out'));
    expect(await writer.remove('out', { recursive: true })).toEqual({ path: 'out', entries: 1 });
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  it('deletes a tree with links in it and nothing behind them', async () => {
    const { workspace, outside, writer } = await hands();
    mkdirSync(join(workspace, 'tree/a/b'), { recursive: true });
    symlinkSync(outside, join(workspace, 'tree/a/out'));
    writeFileSync(join(workspace, 'tree/a/b/f'), '');
    expect(await codeOf(writer.remove('tree'))).toBe('not_a_file');
    expect(await writer.remove('tree', { recursive: true })).toEqual({ path: 'tree', entries: 5 });
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  it('writes through a link that leads nowhere only when its target is inside', async () => {
    const { workspace, outside, writer } = await hands();
    symlinkSync(join(outside, 'new'), join(workspace, 'bad'));
    symlinkSync('good-target', join(workspace, 'good'));
    expect(await codeOf(writer.write('bad', bytes('x')))).toBe('outside_workspace');
    expect((await writer.write('good', bytes('x'))).path).toBe('good-target');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(readlinkSync(join(workspace, 'good'))).toBe('good-target');
  });

  it('refuses a workspace whose place was taken by a link', async () => {
    const { base, workspace, outside, files } = await hands();
    spawnSync('mv', [workspace, join(base, 'moved')]);
    symlinkSync(outside, workspace);
    expect(await codeOf(files.read('secret.txt'))).toBe('file_not_found');
  });
});

describe('what is no path', () => {
  it.each([
    ['empty', ''],
    ['NUL', 'a\0b'],
    ['5,000 characters', `${'a/'.repeat(2_500)}b`],
    ['a name of 300', 'n'.repeat(300)],
    ['half a surrogate pair', 'a\ud800'],
  ])('refuses %s', async (_name, path) => {
    const { files, writer } = await hands();
    expect(await codeOf(files.read(path))).toBe('invalid_arguments');
    expect(await codeOf(writer.write(path, bytes('x')))).toBe('invalid_arguments');
  });

  it('gives up on links in a circle', async () => {
    const { workspace, files } = await hands();
    symlinkSync('b', join(workspace, 'a'));
    symlinkSync('a', join(workspace, 'b'));
    expect(await codeOf(files.read('a'))).toBe('file_not_found');
  });
});

describe('what is no regular file', () => {
  it('refuses a FIFO, a socket, a device and a folder at once', async () => {
    const { workspace, files, writer } = await hands();
    spawnSync('mkfifo', [join(workspace, 'fifo')]);
    const server = createServer().listen(join(workspace, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    mkdirSync(join(workspace, 'folder'));
    const names = ['fifo', 'socket', 'folder'];
    if (process.getuid?.() === 0 && spawnSync('mknod', [join(workspace, 'zero'), 'c', '1', '5']).status === 0)
      names.push('zero');
    const started = Date.now();
    for (const name of names) {
      expect(await codeOf(files.read(name))).toBe('not_a_file');
      expect(await codeOf(writer.write(name, bytes('x')))).toBe('not_a_file');
    }
    expect(Date.now() - started).toBeLessThan(1_000);
    expect((await files.stat('fifo')).kind).toBe('other');
  });

  it('refuses a file over 100 MB without reading it, and reads one of 99', async () => {
    const { workspace, files } = await hands();
    writeFileSync(join(workspace, 'huge'), '');
    truncateSync(join(workspace, 'huge'), 101 * 1024 * 1024);
    expect(await codeOf(files.read('huge'))).toBe('file_too_large');
    truncateSync(join(workspace, 'huge'), 99 * 1024 * 1024);
    expect((await files.read('huge')).bytes.length).toBe(103_809_024);
  });
});

describe('writes', () => {
  it('keep the mode, replace the inode, and leave other hard links as they were', async () => {
    const { workspace, outside, writer } = await hands();
    writeFileSync(join(workspace, 'run.sh'), 'old');
    chmodSync(join(workspace, 'run.sh'), 0o751);
    linkSync(join(outside, 'secret.txt'), join(workspace, 'hard'));
    await writer.write('run.sh', bytes('new'));
    await writer.write('hard', bytes('new'));
    expect(statSync(join(workspace, 'run.sh')).mode & 0o777).toBe(0o751);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
    expect(readdirSync(workspace).toSorted()).toEqual(['hard', 'run.sh']);
  });

  it('make missing folders and say whether the file is new', async () => {
    const { workspace, writer } = await hands();
    expect(await writer.write('a/b/c.txt', bytes('x'))).toEqual({
      path: 'a/b/c.txt',
      created: true,
      hash: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
    });
    expect((await writer.write('a/b/c.txt', bytes('y'))).created).toBe(false);
    expect(readFileSync(join(workspace, 'a/b/c.txt'), 'utf8')).toBe('y');
  });

  it('are never seen half done', async () => {
    const { workspace, writer } = await hands();
    const a = 'a'.repeat(1_000_000);
    const b = 'b'.repeat(1_000_000);
    await writer.write('f', bytes(a));
    let done = false;
    const writing = (async () => {
      for (let i = 0; i < 12; i += 1) await writer.write('f', bytes(i % 2 === 0 ? b : a));
      done = true;
    })();
    const seen = new Set<string>();
    while (!done) {
      const content = readFileSync(join(workspace, 'f'), 'utf8');
      seen.add(content === a ? 'a' : content === b ? 'b' : 'torn');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect([...seen].toSorted()).toEqual(['a', 'b']);
  });

  it('with ifHash refuse other content, and are content with what they would write', async () => {
    const { workspace, writer } = await hands();
    writeFileSync(join(workspace, 'f'), 'one');
    const one = '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed';
    expect((await writer.write('f', bytes('two'), { ifHash: one })).created).toBe(false);
    expect((await writer.write('f', bytes('two'), { ifHash: one })).created).toBe(false);
    expect(await codeOf(writer.write('f', bytes('three'), { ifHash: one }))).toBe('file_changed');
    expect(await codeOf(writer.write('absent', bytes('three'), { ifHash: one }))).toBe('file_changed');
  });

  it('stop on abort without a trace', async () => {
    const folders = scratch();
    const abort = new AbortController();
    const { writer } = await contextOf(folders, { signal: abort.signal });
    abort.abort();
    expect(await codeOf(writer?.write('f', bytes('x')) ?? Promise.resolve())).toBe('cancelled');
    expect(readdirSync(folders.workspace)).toEqual([]);
  });
});

describe('an edit tried again', () => {
  const twice = (present: Uint8Array) => ({ bytes: bytes(`${text(present)}+`), note: [1] });

  it('finds its own work and applies nothing twice', async () => {
    const { workspace, writer } = await hands();
    writeFileSync(join(workspace, 'f'), 'x');
    const first = await writer.update('f', twice);
    expect(await writer.update('f', twice)).toEqual(first);
    expect(readFileSync(join(workspace, 'f'), 'utf8')).toBe('x+');
  });

  it('applies itself when the first try died before the rename', async () => {
    const { workspace, writer } = await hands();
    writeFileSync(join(workspace, 'f'), 'x');
    await writer.update('f', twice);
    writeFileSync(join(workspace, 'f'), 'x');
    await writer.update('f', twice);
    expect(readFileSync(join(workspace, 'f'), 'utf8')).toBe('x+');
  });

  it('says that it cannot tell when someone else changed the file in between', async () => {
    const { workspace, writer } = await hands();
    writeFileSync(join(workspace, 'f'), 'x');
    await writer.update('f', twice);
    writeFileSync(join(workspace, 'f'), 'other');
    expect(await codeOf(writer.update('f', twice))).toBe('file_changed');
    expect(readFileSync(join(workspace, 'f'), 'utf8')).toBe('other');
  });

  it('does not overwrite what a person saved while it was prepared', async () => {
    const { workspace, writer } = await hands();
    writeFileSync(join(workspace, 'f'), 'x');
    const slow = writer.update('f', (present) => {
      writeFileSync(join(workspace, 'f'), 'saved by a person');
      return twice(present);
    });
    expect(await codeOf(slow)).toBe('file_changed');
    expect(readFileSync(join(workspace, 'f'), 'utf8')).toBe('saved by a person');
    expect(readdirSync(workspace)).toEqual(['f']);
  });
});

describe('protected paths', () => {
  it('are refused by name, by another spelling, by hard link and by the folder around them', async () => {
    const folders = scratch();
    const { workspace } = folders;
    mkdirSync(join(workspace, 'conf'));
    writeFileSync(join(workspace, 'conf/countersign.json'), '{}');
    linkSync(join(workspace, 'conf/countersign.json'), join(workspace, 'innocent.json'));
    symlinkSync('conf', join(workspace, 'link'));
    const { files, writer } = await contextOf(folders, {
      protectedPaths: [join(workspace, 'conf/countersign.json'), join(workspace, 'not-yet')],
    });
    for (const path of [
      'conf/countersign.json',
      'link/countersign.json',
      'innocent.json',
      'conf/../link/countersign.json',
    ]) {
      expect(await codeOf(files?.read(path) ?? Promise.resolve())).toBe('protected_path');
      expect(await codeOf(writer?.write(path, bytes('x')) ?? Promise.resolve())).toBe('protected_path');
    }
    expect(await codeOf(writer?.write('not-yet', bytes('x')) ?? Promise.resolve())).toBe('protected_path');
    expect(await codeOf(writer?.write('not-yet/below', bytes('x')) ?? Promise.resolve())).toBe('protected_path');
    expect(await codeOf(writer?.remove('conf', { recursive: true }) ?? Promise.resolve())).toBe('protected_path');
    expect(readFileSync(join(workspace, 'conf/countersign.json'), 'utf8')).toBe('{}');
    expect(existsSync(join(workspace, 'not-yet'))).toBe(false);
  });

  it('are refused when the state folder lies in the workspace', async () => {
    const folders = scratch();
    const stateDir = join(folders.workspace, '.state');
    mkdirSync(stateDir);
    writeFileSync(join(stateDir, 'x'), '');
    const { files, writer } = await contextOf({ ...folders, stateDir });
    expect(await codeOf(files?.read('.state/x') ?? Promise.resolve())).toBe('protected_path');
    expect(await codeOf(writer?.remove('.state', { recursive: true }) ?? Promise.resolve())).toBe('protected_path');
    expect((await files?.list('.'))?.entries).toEqual([]);
  });

  it.each(['.git/config', '.git/hooks/pre-commit', 'sub/.git/config', '.GIT/hooks/x', '.git', 'link/config'])(
    'cover what git executes: %s',
    async (path) => {
      const { workspace, writer } = await hands();
      mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
      writeFileSync(join(workspace, '.git/config'), '');
      symlinkSync('.git', join(workspace, 'link'));
      expect(await codeOf(writer.write(path, bytes('x')))).toMatch(/protected_path|not_a_file/);
      expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe('');
      expect(existsSync(join(workspace, 'sub/.git/config'))).toBe(false);
    },
  );

  it('leave the rest of a repository alone', async () => {
    const { writer } = await hands();
    expect((await writer.write('.git/info/exclude', bytes('x'))).created).toBe(true);
    expect((await writer.write('.github/config', bytes('x'))).created).toBe(true);
  });
});

describe('listing', () => {
  it('tells kinds, sizes and dotted names in order', async () => {
    const { workspace, files } = await hands();
    writeFileSync(join(workspace, 'b'), '12345');
    writeFileSync(join(workspace, '.a'), '');
    mkdirSync(join(workspace, 'c'));
    symlinkSync('/etc', join(workspace, 'd'));
    const { entries } = await files.list('.');
    expect(entries.map(({ name, kind, bytes: size }) => [name, kind, size])).toEqual([
      ['.a', 'file', 0],
      ['b', 'file', 5],
      ['c', 'directory', 0],
      ['d', 'symlink', 0],
    ]);
    expect(await codeOf(files.list('b'))).toBe('not_a_directory');
    expect(await codeOf(files.list('absent'))).toBe('file_not_found');
    expect(await codeOf(files.read('b/x'))).toBe('not_a_directory');
  });
});

it('tells in our words what the system refuses', async () => {
  const { workspace, writer } = await hands();
  writeFileSync(join(workspace, 'f'), 'x');
  const work = writer.update('f', (present) => {
    spawnSync('rm', ['-rf', join(workspace, 'f')]);
    return { bytes: present, note: null };
  });
  expect(await codeOf(work)).toBe('file_changed');
});

it('lets go of every descriptor', async () => {
  const { workspace, files, writer } = await hands();
  mkdirSync(join(workspace, 'a/b/c'), { recursive: true });
  symlinkSync('a/b', join(workspace, 'l'));
  const open = () => readdirSync('/proc/self/fd').length;
  await writer.write('l/c/x', bytes('1'));
  const before = open();
  for (let i = 0; i < 50; i += 1) {
    await writer.write('l/c/x', bytes(String(i)));
    await files.read('l/c/x');
    await codeOf(files.read('l/../../../x'));
    await codeOf(files.read('l/c/x/y'));
  }
  expect(open()).toBe(before);
  unlinkSync(join(workspace, 'l'));
  expect(lstatSync(join(workspace, 'a')).isDirectory()).toBe(true);
});
