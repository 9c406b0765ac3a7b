import { describe, expect, it } from 'vitest';
import { reportOf, statusOf } from '../../src/cli/status.ts';
import { CountersignError, type ErrorCode } from '../../src/protocol/errors.ts';

describe('exit status of an error', () => {
  it.each<[ErrorCode, number]>([
    ['no_service', 3],
    ['server_stopped', 3],
    ['setup_incomplete', 3],
    ['invalid_usage', 2],
    ['ambiguous_name', 2],
    ['invalid_json', 2],
    ['invalid_config', 2],
    ['invalid_id', 2],
    ['session_not_found', 2],
    ['session_closed', 2],
    ['session_exists', 2],
    ['call_not_found', 2],
    ['call_id_reused', 2],
    ['untrusted_workspace', 2],
    ['arguments_too_large', 2],
    ['not_waiting_for_correction', 2],
    ['internal', 70],
  ])('%s: %i', (code, status) => expect(statusOf({ code })).toBe(status));

  it('is 70 for what is no error of ours, without a stack in its message', () => {
    const report = reportOf(new TypeError('x is not a function'));
    expect(report).toEqual({
      kind: 'ExecutionError',
      code: 'internal',
      message: 'x is not a function (COUNTERSIGN_DEBUG=1 shows where)',
    });
    expect(statusOf(report)).toBe(70);
  });

  it('is 3 where the server refuses us as a whole', () => {
    const refused = Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), { code: 7 });
    expect(reportOf(refused)).toMatchObject({
      code: 'no_service',
      message: expect.stringContaining('TEMPORAL_API_KEY') as string,
    });
  });

  it('names the failing field', () => {
    expect(reportOf(new CountersignError('invalid_arguments', 'm', { field: '/path' }))).toEqual({
      kind: 'ValidationError',
      code: 'invalid_arguments',
      message: 'm',
      field: '/path',
    });
  });
});
