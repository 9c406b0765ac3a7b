import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveSubjects } from '../../../src/context/files/subjects.ts';
import type { Subject } from '../../../src/tools/define-tool.ts';
import { codeOf, scratch } from '../support.ts';

const pathSubject = (path: string, access: 'read' | 'write' | 'delete' = 'read'): Subject => ({
  kind: 'path',
  argument: 'path',
  path,
  access,
});

describe('paths', () => {
  it('become canonical, links resolved as far as they exist', async () => {
    const { workspace, outside, base } = scratch();
    mkdirSync(join(workspace, 'd'));
    writeFileSync(join(workspace, 'd/f'), '');
    symlinkSync('d', join(workspace, 'in'));
    symlinkSync(outside, join(workspace, 'out'));
    const cases: [path: string, canonical: string, relative: string | undefined, folder?: boolean][] = [
      ['.', workspace, '', true],
      ['d/f', `${workspace}/d/f`, 'd/f', false],
      ['d/f/x', `${workspace}/d/f/x`, 'd/f/x'],
      ['in', `${workspace}/d`, 'd', true],
      ['in/f', `${workspace}/d/f`, 'd/f', false],
      ['in/new/deep', `${workspace}/d/new/deep`, 'd/new/deep'],
      ['out/secret.txt', `${outside}/secret.txt`, undefined, false],
      ['out/new', `${outside}/new`, undefined],
      ['out/../workspace/d', `${workspace}/d`, 'd', true],
      ['../outside', outside, undefined, true],
      ['../workspace-2', `${base}/workspace-2`, undefined],
      ['/etc/passwd', '/etc/passwd', undefined, false],
      ['/../../etc', '/etc', undefined, true],
      [`${workspace}//d/./f`, `${workspace}/d/f`, 'd/f', false],
      ['~/x', `${workspace}/~/x`, '~/x'],
      ['a\\..\\b', `${workspace}/a\\..\\b`, 'a\\..\\b'],
    ];
    for (const [path, canonical, relative, folder] of cases) {
      const [subject] = await resolveSubjects([pathSubject(path)], { workspace });
      expect(subject).toEqual({
        ...pathSubject(path),
        canonical,
        ...(relative === undefined ? {} : { relative }),
        ...(folder === undefined ? {} : { folder }),
        inside: relative !== undefined,
        absolute: path.startsWith('/'),
      });
    }
  });

  it('of a deletion name the link itself', async () => {
    const { workspace, outside } = scratch();
    symlinkSync(outside, join(workspace, 'out'));
    expect(await resolveSubjects([pathSubject('out', 'delete')], { workspace })).toMatchObject([
      { canonical: `${workspace}/out`, inside: true },
    ]);
    expect(await resolveSubjects([pathSubject('out/secret.txt', 'delete')], { workspace })).toMatchObject([
      { canonical: `${outside}/secret.txt`, inside: false },
    ]);
  });

  it.each(['', 'a\0', 'x/'.repeat(3_000), 'n'.repeat(256), '\udfff'])(
    'that are none are refused with the argument at fault',
    async (path) => {
      const work = resolveSubjects([pathSubject(path)], { workspace: '/w' });
      expect(await codeOf(work)).toBe('invalid_arguments');
      await expect(work).rejects.toMatchObject({ field: '/path' });
    },
  );

  it('in a circle are refused', async () => {
    const { workspace } = scratch();
    symlinkSync('a', join(workspace, 'a'));
    expect(await codeOf(resolveSubjects([pathSubject('a')], { workspace }))).toBe('invalid_arguments');
  });
});

it('commands have their folder resolved', async () => {
  const { workspace, outside } = scratch();
  symlinkSync(outside, join(workspace, 'out'));
  const command = { kind: 'command', argument: 'command', command: 'ls', sandbox: true } as const;
  expect(await resolveSubjects([command, { ...command, cwd: 'out', env: { A: '1' } }], { workspace })).toEqual([
    { ...command, cwd: workspace, cwdInside: true, cwdRelative: '', env: {}, operands: {} },
    { ...command, cwd: outside, cwdGiven: 'out', cwdInside: false, env: { A: '1' }, operands: {} },
  ]);
});

it('hosts are read from the URL', async () => {
  expect(
    await resolveSubjects([{ kind: 'host', argument: 'url', url: 'https://Example.ORG:8443/x' }], { workspace: '/w' }),
  ).toMatchObject([{ host: 'example.org' }]);
  expect(await codeOf(resolveSubjects([{ kind: 'host', argument: 'url', url: 'nonsense' }], { workspace: '/w' }))).toBe(
    'invalid_arguments',
  );
});
