/**
 * Why a vendor call failed: a closed set. The code, the log field and the metric label `reason` use
 * the same words.
 */
export const failureReasons = [
  'dns',
  'connect',
  'tls',
  'reset',
  'timeout',
  'redirect',
  'too_large',
  'not_json',
  'schema',
  'auth',
  'not_found',
  'throttled',
  'server',
  'client',
] as const;

export type FailureReason = (typeof failureReasons)[number];

export interface ApiErrorOptions {
  readonly cause?: unknown;
  /** The HTTP status, if there was an answer. */
  readonly status?: number;
}

/** The one error that leaves `transport` and `newrelic`. Its message never holds a key. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: FailureReason;
  readonly status: number | undefined;

  constructor(reason: FailureReason, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.status = options.status;
  }
}
