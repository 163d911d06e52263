import { ApiError } from '../model/api-error.ts';
import { withoutForeignKeys } from '../model/key-text.ts';
import { onOneLine } from '../model/shown-text.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';
import type { ApiResponse } from './calls/transport.ts';

const maxLength = 120;

// Far more than is ever shown, so that a page of several megabytes costs nothing.
const examinedLength = 4000;

/**
 * The beginning of a foreign text, fit for one line of a log: without control, formatting or
 * unpaired surrogate characters, with white space collapsed, at most 120 characters long.
 *
 * What may be a key is replaced before the text is shortened.
 */
export function excerptOf(text: string): string {
  return onOneLine(withoutForeignKeys(text.slice(0, examinedLength)), maxLength);
}

/**
 * Runs `use`, which reads an answer, and counts the answer as failed if it cannot be read. Failure
 * statuses were already counted where the answer came in.
 */
export function countingFailures<Value>(
  { status }: Pick<ApiResponse, 'status'>,
  { operation }: { readonly operation: Operation },
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
