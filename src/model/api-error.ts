interface FailureTraits {
  /** Whether it may pass. The others would be the same again: a bad certificate, key, id or answer. */
  readonly isRetryable: boolean;
  /** What to do about it with either API; missing if each API has its own, or nothing can be done. */
  readonly remedy?: string;
}

/**
 * Why a vendor call failed: a closed set. The code, the log field and the metric label `reason` use
 * the same words.
 */
const table = {
  dns: { isRetryable: true },
  connect: { isRetryable: true },
  tls: { isRetryable: false },
  reset: { isRetryable: true },
  timeout: { isRetryable: true },
  redirect: {
    isRetryable: false,
    remedy: 'Redirects are not followed with a key: check base_url and its scheme (https)',
  },
  too_large: { isRetryable: false },
  not_json: {
    isRetryable: false,
    remedy: 'Check base_url, proxy_url and what is between here and New Relic',
  },
  schema: { isRetryable: false },
  auth: { isRetryable: false },
  not_found: { isRetryable: false },
  throttled: { isRetryable: true },
  server: { isRetryable: true },
  client: { isRetryable: false },
} as const;

export type FailureReason = keyof typeof table;

export const failures: Readonly<Record<FailureReason, FailureTraits>> = table;

export const failureReasons: readonly FailureReason[] = Object.keys(table).filter(
  (reason): reason is FailureReason => Object.hasOwn(table, reason),
);

/**
 * What to do about a failure, without a full stop, whoever asks: a daemon that asks again by itself, or a command.
 * `own` are the remedies of one API.
 */
export function remedyOf(
  { reason, status }: Pick<ApiError, 'reason' | 'status'>,
  own: Readonly<Partial<Record<FailureReason, string>>>,
): string {
  if (status === 402) {
    return 'New Relic asks for payment, or a limit of the account is reached: check the plan and the usage of the account';
  }
  return (
    own[reason] ??
    failures[reason].remedy ??
    'New Relic, or something on the way to it, failed, which may pass by itself'
  );
}

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

/** The error of a call; any other is a fault of this program. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed because of an error in this program', {
    cause: error,
  });
}
