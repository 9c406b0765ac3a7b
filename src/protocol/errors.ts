/**
 * Every error that Countersign reports: one table. docs/errors.md lists each code; a test holds the two together.
 *
 * Kinds are the ones that agents' authors know, and say who may retry:
 * `ValidationError` the caller, with other arguments; `Timeout` the call itself, with backoff, by effect;
 * `ExecutionError` and `PermissionDenied` nobody.
 */
export const ERROR_KINDS = ['ValidationError', 'ExecutionError', 'PermissionDenied', 'Timeout'] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Code → kind. The code is stable: scripts and models may rely on it. */
export const ERRORS = {
  // The call's own form
  unknown_tool: 'ValidationError',
  invalid_arguments: 'ValidationError',
  invalid_json: 'ValidationError',
  arguments_too_large: 'ValidationError',
  invalid_id: 'ValidationError',
  call_id_reused: 'ValidationError',
  correction_expired: 'ValidationError',
  not_waiting_for_correction: 'ValidationError',

  // Sessions
  session_not_found: 'PermissionDenied',
  session_closed: 'PermissionDenied',
  session_exists: 'ValidationError',
  session_limit: 'PermissionDenied',
  untrusted_workspace: 'PermissionDenied',
  undeclared: 'PermissionDenied',
  call_not_found: 'ValidationError',
  ambiguous_name: 'ValidationError',

  // Policy and approval
  policy_denied: 'PermissionDenied',
  policy_failed: 'PermissionDenied',
  tool_unavailable: 'PermissionDenied',
  missing_capability: 'PermissionDenied',
  no_approver: 'PermissionDenied',
  too_many_pending: 'PermissionDenied',
  approval_denied: 'PermissionDenied',
  approval_expired: 'PermissionDenied',
  approval_missing: 'PermissionDenied',
  digest_mismatch: 'PermissionDenied',
  bad_signature: 'PermissionDenied',
  not_a_call: 'PermissionDenied',
  halted: 'PermissionDenied',

  // What tools meet
  outside_workspace: 'PermissionDenied',
  protected_path: 'PermissionDenied',
  file_not_found: 'ExecutionError',
  not_a_file: 'ExecutionError',
  not_a_directory: 'ExecutionError',
  file_too_large: 'ExecutionError',
  binary_file: 'ExecutionError',
  text_not_found: 'ExecutionError',
  text_not_unique: 'ExecutionError',
  file_changed: 'ExecutionError',
  artifact_not_found: 'ExecutionError',
  invalid_pattern: 'ExecutionError',
  sandbox_unavailable: 'ExecutionError',
  too_many_calls: 'ExecutionError',
  tool_failed: 'ExecutionError',
  prepare_failed: 'ExecutionError',
  cancelled: 'ExecutionError',
  outcome_unknown: 'ExecutionError',
  timeout: 'Timeout',
  worker_lost: 'Timeout',

  // The service and its surroundings
  invalid_config: 'ValidationError',
  invalid_usage: 'ValidationError',
  no_service: 'ExecutionError',
  server_stopped: 'ExecutionError',
  setup_incomplete: 'ExecutionError',
  internal: 'ExecutionError',
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** An error with a stable code, and with the way out in its message. */
export class CountersignError extends Error {
  override readonly name = 'CountersignError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  /** JSON pointer to the failing part of the input, where there is one. */
  readonly field?: string;

  constructor(code: ErrorCode, message: string, options: { field?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = ERRORS[code];
    if (options.field !== undefined) this.field = options.field;
  }
}

/** True for errors of ours, also when two copies of this module are loaded. */
export const isCountersignError = (error: unknown): error is CountersignError =>
  error instanceof Error &&
  error.name === 'CountersignError' &&
  'code' in error &&
  Object.hasOwn(ERRORS, String(error.code));

/** The error in the form that outcomes carry. */
export const callError = (code: ErrorCode, message: string): { kind: ErrorKind; code: ErrorCode; message: string } => ({
  kind: ERRORS[code],
  code,
  message,
});
