import { ApiError } from '../model/api-error.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { ApiResponse } from '../transport/transport.ts';
import type { CallSubject } from './failure-of-answer.ts';

/**
 * Runs what makes something of an answer, and counts the answer as failed if nothing can be made of
 * it. Statuses that mean a failure were counted where the answer came in.
 */
export function countingFailures<Value>(
  { status }: Pick<ApiResponse, 'status'>,
  { operation }: Pick<CallSubject, 'operation'>,
  observer: Pick<ApiObserver, 'failed'>,
  use: () => Value,
): Value {
  try {
    return use();
  } catch (error) {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && error instanceof ApiError) observer.failed(operation, error.reason);
    throw error;
  }
}
