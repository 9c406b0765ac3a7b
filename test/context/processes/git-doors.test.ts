import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveSubjects } from '../../../src/context/files/subjects.ts';
import { contextOf, eventually, factsOf, scratch, text, type Scratch } from '../support.ts';

const ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 't',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 't',
  GIT_COMMITTER_EMAIL: 't@example.org',
};

/** A repository as `git init` makes it, with git as a person runs it, and a shell as a session has it. */
async function repository() {
  const folders: Scratch = scratch();
  const { workspace } = folders;
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: workspace, env: ENV, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  git('init', '-q', '-b', 'main');
  const { shell } = await contextOf(folders);
  if (shell === undefined) throw new Error('no shell');
  const run = async (command: string, timeoutMs = 10_000) => text((await shell.run({ command, timeoutMs })).stdout);
  const pwned = join(folders.outside, 'pwned');
  return { ...folders, git, run, pwned, payload: `[core]\\n\\tfsmonitor = "touch ${pwned}; false"\\n` };
}

const entries = (workspace: string) => readdirSync(join(workspace, '.git')).toSorted();

describe('what git obeys and is not there', () => {
  it('commondir cannot be planted', async () => {
    const { workspace, git, run, pwned, payload } = await repository();
    const before = entries(workspace);
    await run(
      `mkdir evil; cp -r .git/objects .git/refs evil/; printf '${payload}' > evil/config; echo ../evil > .git/commondir;
       rm -f .git/commondir; ln -sfn ../evil/c .git/commondir; echo ../evil > c; mv -f c .git/commondir; ln -f evil/config .git/commondir`,
    );
    expect(git('status', '--short')).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(pwned)).toBe(false);
    expect(entries(workspace)).toEqual(before);
    // The same does run it when planted, so the test would notice.
    writeFileSync(join(workspace, '.git/commondir'), '../evil\n');
    git('status', '--short');
    expect(existsSync(pwned)).toBe(true);
  });

  it('config.worktree cannot be planted, also where git reads it', async () => {
    const { workspace, git, run, pwned, payload } = await repository();
    git('config', 'extensions.worktreeConfig', 'true');
    const before = entries(workspace);
    const plant = `printf '${payload}' > .git/config.worktree; printf '${payload}' > c; mv -f c .git/config.worktree; git status >/dev/null && echo fine`;
    expect(await run(plant)).toBe('fine\n');
    expect(git('status', '--short').status).toBe(0);
    expect(existsSync(pwned)).toBe(false);
    expect(entries(workspace)).toEqual(before);
    writeFileSync(join(workspace, '.git/config.worktree'), payload.replaceAll('\\n', '\n').replaceAll('\\t', '\t'));
    git('status', '--short');
    expect(existsSync(pwned)).toBe(true);
  });

  it.each(['worktrees', 'modules'])('%s cannot be planted', async (name) => {
    const { workspace, git, run, pwned, payload } = await repository();
    const before = entries(workspace);
    await run(
      `rmdir .git/${name}; mv .git/${name} x; mkdir -p .git/${name}/x evil/x; printf '${payload}' > .git/${name}/x/config; cp -r .git/HEAD .git/objects .git/refs .git/${name}/x/;
       mv -T evil .git/${name}; ln -s ../evil .git/${name}; mkdir sub; echo 'gitdir: ../.git/${name}/x' > sub/.git`,
    );
    expect(git('status', '--short').status).toBe(0);
    git('-C', 'sub', 'status', '--short');
    expect(existsSync(pwned)).toBe(false);
    expect(entries(workspace)).toEqual(before);
  });

  it('nor can a missing config', async () => {
    const { workspace, git, run, pwned, payload } = await repository();
    rmSync(join(workspace, '.git/config'));
    await run(`printf '${payload}' > .git/config; printf '${payload}' > c; mv -f c .git/config`);
    expect(git('status', '--short').status).toBe(0);
    expect([existsSync(pwned), existsSync(join(workspace, '.git/config'))]).toEqual([false, false]);
  });

  it('stays shut for a command while others of the workspace end', async () => {
    const { workspace, git, run, pwned, payload } = await repository();
    const before = entries(workspace);
    const plant = `mkdir -p evil; cp -r .git/objects .git/refs evil/; printf '${payload}' > evil/config; touch ready; for i in $(seq 100); do [ -e go ] && break; sleep 0.05; done; echo ../evil > .git/commondir; mkdir .git/modules/x .git/worktrees/x; echo x > .git/config.worktree; cat .git/commondir`;
    const long = run(plant);
    expect(await eventually(() => existsSync(join(workspace, 'ready')))).toBe(true);
    await Promise.all([run('true'), run('true'), run('sleep 1 & sleep 9', 300)]);
    expect(git('status', '--short').status).toBe(0);
    writeFileSync(join(workspace, 'go'), '');
    expect(await long).toBe('.\n');
    git('status', '--short');
    expect(existsSync(pwned)).toBe(false);
    expect(entries(workspace)).toEqual(before);
  });

  it('stays shut while a command of another worker ends', async () => {
    const { workspace, run, stateDir } = await repository();
    const before = entries(workspace);
    const long = run(
      'touch ready; for i in $(seq 200); do [ -e go ] && break; sleep 0.05; done; echo x > .git/commondir; cat .git/commondir',
    );
    expect(await eventually(() => existsSync(join(workspace, 'ready')))).toBe(true);
    const source = join(import.meta.dirname, '../../../src/context/processes/processes.ts');
    const code = `const { sandboxProcesses } = await import(${JSON.stringify(source)});
      const shell = sandboxProcesses({ root: ${JSON.stringify(workspace)}, protection: { paths: [${JSON.stringify(stateDir)}], identities: new Set() }, signal: new AbortController().signal }, {});
      console.log((await shell.run({ command: 'true', timeoutMs: 5000 })).exitCode);`;
    const other = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(other.stdout).toBe('0\n');
    writeFileSync(join(workspace, 'go'), '');
    expect(await long).toBe('.\n');
    expect(entries(workspace)).toEqual(before);
  });
});

describe('what stands there meanwhile', () => {
  it('does not disturb git, on either side', async () => {
    const { workspace, git, run } = await repository();
    const steps =
      'git add a && git commit -qm first && git status --short && git log --format=%s && git checkout -qb other && git stash list && git gc -q && git worktree list | wc -l';
    writeFileSync(join(workspace, 'a'), 'a');
    const identity = 'export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@x GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@x';
    expect(await run(`${identity}; ${steps}`)).toBe('first\n1\n');
    const long = run('touch ready; for i in $(seq 100); do [ -e go ] && break; sleep 0.05; done');
    expect(await eventually(() => existsSync(join(workspace, 'ready')))).toBe(true);
    writeFileSync(join(workspace, 'a'), 'b');
    for (const args of [
      ['status', '--short'],
      ['stash'],
      ['stash', 'pop'],
      ['checkout', '-q', 'main'],
      ['add', 'a'],
      ['commit', '-qm', 'second'],
      ['config', 'a.b', 'c'],
      ['worktree', 'add', '-q', '../tree', 'other'],
      ['-C', '../tree', 'status', '--short'],
      ['gc', '-q'],
    ])
      expect({ args, ...git(...args) }).toMatchObject({ args, status: 0 });
    writeFileSync(join(workspace, 'go'), '');
    await long;
    expect(existsSync(join(workspace, '.git/commondir'))).toBe(false);
    expect(git('worktree', 'list').stdout.trim().split('\n').length).toBe(2);
    expect(git('log', '--format=%s').stdout).toBe('second\nfirst\n');
  });

  it('is taken away after a worker that was killed; what a person made is left', async () => {
    const { workspace, run } = await repository();
    const inside = (name: string) => join(workspace, '.git', name);
    writeFileSync(inside('commondir'), '.\n');
    mkdirSync(inside('modules'));
    writeFileSync(inside('config.worktree'), '');
    const { ino } = statSync(inside('config.worktree'));
    await run('true');
    expect([existsSync(inside('commondir')), existsSync(inside('worktrees'))]).toEqual([false, false]);
    expect([existsSync(inside('modules')), statSync(inside('config.worktree')).ino]).toEqual([true, ino]);
    writeFileSync(inside('commondir'), '../other\n');
    await run('true');
    expect(readFileSync(inside('commondir'), 'utf8')).toBe('../other\n');
  });

  it('is not written through a link', async () => {
    const { workspace, outside, run } = await repository();
    rmSync(join(workspace, '.git/hooks'), { recursive: true });
    symlinkSync(outside, join(workspace, '.git/hooks'));
    symlinkSync(join(outside, 'made'), join(workspace, '.git/config.worktree'));
    expect(await run('cat .git/commondir')).toBe('.\n');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(existsSync(join(workspace, '.git/commondir'))).toBe(false);
  });
});

describe('a link that a person set among what git obeys', () => {
  it.each(['shared/hooks', '../outside'])(
    'is not exchanged, nor what it leads to changed: hooks in %s',
    async (target) => {
      const { workspace, outside, git, run, pwned } = await repository();
      mkdirSync(join(workspace, 'shared/hooks'), { recursive: true });
      rmSync(join(workspace, '.git/hooks'), { recursive: true });
      symlinkSync(`../${target}`, join(workspace, '.git/hooks'));
      await run(
        `hook() { mkdir -p $1; printf '#!/bin/sh\ntouch ${pwned}' > $1/post-index-change; chmod +x $1/post-index-change; }
       hook .git/hooks; hook shared/hooks; rm -f .git/hooks; mv shared away; hook .git/hooks; hook shared/hooks; echo a > a.txt`,
      );
      expect(git('add', 'a.txt')).toMatchObject({ status: 0, stderr: '' });
      expect(existsSync(pwned)).toBe(false);
      expect(readdirSync(outside)).toEqual(['secret.txt']);
      expect(await run('git status --short a.txt')).toBe('A  a.txt\n');
    },
  );
});

describe('what the configuration of a repository names', () => {
  it.each([
    ['core.hooksPath', 'tools/git', 'tools/git'],
    ['core.hooksPath', '"./tools/git/"', 'tools/git'],
    ['include.path', '../tools/git/config', 'tools/git/config'],
    ['includeIf.onbranch:main.path', '../tools/git/config', 'tools/git/config'],
  ])('%s %s: a command cannot change it, and the file tools ask', async (name, value, place) => {
    const folders = await repository();
    const { workspace, git, run, pwned, payload } = folders;
    mkdirSync(join(workspace, 'tools/git'), { recursive: true });
    writeFileSync(join(workspace, 'tools/git/config'), '');
    git('config', name, value.replaceAll('"', ''));
    if (value.startsWith('"')) writeFileSync(join(workspace, '.git/config'), `[core]\n\thooksPath = ${value} # ours\n`);
    await run(
      `printf '${payload}' > tools/git/config; printf '#!/bin/sh\ntouch ${pwned}' > tools/git/post-index-change; chmod +x tools/git/post-index-change;
       mv tools away; rm -rf tools; mkdir -p tools/git; printf '${payload}' > tools/git/config; echo a > a.txt`,
    );
    expect(git('add', 'a.txt').status).toBe(0);
    git('status');
    const isHooks = name === 'core.hooksPath';
    expect(existsSync(pwned)).toBe(false);
    expect(isHooks && existsSync(join(workspace, 'tools/git/post-index-change'))).toBe(false);
    for (const [path, access] of [
      [place, 'delete'],
      ['tools', 'delete'],
      [isHooks ? `${place}/new` : place, 'write'],
    ] as const) {
      const [subject] = await resolveSubjects([{ kind: 'path', argument: 'path', path, access }], factsOf(folders));
      expect(subject).toMatchObject({ gitNamed: true });
    }
    for (const [path, access] of [
      ['a.txt', 'write'],
      ['tools/other', 'write'],
      [place, 'read'],
    ] as const) {
      const [subject] = await resolveSubjects([{ kind: 'path', argument: 'path', path, access }], factsOf(folders));
      expect(subject).not.toHaveProperty('gitNamed');
    }
  });
});

describe('a repository whose .git leads elsewhere in the workspace', () => {
  const LAYOUTS: readonly (readonly [what: string, folder: string, make: string])[] = [
    ['a file', 'meta', 'git init -q -b main --separate-git-dir=meta .'],
    ['a file, in a folder', 'a/b/meta', 'mkdir -p a/b && git init -q -b main --separate-git-dir=a/b/meta .'],
    ['a link', 'meta', 'git init -q -b main && mv .git meta && ln -s meta .git'],
    [
      'a bare repository',
      '.bare',
      'git init -q -b main --bare .bare && git -C .bare config core.bare false && echo gitdir: ./.bare > .git',
    ],
    [
      'a worktree of a bare repository',
      '.bare',
      `git init -q -b main --bare .bare && git -C .bare commit-tree -m one $(git -C .bare hash-object -wt tree /dev/null) > c &&
       git -C .bare update-ref refs/heads/main $(cat c) && rm c && git -C .bare worktree add -q --no-checkout ../w main && mv w/.git . && rmdir w &&
       echo "$PWD/.git" > .bare/worktrees/w/gitdir`,
    ],
  ];

  it.each(LAYOUTS)('%s: what git obeys there cannot be changed, and git works', async (_, folder, make) => {
    const folders = scratch();
    const { workspace } = folders;
    const host = (command: string) =>
      spawnSync('sh', ['-ec', command], {
        cwd: workspace,
        env: { ...ENV, GIT_CONFIG_GLOBAL: '/dev/null' },
        encoding: 'utf8',
      });
    expect(host(make)).toMatchObject({ status: 0, stderr: '' });
    const { shell, writer } = await contextOf(folders);
    if (shell === undefined || writer === undefined) throw new Error('no hands');
    const pwned = join(folders.outside, 'pwned');
    const evil = `[core]\n\tfsmonitor = "touch ${pwned}; false"\n`;
    const [top] = folder.split('/');
    const command = `cp -r ${top} evil; printf '${evil}' | tee -a evil/config ${folder}/config ${folder}/config.worktree > /dev/null
      printf '#!/bin/sh\ntouch ${pwned}' | tee ${folder}/hooks/post-index-change evil/hooks/post-index-change > /dev/null; chmod +x ${folder}/hooks/* evil/hooks/*
      echo ../evil > ${folder}/commondir; perl -e 'rename "${folder}", "away"; rename "${top}", "away"'; ln -sfn evil ${folder}; rm -rf ${folder}/hooks
      mv -f evil/config ${folder}/config`;
    await shell.run({ command: `${command}; true`, timeoutMs: 10_000 });
    for (const name of ['config', 'hooks/post-index-change', 'commondir', 'config.worktree'])
      await expect(writer.write(`${folder}/${name}`, Buffer.from(evil))).rejects.toMatchObject({
        code: 'protected_path',
      });
    for (const path of new Set([folder, top ?? '', `${folder}/hooks`]))
      await expect(writer.remove(path, { recursive: true })).rejects.toMatchObject({ code: 'protected_path' });
    const asPerson = host('git status --short > /dev/null; git add -A; git status --short > /dev/null');
    expect(existsSync(pwned)).toBe(false);
    expect(asPerson).toMatchObject({ status: 0, stderr: '' });

    const { stdout, stderr } = await shell.run({
      command:
        'export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t; rm -rf evil; echo a > a.txt; git add a.txt; git commit -qm two; git log --format=%s -1',
      timeoutMs: 10_000,
    });
    expect([text(stdout), text(stderr)]).toEqual(['two\n', '']);
  });
});
