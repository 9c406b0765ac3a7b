import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placesIn, standingOf } from '../../../src/context/processes/places.ts';
import { fromTop, protectedPaths } from '../../../src/policy/protected.ts';
import { contextOf, run, scratch, text, type Scratch } from '../support.ts';

/** A workspace with these files, each with its path as content, and a shell as a session has it. */
async function workspaceWith(files: readonly string[], protect?: readonly string[]) {
  const folders: Scratch = scratch();
  const { workspace } = folders;
  for (const file of files) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), file);
  }
  const context = await contextOf(folders, protect ? { guarded: protectedPaths(protect) } : {});
  const { shell } = context;
  if (shell === undefined) throw new Error('no shell');
  const sh = async (command: string) => {
    const result = await shell.run({ command, timeoutMs: 10_000 });
    return { ...result, stdout: text(result.stdout), stderr: text(result.stderr) };
  };
  const unchanged = (): void => {
    for (const file of files) expect([file, readFileSync(join(workspace, file), 'utf8')]).toEqual([file, file]);
  };
  return { workspace, context, sh, unchanged };
}

const RUN_ELSEWHERE = [
  '.github/workflows/ci.yml',
  '.gitlab-ci.yml',
  '.ci/run',
  'Jenkinsfile',
  '.vscode/tasks.json',
  '.idea/workspace.xml',
  '.claude/settings.json',
  '.mcp.json',
  'all.code-workspace',
  '.bashrc',
  '.envrc',
  '.npmrc',
  '.gitmodules',
  '.husky/pre-commit',
  '.config/nvim/init.lua',
  'bare.git/hooks/post-receive',
];

describe('what other programs run, at the top of the workspace', () => {
  it('is read-only for a command in the sandbox', async () => {
    const { sh, unchanged } = await workspaceWith(RUN_ELSEWHERE);
    for (const file of RUN_ELSEWHERE) {
      const folder = dirname(file);
      const { exitCode } = await sh(
        `echo evil > ${file}; echo evil >> ${file}; rm -f ${file}; echo evil > t; mv -f t ${file}; ln -f t ${file}; ln -sf t ${file}; chmod 777 ${file};
         ${folder === '.' ? '' : `mv ${folder} away && mkdir -p ${folder} && echo evil > ${file}; rm -rf ${folder}`}
         true`,
      );
      expect(exitCode).toBe(0);
    }
    unchanged();
  });

  it('cannot be exchanged by way of the folder above it', async () => {
    const { sh, unchanged, workspace } = await workspaceWith(['.github/workflows/ci.yml', '.config/nvim/init.lua']);
    await sh(
      'mv .github .other; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml; mv .config c; rm -rf .github .config',
    );
    unchanged();
    expect(readdirSync(workspace).toSorted()).toEqual(['.config', '.github']);
  });

  it('can still be read, run and copied, and what stands beside it changed', async () => {
    const { sh, workspace } = await workspaceWith(['.github/workflows/ci.yml', '.github/CODEOWNERS', 'src/a.ts']);
    const { exitCode, stdout } = await sh(
      'cat .github/workflows/ci.yml; cp -r .github copy; echo new > .github/CODEOWNERS; echo new > .github/x; echo new > src/a.ts',
    );
    expect([exitCode, stdout]).toEqual([0, '.github/workflows/ci.yml']);
    expect(readFileSync(join(workspace, '.github/CODEOWNERS'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(workspace, 'copy/workflows/ci.yml'), 'utf8')).toBe('.github/workflows/ci.yml');
  });

  it('holds for what the configuration protects', async () => {
    const { sh, unchanged, workspace } = await workspaceWith(
      ['deploy/prod/app.yml', 'package-lock.json', 'keys/a.pem'],
      ['deploy/**', 'package-lock.json', 'keys/*.pem'],
    );
    await sh('echo evil | tee deploy/prod/app.yml package-lock.json keys/a.pem; touch deploy/x; touch keys/readme');
    unchanged();
    expect(existsSync(join(workspace, 'deploy/x'))).toBe(false);
    expect(existsSync(join(workspace, 'keys/readme'))).toBe(true);
  });

  it('holds from the workspace of a session above, too', async () => {
    const folders = scratch();
    const child = join(folders.workspace, 'deploy');
    mkdirSync(join(child, 'prod'), { recursive: true });
    writeFileSync(join(child, 'prod/app.yml'), 'kept');
    const commandWith = async (...protect: string[]) => {
      const { shell } = await contextOf(
        { ...folders, workspace: child },
        { guarded: protectedPaths(protect), ancestors: [{ id: 'main-1', workspace: folders.workspace }] },
      );
      await shell?.run({ command: 'echo evil > prod/app.yml; echo new > new', timeoutMs: 10_000 });
      return [readFileSync(join(child, 'prod/app.yml'), 'utf8'), existsSync(join(child, 'new'))];
    };
    expect(await commandWith('deploy/**')).toEqual(['kept', false]);
    expect(await commandWith('deploy/prod/*.yml')).toEqual(['kept', true]);
    expect(await commandWith('elsewhere/prod/**')).toEqual(['evil\n', true]);
  });

  it('is looked for by the name that a forgiving file system would read', async () => {
    const { sh, unchanged } = await workspaceWith(['.VSCode/tasks.json', '.GitHub/Workflows/ci.yml']);
    await sh('echo evil | tee .VSCode/tasks.json .GitHub/Workflows/ci.yml');
    unchanged();
  });

  it('a link in such a place leads nowhere outside', async () => {
    const { sh, workspace } = await workspaceWith(['real/tasks.json']);
    symlinkSync('real', join(workspace, '.vscode'));
    const { exitCode, stdout } = await sh('cat .vscode/tasks.json');
    expect([exitCode, stdout]).toEqual([0, 'real/tasks.json']);
  });

  it('git commits, branches and merges beside it', async () => {
    const { sh, workspace } = await workspaceWith(['.github/workflows/ci.yml', '.vscode/tasks.json', 'a.txt']);
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: workspace,
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'one');
    const { exitCode, stderr } = await sh(
      `export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@e.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@e.org
       git checkout -q -b other && echo b > a.txt && git commit -qam two && git checkout -q main && git merge -q other && git stash list`,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(git('log', '--format=%s').stdout).toBe('two\none\n');
  });

  it('too many of them are refused in words that say what to do', async () => {
    const files = Array.from({ length: 201 }, (_, i) => `${i}.code-workspace`);
    const { sh } = await workspaceWith(files);
    await expect(sh('true')).rejects.toMatchObject({
      code: 'protected_path',
      message: expect.stringContaining('move them'),
    });
  });
});

it('others have their turn while a workspace of many files is looked through', async () => {
  const { workspace } = await workspaceWith([]);
  for (let i = 0; i < 5_000; i += 1) writeFileSync(join(workspace, `${i}.code-workspace`), '');
  let turns = 0;
  let looking = true;
  const turn = (): void => {
    turns += 1;
    if (looking) setImmediate(turn);
  };
  setImmediate(turn);
  const places = await placesIn(workspace, fromTop(protectedPaths(), workspace, []));
  expect([places.length, turns >= 5]).toEqual([5_000, true]);
  turns = 0;
  await standingOf(workspace, places);
  looking = false;
  expect(turns).toBeGreaterThanOrEqual(5);
});

describe('what the shell tool says of it', () => {
  it('which places are read-only, where a command failed on one', async () => {
    const { context } = await workspaceWith(['.vscode/tasks.json', 'a.txt']);
    const { output } = await run('shell', { command: 'echo x > .vscode/tasks.json' }, context);
    expect(output).toMatchObject({
      exitCode: 1,
      note: 'read-only in the sandbox: .vscode; write and edit change them, and ask a person',
    });
    const other = await run('shell', { command: 'cat nothing' }, context);
    expect(other.output).not.toHaveProperty('note');
  });

  it('which ones a command made, to the model and to people', async () => {
    const { context, workspace } = await workspaceWith(['a.txt']);
    const { output, display } = await run(
      'shell',
      { command: 'mkdir .vscode && echo {} > .vscode/tasks.json' },
      context,
    );
    expect(output).toMatchObject({ note: 'made .vscode, which other programs run: tell the person' });
    expect(display).toContain('[made .vscode, which other programs run: look at it]');
    // From then on it is shut.
    await run('shell', { command: 'echo evil > .vscode/tasks.json' }, context);
    expect(readFileSync(join(workspace, '.vscode/tasks.json'), 'utf8')).toBe('{}\n');
    renameSync(join(workspace, '.vscode'), join(workspace, 'vscode'));
    expect((await run('shell', { command: 'true' }, context)).output).not.toHaveProperty('note');
  });

  it('links that stand in such a place, which nothing can be mounted over', async () => {
    const { sh, workspace } = await workspaceWith(['evil/tasks.json', 'real/tasks.json']);
    symlinkSync('real', join(workspace, '.idea'));
    expect((await sh('ln -s evil .vscode; ln -s evil .github; ln -s nothing .envrc')).made).toEqual([
      '.envrc',
      '.github',
      '.vscode',
    ]);
    expect((await sh('true')).made).toEqual([]);
    expect((await sh('rm .idea && ln -s evil .idea')).made).toEqual(['.idea']);
  });

  it('a file that another name reaches, when it is changed by that name', async () => {
    const { sh } = await workspaceWith(['a.txt']);
    const first = 'mkdir .vscode; echo {} > .vscode/tasks.json; ln .vscode/tasks.json t; echo > .envrc; ln .envrc e';
    expect((await sh(first)).made).toEqual(expect.arrayContaining(['.envrc', '.vscode']));
    expect((await sh('cat t e')).made).toEqual([]);
    expect((await sh('echo evil > t; touch -d 2020-01-01 t')).made).toEqual(['.vscode/tasks.json']);
    expect((await sh('echo evil > e')).made).toEqual(['.envrc']);
  });

  it('a file that somebody on the host replaced meanwhile, which takes its mount away', async () => {
    const { sh, workspace } = await workspaceWith(['.envrc', 'new', 'other', '.git/config']);
    const work = sh(
      'touch ready; for i in $(seq 200); do sleep 0.02; echo evil > .envrc && echo evil > .git/config && break; done 2>/dev/null',
    );
    await expect.poll(() => existsSync(join(workspace, 'ready')), { interval: 10 }).toBe(true);
    renameSync(join(workspace, 'new'), join(workspace, '.envrc'));
    renameSync(join(workspace, 'other'), join(workspace, '.git/config'));
    expect((await work).made).toEqual(['.envrc', '.git/config']);
    expect(readFileSync(join(workspace, '.envrc'), 'utf8')).toBe('evil\n');
  });

  it('a repository, and what git obeys in one by another name', async () => {
    const { sh } = await workspaceWith(['a.txt']);
    expect((await sh('git init -q && ln .git/config c && ln .git/hooks/pre-commit.sample h')).made).toContain('.git');
    expect((await sh('echo x >> c; echo x >> h')).made).toEqual(['.git/config', '.git/hooks/pre-commit.sample']);
  });

  it('however many there are: what has run is never said to have been refused', async () => {
    const { context, workspace } = await workspaceWith(['a.txt']);
    const many = 'for i in $(seq 201); do : > $i.code-workspace; done; echo done';
    const { output } = await run('shell', { command: many }, context);
    expect(output).toMatchObject({ exitCode: 0, stdout: 'done\n', note: expect.stringContaining('and 191 more') });
    expect(readdirSync(workspace)).toHaveLength(202);
  });

  it('also of a command that ran past its time', async () => {
    const { context } = await workspaceWith(['a.txt']);
    const work = run('shell', { command: 'mkdir .vscode; sleep 20', timeout: 1 }, context);
    await expect(work).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('it made .vscode, which other programs run: tell the person'),
    });
  });
});
