import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addTrustedRoot,
  canonicalWorkspace,
  listTrustedRoots,
  removeTrustedRoot,
} from '../../../src/context/files/trusted-roots.ts';
import { codeOf, scratch } from '../support.ts';

describe('a workspace', () => {
  it('is a trusted root or lies in one, and is given by its real path', async () => {
    const { base, workspace } = scratch();
    mkdirSync(join(workspace, 'sub'));
    symlinkSync(workspace, join(base, 'link'));
    expect(await canonicalWorkspace(workspace, [workspace], [])).toBe(workspace);
    expect(await canonicalWorkspace(join(base, 'link/sub'), [workspace], [])).toBe(join(workspace, 'sub'));
    expect(await canonicalWorkspace(workspace, [join(base, 'link')], [])).toBe(workspace);
  });

  it('elsewhere is refused with the command that would trust it', async () => {
    const { workspace, outside, base } = scratch();
    symlinkSync(outside, join(workspace, 'out'));
    await expect(canonicalWorkspace(outside, [workspace], [])).rejects.toMatchObject({
      code: 'untrusted_workspace',
      message: expect.stringContaining(`countersign workspace add ${outside}`),
    });
    expect(await codeOf(canonicalWorkspace(join(workspace, 'out'), [workspace], []))).toBe('untrusted_workspace');
    mkdirSync(join(base, 'workspace-2'));
    expect(await codeOf(canonicalWorkspace(join(base, 'workspace-2'), [workspace], []))).toBe('untrusted_workspace');
  });

  it.each(['/', homedir(), '/home', '/root', '/etc', '/etc/ssl', '/proc', '/dev', '/nonexistent', '/etc/passwd', ''])(
    'is never %s',
    async (dir) => {
      expect(await codeOf(canonicalWorkspace(dir, ['/', dir || '/x', '/etc', homedir()], []))).toMatch(
        /^(untrusted_workspace|invalid_arguments)$/,
      );
    },
  );

  it('neither holds our state nor lies in it; our configuration file in it is no matter', async () => {
    const { base, workspace, stateDir } = scratch();
    mkdirSync(join(stateDir, 'x'));
    writeFileSync(join(workspace, 'countersign.config.jsonc'), '{}');
    const own = [stateDir, join(workspace, 'countersign.config.jsonc'), join(workspace, 'absent')];
    for (const dir of [stateDir, join(stateDir, 'x'), base])
      expect(await codeOf(canonicalWorkspace(dir, [base], own))).toBe('untrusted_workspace');
    expect(await canonicalWorkspace(workspace, [base], own)).toBe(workspace);
  });
});

describe('the list of trusted roots', () => {
  it('takes, lists and drops real paths, once each', async () => {
    const { base, workspace, outside } = scratch();
    const file = join(base, 'config/workspaces.json');
    expect(await listTrustedRoots(file)).toEqual([]);
    symlinkSync(workspace, join(base, 'link'));
    expect(await addTrustedRoot(file, join(base, 'link'))).toBe(workspace);
    await addTrustedRoot(file, workspace);
    await addTrustedRoot(file, outside);
    expect(await listTrustedRoots(file)).toEqual([outside, workspace]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await removeTrustedRoot(file, join(base, 'link'))).toBe(true);
    expect(await removeTrustedRoot(file, workspace)).toBe(false);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ workspaces: [outside] });
  });

  it('refuses what can be no workspace, and a damaged file', async () => {
    const { base } = scratch();
    const file = join(base, 'workspaces.json');
    expect(await codeOf(addTrustedRoot(file, '/'))).toBe('untrusted_workspace');
    expect(await codeOf(addTrustedRoot(file, homedir()))).toBe('untrusted_workspace');
    for (const content of ['', 'nonsense', '[]', '{"workspaces":[1]}', '{"workspaces":["relative"]}']) {
      writeFileSync(file, content);
      expect(await codeOf(listTrustedRoots(file))).toBe('invalid_config');
    }
  });
});
