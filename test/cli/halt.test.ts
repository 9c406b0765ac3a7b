import { userInfo } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { sharedService } from './cli.fixture.ts';

vi.setConfig({ testTimeout: 120_000 });

const { cli, json } = sharedService();

describe('halt and resume', () => {
  it('nothing runs in between, and everybody who asks is told', async () => {
    expect(await json('halt', '--status')).toEqual([0, { halted: false }]);
    expect(await json('halt', '--reason', 'wrong\u001b[2J folder')).toMatchObject([
      0,
      {
        halted: true,
        by: userInfo().username,
        reason: 'wrong\u001b[2J folder',
        at: expect.stringMatching(/^2.*Z$/) as string,
      },
    ]);
    // The first halt stands, whoever comes after.
    expect(await json('halt', '--reason', 'me too', '--by', 'anna')).toMatchObject([
      0,
      { reason: 'wrong\u001b[2J folder', alreadyHalted: true },
    ]);
    const again = await cli(['halt', '--reason', 'me too']);
    expect([again.status, again.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^halted by \S+ since .*\[2J folder\n {2}It was halted already: that halt stands, .* not on record\.\n/,
      ) as string,
    ]);
    // Of the halt that is on record, said once more, nothing is lost.
    expect((await json('halt', '--reason', 'wrong\u001b[2J folder'))[1]).not.toHaveProperty('alreadyHalted');
    const looked = (await cli(['doctor'])).stdout;
    expect(looked).toMatch(
      /^✗ halt +halted by \S+ since 2.*Z: wrong⟨U\+001B⟩\[2J folder\n +Nothing new runs until: countersign resume /m,
    );

    const status = await cli(['halt', '--status']);
    expect([status.status, status.stdout]).toEqual([
      0,
      expect.stringMatching(/^halted by \S+ since [-\d]+ [:\d]+: wrong⟨U\+001B⟩\[2J folder\n$/) as string,
    ]);
    const pending = await cli(['pending']);
    expect([pending.status, pending.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^The service is halted by .*countersign resume --reason '…'\nNothing waits\.\n$/,
      ) as string,
    ]);

    // Workers notice within a second.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const write = ['write', '{"path":"a.txt","content":"hi"}', '--call-id', 'held'];
    const held = {
      by: userInfo().username,
      reason: 'wrong\u001b[2J folder',
      at: expect.stringMatching(/Z$/) as string,
    };
    expect(await json('call', ...write)).toMatchObject([4, { status: 'running', held, tries: 0 }]);
    const told = await cli(['call', ...write]);
    expect([told.status, told.stdout]).toEqual([
      4,
      expect.stringMatching(
        /^running {2}write .*\n {2}Held: the service is halted by \S+ since [-\d]+ [:\d]+: wrong⟨U\+001B⟩\[2J folder\n {2}It runs after: {2}countersign resume /,
      ) as string,
    ]);
    const unwaited = await cli(['call', 'list', '{}', '--no-wait']);
    expect([unwaited.status, unwaited.stdout]).toEqual([
      0,
      expect.stringMatching(/^running {2}list .*\n {2}Held: the service is halted by /) as string,
    ]);
    const waited = await cli(['call', ...write, '--wait', '4s', '--json']);
    expect([waited.status, waited.json()]).toMatchObject([4, { status: 'running', held }]);
    expect(waited.stderr).toMatch(/^Held: the service is halted by /);

    expect(await json('resume', '--reason', 'sorted out')).toMatchObject([
      0,
      { halted: false, was: { reason: 'wrong\u001b[2J folder' } },
    ]);
    const [ended, outcome] = await json('call', ...write, '--wait', '60s');
    expect([ended, outcome['status'], outcome['tries'], outcome['held']]).toEqual([0, 'completed', 1, undefined]);
    expect((await cli(['resume', '--reason', 'again'])).stdout).toBe(
      'running  Calls run; the service was not halted.\n',
    );
  });
});

describe('is wrong usage', () => {
  it.each([
    [['halt'], "say why: countersign halt --reason '…'"],
    [['halt', '--reason', ' '], 'say why'],
    [['halt', '--status', '--reason', 'x'], '--status changes nothing'],
    [['halt', '--reason', 'x', '--by', ''], '1 to 200 characters'],
    [['resume'], '--reason'],
    [['resume', '--reason', ''], 'say why'],
  ])('%j', async (args, words) => {
    const { status, stdout, stderr } = await cli(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('a reason of more than 1,000 characters', async () => {
    const { status, stderr } = await cli(['halt', '--reason', 'x'.repeat(1_001)]);
    expect([status, stderr]).toEqual([2, 'countersign: invalid_usage: a reason has at most 1,000 characters\n']);
  });
});
