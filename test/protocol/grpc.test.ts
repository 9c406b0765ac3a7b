import { expect, it } from 'vitest';
import { type GrpcStatus, hasGrpcStatus } from '../../src/protocol/grpc.ts';

const failed = (code: unknown, cause?: unknown) => Object.assign(new Error('x', { cause }), { code });

// https://grpc.io/docs/guides/status-codes/
it.each<[number, GrpcStatus]>([
  [4, 'deadlineExceeded'],
  [5, 'notFound'],
  [6, 'alreadyExists'],
  [7, 'permissionDenied'],
  [8, 'resourceExhausted'],
  [9, 'failedPrecondition'],
  [10, 'aborted'],
  [12, 'unimplemented'],
  [14, 'unavailable'],
  [16, 'unauthenticated'],
])('%i is %s', (code, status) => {
  expect(hasGrpcStatus(failed(code), status)).toBe(true);
  expect(hasGrpcStatus(failed(13), status)).toBe(false);
});

it('is found in what an error came of, and in nothing that is no error', () => {
  expect(hasGrpcStatus(failed('ENOENT', failed(14)), 'notFound', 'unavailable')).toBe(true);
  expect(hasGrpcStatus({ code: 14 }, 'unavailable')).toBe(false);
  expect(hasGrpcStatus(failed('5'), 'notFound')).toBe(false);
});
