import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { TransportDecorator } from './transport.ts';

export interface DeadlineOptions {
  /** From the start of the request to the last byte of the answer; a request may ask for less. */
  readonly timeoutMs: number;
  /** Named in the error. */
  readonly host: string;
}

/**
 * Ends a request that takes longer than `timeoutMs` with `ApiError('timeout')`, even if bytes still
 * arrive. When the caller aborts, the call ends with the caller's reason.
 *
 * Both end the call at once, without waiting for the transport underneath: undici notices an abort
 * only when the connection attempt in progress has ended.
 */
export function withDeadline(
  options: DeadlineOptions,
  { clock }: { readonly clock: Clock },
): TransportDecorator {
  return (next) => async (request, signal) => {
    signal.throwIfAborted();
    const timeoutMs = Math.min(options.timeoutMs, request.timeoutMs ?? Infinity);
    const controller = new AbortController();
    const onAbort = (): void => {
      controller.abort(signal.reason);
    };
    const cancelTimer = clock.after(timeoutMs, () => {
      controller.abort(timeoutError(options.host, timeoutMs, timeoutMs < options.timeoutMs));
    });
    signal.addEventListener('abort', onAbort);
    try {
      return await new Promise((resolve, reject) => {
        controller.signal.addEventListener('abort', () => {
          reject(controller.signal.reason);
        });
        next(request, controller.signal).then(resolve, reject);
      });
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    }
  };
}

function timeoutError(host: string, timeoutMs: number, isOfRequest: boolean): ApiError {
  const remedy = isOfRequest ? 'look' : "raise the account's timeout or look";
  return new ApiError(
    'timeout',
    `${host}: no complete answer within ${timeoutMs / 1000} s; if this lasts, ${remedy} for a slow proxy or network`,
  );
}
