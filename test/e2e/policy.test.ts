/** Policy where it counts: in what calls may do on a real worker. */
import { symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { SessionHandle } from '../../src/client/index.ts';
import { type TestService, startTestService } from '../support/worker.ts';

const address = inject('temporalAddress');
let service: TestService;
let session: SessionHandle<Record<string, unknown>>;

beforeAll(async () => {
  service = await startTestService({ address, taskQueue: 'policy' });
  session = await service.countersign.openSession({ id: 'policy', workspace: service.workspace });
  await writeFile(join(service.workspace, 'README.md'), 'read me\n');
});
afterAll(() => service[Symbol.asyncDispose]());

const outside = (command: string) => ({ command, sandbox: false, reason: 'a test' });

test('a harmless command runs without asking, and in the sandbox all the same', async () => {
  expect(await session.call('shell', outside('cat README.md; hostname'))).toMatchObject({
    status: 'completed',
    output: { exitCode: 0, stdout: 'read me\nsandbox\n' },
  });
});

test('a command that a rule lets out of the sandbox runs there, in the form that was judged', async () => {
  await writeFile(join(service.workspace, 'parent.sh'), 'hostname; tr "\\0" "\\n" < /proc/$PPID/cmdline\n');
  const rule = { tool: 'shell', effect: 'allow', when: { command: { glob: 'sh parent.sh' } } };
  service.configure(JSON.stringify({ rules: [rule] }));
  try {
    // Of two commands the shell itself starts the first.
    const outcome = await session.call('shell', outside('sh   parent.sh && "sh" parent.sh'));
    expect(outcome).toMatchObject({ status: 'completed', output: { exitCode: 0 } });
    const { stdout } = outcome.output as { stdout: string };
    expect(stdout.split('\n')).toContain("'sh' 'parent.sh' && 'sh' 'parent.sh'");
    expect(stdout.split('\n')[0]).toBe(hostname());
  } finally {
    service.configure('{}');
  }
});

test.each([
  'cat /etc/passwd',
  'cat leak',
  'cat ../secret',
  'rm README.md',
  'echo x > y',
  'git status',
  'npm test',
  'echo $(id)',
])('%j outside of the sandbox asks', async (command) => {
  await symlink('/etc/passwd', join(service.workspace, 'leak')).catch(() => undefined);
  const call = await session.start('shell', outside(command));
  expect(await call.settled()).toMatchObject({ state: 'waiting', waiting: { for: 'approval' } });
  await call.cancel();
});

test('what holds for a session holds for the sessions below it', async () => {
  service.configure('{"agents":{"careful":{"deny":["write"]},"helper":{}}}');
  try {
    const careful = await service.countersign.openSession({
      id: 'careful',
      workspace: service.workspace,
      agent: 'careful',
    });
    const branch = await careful.branch({ agent: 'helper' });
    expect(await branch.call('write', { path: 'x', content: '' })).toMatchObject({
      status: 'denied',
      error: { code: 'policy_denied' },
    });
    expect(await branch.explain('write', { path: 'x', content: '' })).toMatchObject({ verdict: 'deny' });
    const free = await service.countersign.openSession({ id: 'free', workspace: service.workspace, agent: 'helper' });
    expect(await free.call('write', { path: 'x', content: '' })).toMatchObject({ status: 'completed' });
  } finally {
    service.configure('{}');
  }
});

test('a session hears new rules with its next call', async () => {
  expect(await session.call('list', { path: '.' })).toMatchObject({ status: 'completed' });
  service.configure('{"deny":["list"]}');
  expect(await session.call('list', { path: '.' })).toMatchObject({
    status: 'denied',
    error: { code: 'policy_denied' },
  });
  service.configure('{"ask":["list"]}');
  const call = await session.start('list', { path: '.' });
  expect(await call.settled()).toMatchObject({ state: 'waiting', waiting: { for: 'approval' } });
  await call.cancel();
  service.configure('{}');
  expect(await session.call('list', { path: '.' })).toMatchObject({ status: 'completed' });
});

test('limits on arguments and files are those of the configuration', async () => {
  service.configure('{"limits":{"stringBytes":10,"fileBytes":4}}');
  const call = await session.start('write', { path: 'long.txt', content: 'x'.repeat(11) });
  expect(await call.settled()).toMatchObject({
    state: 'waiting',
    waiting: { error: { code: 'invalid_arguments', field: '/content' } },
  });
  await call.cancel();
  expect(await session.call('read', { path: 'README.md' })).toMatchObject({
    status: 'failed',
    error: { code: 'file_too_large' },
  });
  service.configure('{}');
});
