/** Policy where it counts: in what calls may do on a real worker. */
import { symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Type, type TObject } from 'typebox';
import type { SessionHandle } from '../../src/client/index.ts';
import { QUICK_LIMITS } from '../../src/tools/common.ts';
import { type Tool, defineTool } from '../../src/tools/index.ts';
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
    error: {
      code: 'file_too_large',
      message: 'README.md is larger than 4 bytes (limits.fileBytes); use search, or shell with head or sed',
    },
  });
  expect(await session.call('write', { path: 'new.txt', content: '12345' })).toMatchObject({
    status: 'failed',
    error: { code: 'file_too_large', message: 'content is larger than 4 bytes (limits.fileBytes)' },
  });
  service.configure('{"limits":{"fileBytes":1536}}');
  expect(await session.call('write', { path: 'new.txt', content: 'x'.repeat(2_000) })).toMatchObject({
    error: { message: 'content is larger than 1.5 KB (limits.fileBytes)' },
  });
  service.configure('{}');
});

test('limits on children and corrections are those of the configuration', async () => {
  service.configure('{"limits":{"sessionDepth":1,"sessionChildren":1,"correctionMs":50}}');
  try {
    const main = await service.countersign.openSession({ id: 'narrow', workspace: service.workspace });
    const child = await main.branch({ id: 'narrow-1' });
    await expect(main.branch({ id: 'narrow-2' })).rejects.toMatchObject({
      code: 'session_limit',
      message: expect.stringContaining('at most 1 open children') as string,
    });
    await expect(child.branch({ id: 'narrow-3' })).rejects.toMatchObject({
      code: 'session_limit',
      message: expect.stringContaining('1 deep below main') as string,
    });
    expect(await main.call('read', {})).toMatchObject({ status: 'invalid', error: { code: 'correction_expired' } });
  } finally {
    service.configure('{}');
  }
});

const shaped = (parameters: TObject): Tool =>
  defineTool({
    name: 'shaped',
    label: 'Shaped',
    description: 'A tool for its schema.',
    parameters,
    tier: 'read_only',
    effect: 'read',
    limits: QUICK_LIMITS,
    groups: [],
    needs: [],
    version: 1,
    subjects: () => [],
    summary: () => 'shaped',
    execute: async () => ({ output: 'done', display: 'done' }),
  });
const wide = shaped(
  Type.Object(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`p${i}`, Type.Optional(Type.String())]))),
);
const deep = shaped(
  Array.from({ length: 5 }).reduce<TObject>(
    (inner) => Type.Object({ inner: Type.Optional(inner) }),
    Type.Object({ last: Type.Optional(Type.String()) }),
  ),
);

test.each([
  ['parameters', wide, 'shaped has 21 parameters; at most 20 are allowed (limits.parameters)', { parameters: 21 }],
  [
    'nesting',
    deep,
    'the schema of shaped is 6 levels deep; at most 5 are allowed (limits.schemaDepth)',
    { schemaDepth: 6 },
  ],
])(
  'no worker starts with a tool past the limit on %s, unless the configuration sets another',
  async (_what, tool, message, limits) => {
    const tools = [tool];
    await expect(startTestService({ address, taskQueue: 'policy-tools', tools })).rejects.toMatchObject({
      code: 'invalid_config',
      message,
    });
    await using other = await startTestService({
      address,
      taskQueue: 'policy-tools',
      tools,
      config: JSON.stringify({ limits }),
    });
    const main = await other.countersign.openSession({ id: Object.keys(limits).join(), workspace: other.workspace });
    expect(await main.call('shaped', {})).toMatchObject({ status: 'completed', output: 'done' });
  },
);

test('a session is held to the sections of its provider and conversation, and to what is for owners only', async () => {
  service.configure(
    JSON.stringify({
      providers: { acme: { deny: ['list'] } },
      conversations: { room: { deny: ['stat'] } },
      owners: ['ann', 'bob'],
      ownerOnly: ['search'],
    }),
  );
  try {
    const open = (id: string, facts: object) =>
      service.countersign.openSession({ id, workspace: service.workspace, ...facts });
    const held = await open('held', { provider: 'acme/large', group: 'room' });
    const owned = await (await open('owned', { provider: 'other', group: 'hall', owner: 'ann' })).branch();
    const rulesOf = async (one: SessionHandle<Record<string, unknown>>): Promise<(string | undefined)[]> => {
      const calls = [
        one.call('list', { path: '.' }),
        one.call('stat', { path: '.' }),
        one.call('search', { pattern: 'x' }),
      ];
      return (await Promise.all(calls)).map(
        ({ status, error }) => /\(rule: (.*)\)/.exec(error?.message ?? '')?.[1] ?? status,
      );
    };
    expect(await rulesOf(held)).toEqual([
      'providers.acme.deny "list"',
      'conversations.room.deny "stat"',
      'ownerOnly "search"',
    ]);
    expect(await rulesOf(owned)).toEqual(['completed', 'completed', 'completed']);
  } finally {
    service.configure('{}');
  }
});
