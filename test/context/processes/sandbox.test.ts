import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sandboxStatus } from '../../../src/context/processes/sandbox-status.ts';
import type { ToolContextOptions } from '../../../src/context/tool-context.ts';
import { codeOf, contextOf, eventually, factsOf, scratch, text, type Scratch } from '../support.ts';

async function shellOf(folders: Scratch, more: Partial<ToolContextOptions> = {}) {
  const { shell } = await contextOf(folders, more);
  if (shell === undefined) throw new Error('no shell');
  return async (command: string, line: { cwd?: string; env?: Record<string, string>; timeoutMs?: number } = {}) => {
    const { stdout, stderr, exitCode, timedOut, signal } = await shell.run({ timeoutMs: 10_000, ...line, command });
    return { stdout: text(stdout), stderr: text(stderr), exitCode, timedOut, signal };
  };
}

/** A number of seconds that no other process on this machine sleeps. */
let nextSleep = 86_000 + (process.pid % 9_000);
const uniqueSleep = (): string => {
  nextSleep += 1;
  return `${nextSleep}.${process.pid}`;
};
const running = (needle: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(needle);
      } catch {
        return false;
      }
    });

it('is available here, with the version that was found', async () => {
  expect(await sandboxStatus()).toMatchObject({
    available: true,
    version: expect.stringMatching(/^bubblewrap 0\.[0-9]+/),
  });
});

it('says what is missing where it is not', async () => {
  expect(await sandboxStatus({ bubblewrap: '/bin/false' })).toMatchObject({
    available: false,
    hint: expect.stringContaining('user namespaces'),
  });
  const folders = scratch();
  const run = await shellOf(folders, { sandbox: { bubblewrap: '/bin/false' } });
  expect(await codeOf(run('true'))).toBe('sandbox_unavailable');
});

describe('what a command has', () => {
  it('writes to the workspace, at its own path', async () => {
    const folders = scratch();
    const run = await shellOf(folders);
    mkdirSync(join(folders.workspace, 'sub'));
    expect(await run('pwd; echo made > here; cat here', { cwd: 'sub' })).toMatchObject({
      stdout: `${folders.workspace}/sub\nmade\n`,
      exitCode: 0,
    });
    expect(readFileSync(join(folders.workspace, 'sub/here'), 'utf8')).toBe('made\n');
  });

  it('keeps stdout and stderr apart, tells the status, and has real pipes', async () => {
    const run = await shellOf(scratch());
    expect(await run('echo out; echo err >&2; echo again > /dev/stdout; echo more | tee /dev/stderr; exit 7')).toEqual({
      stdout: 'out\nagain\nmore\n',
      stderr: 'err\nmore\n',
      exitCode: 7,
      timedOut: false,
      signal: null,
    });
  });

  it('has nothing on standard input', async () => {
    const run = await shellOf(scratch());
    expect((await run('cat; echo end')).stdout).toBe('end\n');
  });

  it('has an environment of these names and what the call asks for, and none of ours', async () => {
    process.env['COUNTERSIGN_TEST_SECRET'] = 'hidden';
    onTestFinished(() => void delete process.env['COUNTERSIGN_TEST_SECRET']);
    const run = await shellOf(scratch());
    const names = (await run('env | cut -d= -f1 | sort | tr "\\n" " "', { env: { CI: '1' } })).stdout.trim().split(' ');
    expect(names.filter((name) => name !== 'TZ')).toEqual([
      'CI',
      'HOME',
      'LANG',
      'LOGNAME',
      'PATH',
      'PWD',
      'SHELL',
      'SHLVL',
      'TERM',
      'TMPDIR',
      'USER',
      '_',
    ]);
    const environ = await run('cat /proc/[0-9]*/environ | tr "\\0" "\\n"');
    expect(environ.stdout).not.toContain('hidden');
  });

  it.each(['LD_PRELOAD', 'BASH_ENV', 'BASH_FUNC_x', 'COUNTERSIGN_KEY', 'IFS'])('may not be given %s', async (name) => {
    const run = await shellOf(scratch());
    expect(await codeOf(run('true', { env: { [name]: 'x' } }))).toBe('invalid_arguments');
  });

  it('has no capability, may gain none, and is nobody on the host', async () => {
    const run = await shellOf(scratch());
    const { stdout } = await run('grep -E "^(Cap|NoNewPrivs)" /proc/self/status; id -un');
    expect(stdout.replace(/\t/g, ' ')).toBe(
      'CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\nuser\n',
    );
  });

  it('inherits no descriptor', async () => {
    const run = await shellOf(scratch());
    expect((await run('ls /proc/self/fd')).stdout.trim().split('\n')).toEqual(['0', '1', '2', '3']);
  });
});

describe('what a command cannot do', () => {
  it('reach the network, not even a listener of this machine', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const run = await shellOf(scratch());
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`;
    expect((await run(`bash -c '${connect}'`)).stdout).toBe('');
    // The same command does connect from the host, so the test would notice.
    spawn('bash', ['-c', connect], { stdio: 'ignore' });
    expect(await eventually(() => connections === 1)).toBe(true);
    expect((await run('ls /sys/class/net 2>&1; cat /proc/net/dev | grep -c :')).stdout).toContain('1\n');
  });

  it('read secrets or other folders of the host', async () => {
    const folders = scratch();
    mkdirSync(join(folders.outside, '.ssh'));
    writeFileSync(join(folders.outside, '.ssh/id_ed25519'), 'PRIVATE KEY');
    const run = await shellOf(folders);
    const { stdout } = await run(
      `cat ${folders.outside}/.ssh/id_ed25519 ${folders.stateDir}/* /etc/shadow /etc/gshadow /etc/ssh/* /proc/1/root${folders.outside}/secret.txt; ls /root /home ${folders.base} /var/lib /run /boot /sys /mnt /opt; cat /etc/passwd`,
    );
    expect(stdout).toBe(
      `/run:\n\n${folders.base}:\nworkspace\nroot:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    );
  });

  it('read or write through a link that leads out of the workspace', async () => {
    const folders = scratch();
    symlinkSync(folders.outside, join(folders.workspace, 'out'));
    const run = await shellOf(folders);
    const { stdout } = await run('cat out/secret.txt; echo x > out/planted; cat /proc/1/cwd/etc/shadow');
    expect(stdout).toBe('');
    expect(readdirSync(folders.outside)).toEqual(['secret.txt']);
    expect(await codeOf(run('true', { cwd: 'out' }))).toBe('outside_workspace');
    expect(await codeOf(run('true', { cwd: '..' }))).toBe('outside_workspace');
    expect(await codeOf(run('true', { cwd: 'absent' }))).toBe('file_not_found');
  });

  it('change the system, or make a file anywhere else', async () => {
    const run = await shellOf(scratch());
    const { stdout } = await run(
      'for d in / /usr /usr/bin /etc /bin /var /run /proc/sys/kernel; do touch $d/countersign-test 2>/dev/null && echo "wrote $d"; done; mount -t tmpfs x /mnt 2>/dev/null && echo mounted; touch /tmp/fine && echo tmp',
    );
    expect(stdout).toBe('tmp\n');
    expect(existsSync('/tmp/fine')).toBe(false);
    expect(existsSync('/usr/countersign-test')).toBe(false);
  });

  it('see or signal processes of the host', async () => {
    const run = await shellOf(scratch());
    const { stdout } = await run(`ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} && echo signalled`);
    expect(Number(stdout.trim())).toBeLessThan(10);
    expect(stdout).not.toContain('signalled');
  });

  it('plant a git hook or change the configuration of git', async () => {
    const folders = scratch();
    const { workspace } = folders;
    mkdirSync(join(workspace, '.git/objects'), { recursive: true });
    writeFileSync(join(workspace, '.git/config'), '[core]\n');
    writeFileSync(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n');
    const run = await shellOf(folders);
    await run(
      'echo x > .git/hooks/pre-commit; mkdir -p .git/hooks/x; mv .git/hooks .git/h; echo "[core] fsmonitor=evil" >> .git/config; echo x > .git/new && mv .git/new .git/config; rm -f .git/config; ln -f .git/config stolen; mv .git other; mkdir .git; chmod 777 .git/config; touch .git/index',
    );
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe('[core]\n');
    expect(readdirSync(join(workspace, '.git')).toSorted()).toEqual([
      'HEAD',
      'config',
      'hooks',
      'index',
      'new',
      'objects',
    ]);
    expect(readdirSync(join(workspace, '.git/hooks'))).toEqual([]);
    expect(readdirSync(workspace)).toEqual(['.git']);
  });

  it('use git otherwise', async () => {
    const folders = scratch();
    const git = (...args: string[]) =>
      spawnSync('git', ['-C', folders.workspace, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        env: { PATH: process.env['PATH'] ?? '' },
      });
    git('init', '-q');
    const run = await shellOf(folders);
    const { stdout, exitCode } = await run(
      'echo a > a && git add a && git -c user.name=t -c user.email=t@example.org commit -qm first && git log --format=%s',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: 'first\n', exitCode: 0 });
  });

  it('read, replace or create our configuration inside the workspace', async () => {
    const folders = scratch();
    const { workspace } = folders;
    mkdirSync(join(workspace, 'deep/keys'), { recursive: true });
    writeFileSync(join(workspace, 'deep/keys/k'), 'KEY');
    writeFileSync(join(workspace, 'deep/ours.json'), 'OURS');
    mkdirSync(join(workspace, '.git'));
    writeFileSync(join(workspace, '.git/x'), 'OURS');
    const run = await shellOf(folders, {
      protectedPaths: [
        join(workspace, 'deep/ours.json'),
        join(workspace, 'deep/keys'),
        join(workspace, 'deep/keys/k'),
        join(workspace, '.git/x'),
        join(workspace, 'absent.json'),
      ],
    });
    const { stdout } = await run(
      'cat deep/ours.json deep/keys/k .git/x; ls deep/keys; echo x > .git/hooks/h; echo x > deep/ours.json; rm -rf deep; mv deep d2; mkdir -p deep; echo evil > absent.json; ls',
    );
    expect(stdout).not.toMatch(/KEY|OURS/);
    expect(readFileSync(join(workspace, 'deep/ours.json'), 'utf8')).toBe('OURS');
    expect(readFileSync(join(workspace, 'deep/keys/k'), 'utf8')).toBe('KEY');
    expect(existsSync(join(workspace, 'absent.json'))).toBe(false);
    expect(readdirSync(join(workspace, '.git/hooks'))).toEqual([]);
  });

  it('plant our configuration through a link, or lead its removal outside', async () => {
    const folders = scratch();
    const { workspace, outside } = folders;
    mkdirSync(join(workspace, 'evil'));
    symlinkSync('evil', join(workspace, 'old-link'));
    writeFileSync(join(outside, 'state'), 'kept');
    const run = await shellOf(folders, {
      protectedPaths: [
        join(workspace, '.ours/state'),
        join(workspace, '.mine/state'),
        join(workspace, 'old-link/state'),
      ],
    });
    await run(`ln -s evil .ours; echo x > evil/state; ln -s ${outside} .mine`);
    expect(readdirSync(workspace)).toEqual(['evil', 'old-link']);
    expect(readdirSync(join(workspace, 'evil'))).toEqual([]);
    expect(readFileSync(join(outside, 'state'), 'utf8')).toBe('kept');
  });

  it('make a user namespace of its own', async () => {
    const run = await shellOf(scratch());
    expect((await run('unshare --user --map-root-user echo in')).stdout).toBe('');
  });

  it('use a link that stands in the place of .git', async () => {
    const folders = scratch();
    symlinkSync(folders.outside, join(folders.workspace, '.git'));
    const run = await shellOf(folders);
    expect((await run('cat .git/secret.txt; echo x > .git/hooks')).stdout).toBe('');
    expect(readdirSync(folders.outside)).toEqual(['secret.txt']);
  });
});

describe('the end of a command', () => {
  it('is the end of what it left in the background, also in a session of its own', async () => {
    const run = await shellOf(scratch());
    const [plain, detached] = [uniqueSleep(), uniqueSleep()];
    const started = Date.now();
    expect((await run(`sleep ${plain} & (setsid setsid sleep ${detached} &) ; echo done`)).stdout).toBe('done\n');
    expect(Date.now() - started).toBeLessThan(1_500);
    expect(await eventually(() => running(plain).length + running(detached).length === 0)).toBe(true);
  });

  it('comes at its time limit, politely first', async () => {
    const folders = scratch();
    const run = await shellOf(folders);
    const result = await run(`trap 'echo told; exit 0' TERM; echo began; while :; do sleep 0.05; done`, {
      timeoutMs: 400,
    });
    expect(result).toMatchObject({ timedOut: true, stdout: 'began\ntold\n' });
  });

  it('comes within a second of the abort, whatever ignores it', async () => {
    const folders = scratch();
    const abort = new AbortController();
    const run = await shellOf(folders, { signal: abort.signal });
    const [deaf, detached] = [uniqueSleep(), uniqueSleep()];
    const work = codeOf(
      run(
        `trap "" TERM; (trap "" TERM; setsid sleep ${detached} &); sh -c 'trap "" TERM; sleep ${deaf}; sleep ${deaf}'; sleep ${deaf}`,
      ),
    );
    expect(await eventually(() => running(deaf).length > 0 && running(detached).length > 0)).toBe(true);
    const aborted = Date.now();
    abort.abort();
    expect(await work).toBe('cancelled');
    expect(await eventually(() => running(deaf).length + running(detached).length === 0)).toBe(true);
    expect(Date.now() - aborted).toBeLessThan(1_000);
  });

  it('comes with the death of the worker', async () => {
    const folders = scratch();
    const needle = uniqueSleep();
    const worker = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { openToolContext } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/context/tool-context.ts'))});
         const context = await openToolContext({ facts: ${JSON.stringify(factsOf(folders))}, ancestors: [], callId: 'c', stateDir: ${JSON.stringify(folders.stateDir)}, backend: 'sandbox', allowElevated: false, protectedPaths: [], signal: new AbortController().signal });
         await context.shell.run({ command: 'trap "" TERM HUP; (setsid sleep ${needle} &); while :; do sleep ${needle}; done', timeoutMs: 60000 });`,
      ],
      { stdio: 'inherit' },
    );
    expect(await eventually(() => running(needle).length >= 2)).toBe(true);
    worker.kill('SIGKILL');
    expect(await eventually(() => running(needle).length === 0)).toBe(true);
  });

  it('leaves no descriptor open', async () => {
    const folders = scratch();
    mkdirSync(join(folders.workspace, '.git'));
    const run = await shellOf(folders);
    await run('true');
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let i = 0; i < 10; i += 1) await run('echo x');
    expect(await eventually(() => open() <= before)).toBe(true);
  });
});

describe('output', () => {
  it('past 100 MB is dropped, and memory stays bounded', async () => {
    const { shell } = await contextOf(scratch());
    const result = await shell?.run({
      command: 'head -c 400000000 /dev/zero; echo err >&2; echo end',
      timeoutMs: 30_000,
    });
    expect(result?.exitCode).toBe(0);
    expect(result?.capped).toBe(true);
    expect(result?.stdout.length).toBe(104_857_600);
    expect(text(result?.interleaved ?? new Uint8Array()).slice(-9)).toMatch(/err\nend\n|end\nerr\n|end\n/);
    expect(result?.interleaved.length).toBeLessThan(200_000);
  });
});

describe('a workspace that changes under a starting sandbox', () => {
  it('is never a door: a link in its place is refused', async () => {
    const folders = scratch();
    const run = await shellOf(folders);
    renameSync(folders.workspace, join(folders.base, 'moved'));
    symlinkSync(folders.outside, folders.workspace);
    expect(await codeOf(run('cat secret.txt'))).toBe('file_not_found');
  });
});
