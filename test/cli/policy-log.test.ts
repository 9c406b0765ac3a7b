import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { changesInWords } from '../../src/cli/commands/policy-log.ts';
import { makePlace, nameOf, sharedService, startedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

let file: string;
const { service, cli, json, restart } = sharedService(async ({ workspace }) => {
  file = join(workspace, 'countersign.config.jsonc');
  await writeFile(file, '{ "deny": ["write"] }');
  return [];
});

const log = async (): Promise<Record<string, unknown>[]> => (await cli(['policy', 'log', '--json'])).lines();
/** Waits until so many changes are on record; gives the newest. */
const newest = async (count: number): Promise<Record<string, unknown>> => {
  await expect.poll(async () => (await log()).length, { timeout: 20_000, interval: 200 }).toBe(count);
  return (await log())[0] ?? {};
};
const save = (config: object): Promise<void> => writeFile(file, JSON.stringify(config));

describe('policy log', () => {
  it('has who, when, what and the hash of each change, of refused files, and of starts with other rules', async () => {
    const first = await newest(1);
    expect(first).toMatchObject({
      kind: 'changed',
      on: 'start',
      before: null,
      changes: [],
      file,
      worker: expect.stringMatching(/^\d+@/) as string,
      at: expect.stringMatching(/^2.*Z$/) as string,
    });

    await save({ deny: ['write', 'shell'], agents: { coder: { profile: 'coding' } } });
    const second = await newest(2);
    expect(second).toMatchObject({
      kind: 'changed',
      on: 'reload',
      before: first['hash'],
      changes: [
        { place: 'agents.coder.profile', after: 'coding' },
        { place: 'deny', before: 'write', after: 'write, shell' },
      ],
    });
    // The hash is the one that judgements carry.
    const [, call] = await json('call', 'list');
    const audit = (await cli(['audit', nameOf(call), '--json'])).stdout;
    expect(audit).toContain(`"policy":"${String(second['hash'])}"`);

    await writeFile(file, '{ "deny": ["shel"] }');
    expect(await newest(3)).toMatchObject({
      kind: 'refused',
      hash: second['hash'],
      error: expect.stringContaining('did you mean "shell"?') as string,
    });
    await rm(file);
    expect(await newest(4)).toMatchObject({
      kind: 'refused',
      hash: second['hash'],
      error: `${file}: the file is gone`,
    });

    await restart(() => save({ deny: ['write', 'shell'], agents: { coder: { profile: 'minimal' } } }));
    expect(await newest(5)).toMatchObject({
      kind: 'changed',
      on: 'start',
      before: second['hash'],
      changes: [{ place: 'agents.coder.profile', before: 'coding', after: 'minimal' }],
    });

    const text = await cli(['policy', 'log', '--limit', '2']);
    expect([text.status, text.stderr]).toEqual([0, '']);
    expect(text.stdout).toMatch(
      /^ {2}a worker started, instead of sha256:[0-9a-f]{64}\n {2}agents\.coder\.profile: coding → minimal$/m,
    );
    expect(text.stdout).toMatch(/^ {2}refused, these rules were kept: .*the file is gone$/m);
    expect(text.stdout).not.toContain('write, shell');
  });

  it('has a change once, however many workers see it', async () => {
    const before = (await log()).length;
    const address = String(service().ready['address']);
    const other = await startedService([], {
      ...service(),
      cli: (args, options) => cli(args, { ...options, env: { TEMPORAL_ADDRESS: address } }),
    });
    try {
      await save({ deny: ['delete'] });
      await newest(before + 1);
      await save({ deny: ['edit'] });
      expect(await newest(before + 2)).toMatchObject({ changes: [{ place: 'deny', before: 'delete', after: 'edit' }] });
      // A second report would come with the first.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect((await log()).length).toBe(before + 2);
    } finally {
      await other.stop();
    }
  });

  it('says when there is nothing, and what a limit is', async () => {
    expect((await cli(['policy', 'log', '--limit', '0'])).status).toBe(2);
    const place = await makePlace();
    const gone = await place.cli(['policy', 'log'], { env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect([gone.status, gone.stdout]).toEqual([3, '']);
    await place.remove();
  });
});

describe('changes in words', () => {
  it('leave out the list that was, or is, empty around what was added or removed', () => {
    const ann = '{"name":"ann"}';
    expect(
      changesInWords([
        { place: 'approvals.approvers', before: '' },
        { place: 'approvals.approvers "ann"', after: ann },
      ]),
    ).toEqual([`approvals.approvers "ann" added: ${ann}`]);
    expect(
      changesInWords([
        { place: 'agents', after: '{}' },
        { place: 'agents.coder.profile', before: 'coding' },
      ]),
    ).toEqual(['agents.coder.profile removed, was: coding']);
  });

  it('say nothing of what is empty where no member says more', () => {
    expect(
      changesInWords([
        { place: 'deny', after: '' },
        { place: 'denyTools', before: 'a', after: '' },
      ]),
    ).toEqual(['deny added: nothing', 'denyTools: a → nothing']);
  });
});
