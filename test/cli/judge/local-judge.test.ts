import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { localJudge } from '../../../src/cli/judge/local-judge.ts';
import type { SessionFacts } from '../../../src/protocol/session.ts';

let folder: string;
let config: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-judge-')));
  config = join(folder, 'strict.jsonc');
  await writeFile(config, '{"agents":{"careful":{"deny":["write"]},"free":{}}}');
});
afterAll(() => rm(folder, { recursive: true }));

const facts = (agent: string): SessionFacts => ({
  id: agent,
  kind: 'branch',
  main: 'careful',
  depth: 1,
  workspace: folder,
  agent,
  channel: null,
});
const write = { tool: 'write', arguments: { path: 'a', content: '' } };

it('holds a session to the rules of those above it, in what it explains and what it offers', async () => {
  const judge = await localJudge(config);
  const below = { ...facts('free'), above: [facts('careful')] };
  expect(await judge.explain(facts('free'), write)).toMatchObject({ verdict: 'run' });
  expect(await judge.explain(below, write)).toMatchObject({
    verdict: 'deny',
    rule: expect.stringContaining('careful') as string,
  });
  expect(judge.tools(facts('free')).offered.map(({ name }) => name)).toContain('write');
  expect(judge.tools(below).offered.map(({ name }) => name)).not.toContain('write');
});

it('describes the shell as it is here', async () => {
  const host = join(folder, 'host.jsonc');
  await writeFile(host, '{"agents":{"free":{}},"shell":{"backend":"host"}}');
  const told = async (file: string): Promise<Record<string, string>> =>
    Object.fromEntries((await localJudge(file)).tools(facts('free')).offered.map((one) => [one.name, one.description]));
  const [inSandbox, onHost] = [await told(config), await told(host)];
  expect(onHost['shell']).toBe(
    `Here commands run on the host, outside of any sandbox: they have network and the whole machine, whatever the following says of one. ${inSandbox['shell']}`,
  );
  expect({ ...onHost, shell: '' }).toEqual({ ...inSandbox, shell: '' });
});

it('judges no call of a session, and offers it nothing, whose agent, or that of one above it, is not declared any more', async () => {
  const judge = await localJudge(config);
  const gone = facts('gone');
  const before = { verdict: 'run', rule: 'tier.workspace', tier: 'workspace' } as const;
  for (const session of [gone, { ...facts('free'), above: [gone] }]) {
    const error = { code: 'undeclared', message: expect.stringContaining('no agent "gone"') as string };
    expect(await judge.explain(session, write)).toMatchObject({ verdict: 'deny', error });
    expect(await judge.change({ id: 'call/gone/1', session, before, ...write })).toMatchObject(error);
    expect(() => judge.tools(session)).toThrow(expect.objectContaining(error));
  }
});
