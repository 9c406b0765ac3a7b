import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wasWritable, writes } from '../../../src/context/processes/writable.ts';

let base: string;
const at = (name: string): string => join(base, name);
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'countersign-writable-')));
  await mkdir(at('workspace/sub'), { recursive: true });
  await mkdir(at('workspace-2'));
  await writeFile(at('workspace/sub/file'), '');
  await writeFile(at('outside'), '');
  await writeFile(at('of-two-names'), '');
  await link(at('of-two-names'), at('workspace/other-name'));
  await symlink('workspace/sub/file', at('into'));
  await symlink(at('workspace/sub'), at('folder'));
  await symlink('../outside', at('workspace/out-of'));
  await symlink('workspace/out-of', at('through'));
  await symlink('circle', at('workspace/circle'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

describe('a file that a command could write', () => {
  it.each([
    ['workspace/sub/file', true],
    ['workspace/none', true],
    ['workspace/sub/../../outside', false],
    ['outside', false],
    ['workspace-2/file', false],
    // A link of a person's that leads into the workspace, and one in the workspace that leads out of it.
    ['into', true],
    ['folder/file', true],
    ['workspace/out-of', true],
    ['through', true],
    // Its other name may be anywhere.
    ['of-two-names', true],
  ])('%s: %s', (path, expected) => {
    using _running = writes(at('workspace'));
    expect(wasWritable(at(path), performance.now())).toBe(expected);
  });

  it('was so until the last command in its workspace had ended, and a little longer', () => {
    const file = at('workspace-2/file');
    expect(wasWritable(file, 0)).toBe(false);
    const [first, second] = [writes(at('workspace-2')), writes(at('workspace-2'))];
    first[Symbol.dispose]();
    const later = performance.now() + 3_600_000;
    expect(wasWritable(file, later)).toBe(true);
    second[Symbol.dispose]();
    const ended = performance.now();
    expect(wasWritable(file, ended)).toBe(true);
    expect(wasWritable(file, ended + 5_000)).toBe(false);
    expect(wasWritable(file, 0)).toBe(true);
    using _again = writes(at('workspace-2'));
    expect(wasWritable(file, later)).toBe(true);
  });

  it('is none that anybody knows where its links go in a circle', () => {
    using _running = writes(at('workspace'));
    expect(() => wasWritable(at('workspace/circle'), performance.now())).toThrow('in a circle');
  });
});
