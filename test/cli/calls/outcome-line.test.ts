import { describe, expect, it } from 'vitest';
import { outcomeLine, statusOfLine } from '../../../src/cli/calls/outcome-line.ts';
import type { Waiting } from '../../../src/protocol/call.ts';

const call = { session: 's', callId: 'c' };
const error = {
  kind: 'ValidationError',
  code: 'invalid_arguments',
  message: 'm',
  field: '/path',
  schema: { type: 'object' },
} as const;
const correction: Waiting = { for: 'correction', since: 1, until: 2, tool: 'read', attempt: 2, error };
const approval: Waiting = {
  for: 'approval',
  since: 1,
  tool: 'shell',
  request: {
    ...call,
    runId: 'r',
    tool: 'shell',
    digest: `sha256:${'0'.repeat(64)}`,
    tier: 'elevated',
    requestedAt: 0,
    expiresAt: 2,
    route: [],
  },
  route: ['s'],
  summary: 'shell: git push',
};

describe('the outcome line', () => {
  it('of a call that is done carries its outcome', () => {
    const outcome = { status: 'completed', output: { a: 1 }, display: 'a', attempts: 1, tries: 1 } as const;
    expect(outcomeLine(call, 'read', { state: 'done', outcome }, 41)).toEqual({
      callId: 'c',
      session: 's',
      tool: 'read',
      status: 'completed',
      output: { a: 1 },
      display: 'a',
      attempts: 1,
      tries: 1,
      durationMs: 41,
    });
  });

  it('of a call that waits for a correction says what is wrong', () => {
    expect(outcomeLine(call, 'read', { state: 'waiting', seq: 2, waiting: correction }, 5)).toEqual({
      callId: 'c',
      session: 's',
      tool: 'read',
      status: 'waiting',
      waitingFor: 'correction',
      error,
      attempts: 2,
      tries: 0,
      durationMs: 5,
    });
  });

  it('of a call that waits for approval counts the attempts before it', () => {
    expect(outcomeLine(call, 'shell', { state: 'waiting', seq: 3, waiting: approval }, 5)).toEqual({
      callId: 'c',
      session: 's',
      tool: 'shell',
      status: 'waiting',
      waitingFor: 'approval',
      longCode: '#AAAAAAAAAAAAAAAAAAAAAAAA',
      attempts: 3,
      tries: 0,
      durationMs: 5,
    });
  });
});

describe('exit status of an outcome', () => {
  it.each([
    ['completed', 0],
    ['failed', 1],
    ['invalid', 1],
    ['denied', 1],
    ['expired', 1],
    ['timed_out', 1],
    ['cancelled', 1],
    ['unknown', 1],
    ['waiting', 4],
    ['running', 4],
  ] as const)('%s: %i', (status, code) => expect(statusOfLine({ status }, { waited: true })).toBe(code));

  it('is 0 for a call that was only to be started', () =>
    expect(statusOfLine({ status: 'running' }, { waited: false })).toBe(0));
});
