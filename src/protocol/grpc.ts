/** The status codes of gRPC by which a Temporal server's answers are told apart. */

export const GRPC_STATUS = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type GrpcStatus = keyof typeof GRPC_STATUS;

/** Whether the error, or one that it came of, carries one of these statuses. */
export function hasGrpcStatus(error: unknown, ...statuses: GrpcStatus[]): boolean {
  const codes: unknown[] = statuses.map((status) => GRPC_STATUS[status]);
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && codes.includes(at.code)) return true;
  }
  return false;
}
