/** What a command is bound to, and that it runs from what was bound, whatever happens to the files meanwhile. */
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOTHING_PROTECTED } from '../../../src/context/files/beneath.ts';
import { type CommandBinding, bindCommand } from '../../../src/context/processes/bind-command.ts';
import { openElevated } from '../../../src/context/processes/elevated.ts';
import { sandboxProcesses } from '../../../src/context/processes/processes.ts';
import { sealCommand } from '../../../src/context/processes/seal.ts';

let root: string;
let state: string;
let folder: string;
const { signal } = new AbortController();

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-bind-')));
  root = join(folder, 'workspace');
  state = join(folder, 'state');
  await mkdir(root);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = async (path: string, text: string, mode = 0o755): Promise<void> => {
  await writeFile(join(root, path), text);
  await chmod(join(root, path), mode);
};

const bind = (
  command: string,
  over: { sandbox?: boolean; env?: Record<string, string>; cwd?: string } = {},
): Promise<CommandBinding> => {
  const { sandbox = false, env = {}, cwd = root } = over;
  return bindCommand(
    { kind: 'command', argument: '/command', command, sandbox, cwd, cwdInside: true, env },
    { root, protection: NOTHING_PROTECTED, sandboxed: true, sandbox: {}, signal },
  );
};

describe('what is bound', () => {
  it.each([
    ['a comment in quotes', "echo 'a\n# ' ; python3 evil.py ; echo '\n'"],
    ['an empty line that ends one', 'echo \\\n\npython3 evil.py'],
    ['a word that would be a line of its own', 'echo \\\nset -e\npython3 evil.py'],
    ['a comment behind a blank that is none to a shell', 'echo a\n\u00a0#x/evil'],
    ['such a word in quotes', "echo 'a\nset -e\n' ; echo 'b\n#' ; python3 evil.py ; echo '\n'"],
  ])('of a script is all that it runs, whatever is drawn as %s', async (_, text) => {
    await put('evil.py', 'print(1)');
    await put('run.sh', `#!/bin/sh\n${text}\n`);
    expect((await bind('./run.sh')).bound.partly).toBe(true);
  });

  it('of a script says nothing of its comments, empty lines and settings', async () => {
    await put('run.sh', '#!/bin/bash\n# builds\n\nset -euo pipefail\n  # it\necho built\n\n');
    await put('empty.sh', '#!/bin/sh\n# nothing\n\n');
    for (const script of ['./run.sh', './empty.sh']) expect((await bind(script)).bound.unbound).toEqual([]);
  });

  it('of a plain command is its program, folder and environment', async () => {
    const { bound } = await bind('ls -la /tmp', { sandbox: true });
    expect(bound).toMatchObject({
      executables: [{ name: 'ls', path: '/usr/bin/ls' }],
      cwd: root,
      scripts: [],
      partly: false,
      unbound: [],
    });
    expect(bound.envHash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('of a script is its content, by the path that links lead to', async () => {
    await put('deploy.sh', 'ls /tmp\n');
    await symlink('deploy.sh', join(root, 'link.sh'));
    for (const command of [
      './deploy.sh',
      'bash deploy.sh now',
      'sh -eu ./link.sh',
      'source deploy.sh',
      `${root}/deploy.sh`,
    ]) {
      const { bound } = await bind(command);
      expect([command, bound.partly, bound.scripts.map(({ path }) => path)]).toEqual([
        command,
        false,
        [join(root, 'deploy.sh')],
      ]);
      expect(bound.scripts[0]?.sha256).toBe('a23f343578c3757f60486a126ef6e0e068c4eac9dbefff85d5128d1a446df5e0');
    }
  });

  it('changes with the environment, the folder and the content', async () => {
    await mkdir(join(root, 'sub'));
    await put('x.sh', 'ls\n');
    const first = (await bind('./x.sh')).bound;
    expect((await bind('./x.sh')).bound).toEqual(first);
    expect((await bind('./x.sh', { env: { A: '1' } })).bound.envHash).not.toBe(first.envHash);
    expect((await bind('../x.sh', { cwd: join(root, 'sub') })).bound.cwd).toBe(join(root, 'sub'));
    await put('x.sh', 'ls -l\n');
    expect((await bind('./x.sh')).bound.scripts[0]?.sha256).not.toBe(first.scripts[0]?.sha256);
  });

  it('finds programs by the PATH that the command gets', async () => {
    await mkdir(join(root, 'bin'));
    await put('bin/ls', 'id\n');
    const { bound } = await bind('ls', { env: { PATH: `${root}/bin:/usr/bin` } });
    expect(bound).toMatchObject({ scripts: [{ path: join(root, 'bin/ls') }] });
    expect((await bind('ls', { env: { PATH: 'bin:/usr/bin' } })).bound).toMatchObject({
      partly: true,
      scripts: [{ path: join(root, 'bin/ls') }],
    });
  });
});

describe('partly bound, and why', () => {
  const cases: [string, RegExp][] = [
    ['npm test', /npm runs what its words and the project's own files say/],
    ['node -e "require(\'./x\')"', /node runs what/],
    ['node x.mjs', /what node loads besides x.mjs is not bound/],
    ['bash -c ./x.sh', /options before its script|bash runs what/],
    ['sudo ./x.sh', /sudo runs other programs/],
    ['./x.sh > out', /not plain \(it redirects/],
    ['./$(echo x).sh', /not plain/],
    ['A=1 ./x.sh', /not plain \(it sets variables/],
    ['cd sub && ./x.sh', /cd changes the folder/],
    ['./loader.sh', /x.sh runs from the workspace itself/],
    ['./clever.sh', /clever.sh does more than can be told/],
    ['./py', /what python3 loads besides py is not bound/],
    ['jobs -x ./py', /jobs runs other programs, in its own way/],
    ['nosuchprogram', /no program "nosuchprogram" was found/],
    ['./escape', /no program|could not be read/],
    ['./through', /through is started by #!\/bin\/sh .\/x.sh, which may run more/],
    ['sh through; ./through', /through is started by #!\/bin\/sh .\/x.sh, which may run more/],
    ['./renamed', /renamed is started by #!\/tmp\/bash, which may run more/],
    ['./binary', /^binary may run more than its words say$/],
    ['zsh x.sh', /what zsh loads besides x.sh is not bound/],
  ];
  it.each(cases)('%s', async (command, reason) => {
    await put('x.sh', 'ls\n');
    await put('x.mjs', '1\n');
    await put('loader.sh', 'ls\n. ./x.sh\n');
    await put('clever.sh', 'for f in *; do $f; done\n');
    await put('py', '#!/usr/bin/env python3\nimport os\n');
    await symlink('/nonexistent', join(root, 'escape'));
    await put('through', '#!/bin/sh ./x.sh\nls\n');
    await put('renamed', '#!/tmp/bash\nls\n');
    await put('binary', '\0\0ELF');
    const { bound } = await bind(command);
    expect(bound.partly).toBe(true);
    expect(bound.unbound.join('\n')).toMatch(reason);
  });

  it.each([
    'hash -p ./bin/ls ls; ls',
    'printf -v PATH %s bin; ls',
    'printf -vPATH %s bin; ls',
    'printf %n PATH; ls',
    'printf -- %5ln PATH; ls',
    'read PATH; ls',
    'unset PATH; ls',
    'export PATH=bin; ls',
    'declare -x PATH=bin; ls',
    'typeset PATH=bin; ls',
    'readonly PATH=bin; ls',
    'mapfile PATH; ls',
    'getopts a PATH; ls',
    'let PATH=1; ls',
    'wait -p PATH; ls',
    'alias ls=./bin/ls; ls',
    'enable -f ./x.so ls; ls',
    'set -k; ls',
    'shopt -s expand_aliases; ls',
    "test -v 'a[$(./bin/ls)]'; ls",
    './setter.sh; ls',
    '. ./setter.sh; ls',
  ])('%s may change what ls is', async (command) => {
    await put('setter.sh', 'hash -p ./bin/ls ls\n');
    const { bound } = await bind(command);
    expect(bound).toMatchObject({ partly: true, executables: [] });
    expect(bound.unbound.join('\n')).toMatch(/can change what later words run/);
  });

  it.each(['echo -n a; ls', 'printf -- %s a; ls', 'test -f a && ls', 'set -euo pipefail; ls', 'true; kill 0; ls'])(
    'not %s',
    async (command) =>
      expect((await bind(command)).bound).toMatchObject({ partly: false, executables: [{ name: 'ls' }] }),
  );

  it('any program that is not known to run nothing but its words, by another name too', async () => {
    // Few of them are here: what is asked is whether the program, were it found, is known.
    const bin = join(folder, 'usr-bin');
    await mkdir(bin);
    for (const name of ['tar', 'pytest', 'touch']) {
      await writeFile(join(bin, name), 'ls\n');
      await chmod(join(bin, name), 0o755);
    }
    await symlink('/usr/bin/env', join(bin, 'mkdir'));
    await symlink('/usr/bin/env', join(root, 'rm'));
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    for (const [command, name] of [
      ['tar -xf a.tar --to-command=./x.sh', 'tar'],
      ['pytest', 'pytest'],
      // Known by name, and not the system's own.
      ['touch x', 'touch'],
      [`${bin}/touch x`, 'touch'],
      [`/usr/bin/../..${bin}/touch x`, 'touch'],
      // A name that leads to another program of the system.
      ['mkdir ./x.sh', 'mkdir'],
      ['./rm ./x.sh', 'rm'],
      ['sort --compress-program=./x.sh x', 'sort'],
      ['sort -o x y', 'sort'],
      ['split --filter=./x.sh x', 'split'],
      ['/usr/bin/split --filter=./x.sh x', 'split'],
      ['cp --unheard-of a b', 'cp'],
      ['egrep x y', 'egrep'],
      ['dpkg -i x.deb', 'dpkg'],
      ['ls; ldd ./x', 'ldd'],
      ['./within.sh', 'split'],
    ] as const) {
      await put('within.sh', 'split --filter=./x.sh x\n');
      const { bound } = await bind(command, { env });
      expect([command, bound.partly, bound.unbound]).toEqual([
        command,
        true,
        expect.arrayContaining([`${name} may run more than its words say`]),
      ]);
    }
  });

  it.each([
    'touch -d yesterday a',
    'mkdir -p a/b',
    'rmdir a',
    'cp -r a b',
    'mv --no-clobber a b',
    'ln -sfn a b',
    'rm -rf a',
    'unlink a',
    'chmod -R u+x a',
    'chown nobody a',
    'chgrp nogroup a',
    'truncate --size 0 a',
    'tee -a a',
    'sort -k 2 a',
    'find . -name a',
    'sed -n 1,5p a',
    '/usr/bin/touch a',
    'mkdir a && ls a | sort',
  ])('not %s', async (command) => {
    expect((await bind(command)).bound).toMatchObject({ partly: false, unbound: [] });
    expect((await bind(command, { sandbox: true })).bound).toMatchObject({ partly: false, unbound: [] });
  });

  it.each([
    ['cp evil /tmp/bin/ls; ls', 'cp', 'ls'],
    ['chmod +x /tmp/bin/ls && ls', 'chmod', 'ls'],
    ['ls | tee /tmp/bin/ls', 'tee', 'ls'],
    ['mv /tmp/evil /tmp/bin/cp; cp a b', 'mv', 'cp'],
    ['ln -s /tmp/evil /tmp/bin/bash; bash x.sh', 'ln', 'bash'],
    ['./copies.sh; ls', 'cp', 'ls'],
  ])('%s where another program can be left for a later one', async (command, by, name) => {
    await put('x.sh', 'true\n');
    await put('copies.sh', 'cp evil /tmp/bin/ls\n');
    const [open, shut] = await Promise.all(
      ['/tmp/bin:/usr/bin:/bin', '/usr/bin:/bin'].map((PATH) => bind(command, { sandbox: true, env: { PATH } })),
    );
    expect(open?.bound.unbound).toEqual([`${by} may put another program in the place of ${name}`]);
    expect(shut?.bound).toMatchObject({ partly: false });
  });

  it('still notices a change of the files that could be told', async () => {
    await put('x.sh', 'ls\n');
    await put('loader.sh', '. ./x.sh\n');
    for (const command of [
      './x.sh > out',
      'sudo bash x.sh',
      'timeout 5 ./x.sh',
      './loader.sh',
      'A=1 bash x.sh | cat',
    ]) {
      expect((await bind(command)).bound.scripts.map(({ path }) => path)).toContain(join(root, 'x.sh'));
    }
  });
});

describe('a sealed script', () => {
  const runs = async (binding: CommandBinding, meanwhile: () => Promise<void>): Promise<string> => {
    await using sealed = await sealCommand(state, binding);
    await meanwhile();
    const place = { root, protection: NOTHING_PROTECTED, signal };
    const processes = binding.inside ? sandboxProcesses({ ...place, sealed: sealed.files }, {}) : openElevated(place);
    const result = await processes.run({ command: sealed.command, timeoutMs: 10_000 });
    return Buffer.from(result.interleaved).toString();
  };
  const swap = async (): Promise<void> => {
    await put('evil.sh', 'echo evil\n');
    await rename(join(root, 'evil.sh'), join(root, 'x.sh'));
  };

  it.each([false, true])('runs as it was, though another file takes its place (sandbox: %s)', async (sandbox) => {
    await put('x.sh', '#!/bin/sh\necho approved "$1"\n');
    for (const command of [
      './x.sh one',
      'bash x.sh one',
      `time bash ${root}/x.sh one`,
      'timeout 5 ./x.sh one',
      'nice env bash x.sh one',
    ]) {
      expect(await runs(await bind(command, { sandbox }), async () => undefined)).toContain('approved one\n');
      expect(await runs(await bind(command, { sandbox }), swap)).toContain('approved one\n');
      await put('x.sh', '#!/bin/sh\necho approved "$1"\n');
    }
  });

  it.each([false, true])('keeps running as it was while it runs (sandbox: %s)', async (sandbox) => {
    // bash reads a script as it goes: what is renamed over the original, or written into it, is not read.
    await put('x.sh', '#!/bin/bash\necho first\nsleep 1\necho second\n');
    const binding = await bind('./x.sh; ./x.sh', { sandbox });
    const output = await runs(binding, async () => {
      setTimeout(() => void writeFile(join(root, 'x.sh'), 'echo evil\necho evil\necho evil\n'), 300);
      setTimeout(() => void swap(), 600);
    });
    expect(output).toBe('first\nsecond\nfirst\nsecond\n');
  });

  it('can be written by nobody, and is gone afterwards', async () => {
    await put('x.sh', 'echo a\n');
    const sealed = await sealCommand(state, await bind('./x.sh'));
    expect(sealed.command).toMatch(new RegExp(`^'${state}/sealed/[0-9a-f]{24}/0/x.sh'$`));
    const [only = ''] = await readdir(join(state, 'sealed'));
    expect(await readFile(join(state, 'sealed', only, '0', 'x.sh'), 'utf8')).toBe('echo a\n');
    await sealed[Symbol.asyncDispose]();
    expect(await readdir(join(state, 'sealed'))).toEqual([]);
  });

  it('of a worker that was killed is taken away a day later', async () => {
    await put('x.sh', 'ls\n');
    const [old, young] = [join(state, 'sealed', 'old'), join(state, 'sealed', 'young')];
    await mkdir(join(old, '0'), { recursive: true });
    await mkdir(young);
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await utimes(old, yesterday, yesterday);
    await using sealed = await sealCommand(state, await bind('./x.sh'));
    expect(sealed.command).toContain('/0/x.sh');
    expect(await readdir(join(state, 'sealed'))).toHaveLength(2);
    expect(await readdir(join(state, 'sealed'))).toContain('young');
  });

  it('is never put in the place of a file that a program works on', async () => {
    await put('x.sh', 'a\n');
    for (const command of [
      'sed -i s/a/b/ x.sh',
      'find x.sh -delete',
      'git add x.sh',
      'bash -c ./x.sh',
      'cat x.sh',
      'flock x.sh ls',
    ]) {
      await using sealed = await sealCommand(state, await bind(command));
      expect(sealed.command).toBe(command);
    }
  });

  it('quotes what it rewrites', async () => {
    await mkdir(join(root, "o'dd dir"));
    await put("o'dd dir/x.sh", 'echo "$1"\n');
    expect(await runs(await bind(`bash "o'dd dir/x.sh" 'a  b;c'`), async () => undefined)).toBe('a  b;c\n');
  });
});
