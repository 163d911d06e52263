import { ApiError } from '../model/api-error.ts';
import { looksLikeKey } from '../model/key-text.ts';
import { onOneLine } from '../model/line-text.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';
import type { ApiResponse } from './calls/transport.ts';

const maxLength = 120;

// Far more than is ever shown, so that a page of several megabytes costs nothing.
const examinedLength = 4000;

/**
 * What may be a key or a part of one. The shorter run, that of a key without its prefix, needs a digit
 * and has no joint: words such as `INTERNAL_SERVER_ERROR` and names of hosts stay.
 */
const keyCharacters = /[\w-]{32,}|(?=[a-z]*\d)[a-z\d]{20,}/gi;

/**
 * The beginning of a foreign text, fit for one line of a log: without control, formatting or
 * unpaired surrogate characters, with white space collapsed, at most 120 characters long.
 *
 * A gateway may repeat the request in its answer. So everything that looks like a key (`NRAK-…` or
 * a long run of key characters) is replaced before the text is shortened.
 */
export function excerptOf(text: string): string {
  const safe = text
    .slice(0, examinedLength)
    .replace(looksLikeKey, '[removed]')
    .replace(keyCharacters, '[removed]');
  return onOneLine(safe, maxLength);
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
