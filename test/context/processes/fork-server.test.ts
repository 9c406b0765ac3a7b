import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launch } from '../../../src/context/processes/launch.ts';
import { runProcess } from '../../../src/context/processes/run-process.ts';
import { contextOf, eventually, factsOf, scratch, text } from '../support.ts';

const pids = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const parentOf = (pid: number): number => Number(/^PPid:\s*([0-9]+)/m.exec(read(`/proc/${pid}/status`))?.[1]);
const commandOf = (pid: number): string[] => read(`/proc/${pid}/cmdline`).split('\0');
const forkServersOf = (parent: number): number[] =>
  pids().filter((pid) => parentOf(pid) === parent && commandOf(pid).some((word) => word.includes('fork-server-main')));
const running = (word: string): number[] => pids().filter((pid) => commandOf(pid).includes(word));

let next = 70_000 + (process.pid % 9_000);
const uniqueSleep = (): string => `${(next += 1)}.${process.pid}`;

describe('the process that starts commands', () => {
  it('starts all of them, one for a worker', async () => {
    const { shell } = await contextOf(scratch());
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => shell?.run({ command: `echo ${i}; echo e${i} >&2`, timeoutMs: 10_000 })),
    );
    expect(results.map((result) => text(result?.stdout ?? new Uint8Array()))).toEqual(results.map((_, i) => `${i}\n`));
    expect(results.map((result) => text(result?.stderr ?? new Uint8Array()))).toEqual(results.map((_, i) => `e${i}\n`));
    expect(forkServersOf(process.pid)).toHaveLength(1);
  });

  it('knows nothing of the environment, and holds no descriptor of its commands', async () => {
    const { shell } = await contextOf(scratch());
    await shell?.run({ command: 'true', timeoutMs: 10_000 });
    const [pid = 0] = forkServersOf(process.pid);
    expect(read(`/proc/${pid}/environ`)).not.toContain('PATH=');
    const open = (): string[] =>
      readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
        } catch {
          return [];
        }
      });
    expect(await eventually(() => open().every((target) => !target.includes('countersign-')))).toBe(true);
  });

  it('lost with its commands, they are told as ended by a signal, and the next has a new one', async () => {
    const { shell } = await contextOf(scratch());
    const needle = uniqueSleep();
    const result = shell?.run({ command: `echo begun; sleep ${needle}`, timeoutMs: 30_000 });
    expect(await eventually(() => running(needle).length > 0)).toBe(true);
    const [before = 0] = forkServersOf(process.pid);
    process.kill(before, 'SIGKILL');
    expect(await result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false });
    expect(await eventually(() => running(needle).length === 0)).toBe(true);
    expect(text((await shell?.run({ command: 'echo again', timeoutMs: 10_000 }))?.stdout ?? new Uint8Array())).toBe(
      'again\n',
    );
    expect(forkServersOf(process.pid)).not.toContain(before);
  });

  it('stopped, a command is timed out or cancelled nevertheless, and the next has a new one', async () => {
    const program = { file: '/bin/echo', args: ['again'], env: {}, cwd: '/', end: () => undefined };
    const { signal } = new AbortController();
    for (const ends of ['time', 'abort']) {
      await runProcess(program, 10_000, signal);
      const [before = 0] = forkServersOf(process.pid);
      process.kill(before, 'SIGSTOP');
      if (ends === 'time')
        expect(await runProcess(program, 300, signal)).toMatchObject({ timedOut: true, exitCode: null });
      else
        await expect(runProcess(program, 60_000, AbortSignal.timeout(300))).rejects.toMatchObject({
          code: 'cancelled',
        });
      expect(text((await runProcess(program, 10_000, signal)).stdout)).toBe('again\n');
      expect(forkServersOf(process.pid)).not.toContain(before);
    }
  }, 30_000);

  it.each([
    ['sandbox', 'time'],
    ['sandbox', 'abort'],
    ['host', 'time'],
    ['host', 'abort'],
  ] as const)(
    'stopped while a command runs (%s), its end by %s is told, nothing of it is left, and others are told as ended by a signal',
    async (backend, ends) => {
      const cancel = new AbortController();
      const { shell } = await contextOf(scratch(), { backend, signal: cancel.signal });
      const { shell: others } = await contextOf(scratch(), { backend });
      const [needle, other] = [uniqueSleep(), uniqueSleep()];
      const timeoutMs = ends === 'time' ? 3_000 : 60_000;
      const ended = shell?.run({ command: `echo begun; sleep ${needle}`, timeoutMs }).catch((error: unknown) => error);
      const fallen = others?.run({ command: `echo begun; sleep ${other}`, timeoutMs: 60_000 });
      expect(await eventually(() => running(needle).length > 0 && running(other).length > 0)).toBe(true);
      const [before = 0] = forkServersOf(process.pid);
      process.kill(before, 'SIGSTOP');
      if (ends === 'abort') cancel.abort();
      const told = ends === 'time' ? { timedOut: true, exitCode: null } : { code: 'cancelled' };
      expect(await ended).toMatchObject(told);
      expect(await fallen).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false });
      expect(await eventually(() => running(needle).length + running(other).length === 0)).toBe(true);
      const next = await others?.run({ command: 'echo again', timeoutMs: 10_000 });
      expect(text(next?.stdout ?? new Uint8Array())).toBe('again\n');
      expect(forkServersOf(process.pid)).not.toContain(before);
    },
    30_000,
  );

  it('is not taken for hung where a process does not end by order', async () => {
    const end = (): void => undefined;
    const program = { file: '/bin/sleep', args: ['3'], env: {}, cwd: '/', end };
    await runProcess({ ...program, args: ['0'] }, 10_000, new AbortController().signal);
    const [before = 0] = forkServersOf(process.pid);
    const slow = await runProcess(program, 100, new AbortController().signal);
    expect(slow).toMatchObject({ exitCode: 0, timedOut: true });
    expect(forkServersOf(process.pid)).toContain(before);
  });

  it('says why a program could not be started', async () => {
    const program = { file: '/no/such/program', args: [], env: {}, cwd: '/' };
    await expect(launch(program)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['sandbox', 'host'] as const)('ends with its worker, and its commands with it (%s)', async (backend) => {
    const folders = scratch();
    const needle = uniqueSleep();
    const context = { ancestors: [], callId: 'c', stateDir: folders.stateDir, backend, allowElevated: false };
    const options = JSON.stringify({ ...context, facts: factsOf(folders), protectedPaths: [] });
    const worker = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { openToolContext } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/context/tool-context.ts'))});
         const context = await openToolContext({ ...${options}, signal: new AbortController().signal });
         await context.shell.run({ command: 'sleep ${needle}; true', timeoutMs: 60000 });`,
      ],
      { stdio: 'inherit' },
    );
    expect(await eventually(() => running(needle).length > 0)).toBe(true);
    const servers = forkServersOf(worker.pid ?? 0);
    expect(servers).toHaveLength(1);
    worker.kill('SIGKILL');
    expect(await eventually(() => running(needle).length === 0)).toBe(true);
    expect(await eventually(() => commandOf(servers[0] ?? 0).every((word) => !word.includes('fork-server')))).toBe(
      true,
    );
  });

  it.skipIf(process.getuid?.() !== 0)('is done without where the worker hides its descriptors', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { launch } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/context/processes/launch.ts'))});
         process.setgid(65534); process.setuid(65534);
         for (const word of ['first', 'second']) {
           const started = await launch({ file: '/bin/echo', args: [word], env: {}, cwd: '/' });
           for await (const chunk of started.stdout) process.stdout.write(chunk);
           await started.exit; started.close();
         }`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    expect(printed).toBe('first\nsecond\n');
  });

  it('does not keep a process up that has nothing more to do', async () => {
    const folders = scratch();
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { launch } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/context/processes/launch.ts'))});
         const started = await launch({ file: '/bin/true', args: [], env: {}, cwd: '/' });
         await started.exit; started.close();`,
      ],
      { stdio: 'inherit', cwd: folders.base },
    );
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
  });
});
