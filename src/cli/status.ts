/** Exit statuses, and how errors become them. Part of the CLI's contract: scripts tell cases apart by these numbers. */
import { CountersignError, type ErrorCode, type ErrorKind, isCountersignError } from '../protocol/errors.ts';
import { hasGrpcStatus } from '../protocol/grpc.ts';

export const STATUS = {
  done: 0,
  /** A call ended otherwise than completed. */
  otherwise: 1,
  /** Wrong usage, an ambiguous name, or a request that was refused before anything started. */
  usage: 2,
  noService: 3,
  waiting: 4,
  /** A decision was not taken. */
  undecided: 5,
  internal: 70,
  interrupted: 130,
} as const;
export type Status = (typeof STATUS)[keyof typeof STATUS];

/** What is said of an error: on stderr as one line, with `--json` as an object on stdout. */
export interface ErrorReport {
  kind: ErrorKind;
  code: ErrorCode;
  message: string;
  field?: string;
}

export function reportOf(error: unknown): ErrorReport {
  const known = knownError(error);
  const { kind, code, message, field } = known;
  return { kind, code, message, ...(field !== undefined && { field }) };
}

export function statusOf({ code }: Pick<ErrorReport, 'code'>): Status {
  switch (code) {
    case 'no_service':
    case 'server_stopped':
    case 'setup_incomplete':
      return STATUS.noService;
    case 'internal':
      return STATUS.internal;
    default:
      return STATUS.usage;
  }
}

function knownError(error: unknown): CountersignError {
  if (isCountersignError(error)) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'NamespaceNotFoundError') {
    return new CountersignError('setup_incomplete', `${message}. Create what is missing: countersign setup`, {
      cause: error,
    });
  }
  // A server refuses us as a whole.
  if (hasGrpcStatus(error, 'permissionDenied', 'unauthenticated')) {
    return new CountersignError(
      'no_service',
      `The Temporal server refuses us (${message}). Check TEMPORAL_API_KEY and TEMPORAL_NAMESPACE.`,
      { cause: error },
    );
  }
  return new CountersignError('internal', `${message || name || 'unknown error'} (COUNTERSIGN_DEBUG=1 shows where)`, {
    cause: error,
  });
}
