import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import { createAbortWatch } from './abort-watch.ts';
import type { TransportDecorator } from './transport-decorator.ts';

export interface DeadlineOptions {
  /** From the start of the request to the last byte of the answer; a request may want less. */
  readonly timeoutMs: number;
  /** Named in the error. */
  readonly host: string;
}

/**
 * Ends a request that takes longer than `timeoutMs` with `ApiError('timeout')`, however slowly its
 * bytes drip. The caller's abort passes with its own reason.
 *
 * Both settle the call at once, without waiting for the transport underneath to notice: undici
 * notices only when a connection attempt that is under way has ended.
 */
export function withDeadline(
  options: DeadlineOptions,
  dependencies: { readonly clock: Clock },
): TransportDecorator {
  const { host } = options;
  const { clock } = dependencies;
  const abortWatch = createAbortWatch({ keepsListening: false });
  // Making an AbortController costs as much as a quarter of a request: one that was not used up by
  // aborting it serves the next call.
  const spare: AbortController[] = [];

  return (next) => async (request, signal) => {
    signal.throwIfAborted();
    const timeoutMs = Math.min(options.timeoutMs, request.timeoutMs ?? Infinity);
    return new Promise((resolve, reject) => {
      const controller = spare.pop() ?? new AbortController();
      const stop = (reason: unknown): void => {
        settle();
        controller.abort(reason);
        reject(reason);
      };
      const onAbort = (): void => {
        stop(signal.reason);
      };
      const cancelTimer = clock.after(timeoutMs, () => {
        stop(timeoutError(host, timeoutMs, timeoutMs < options.timeoutMs));
      });
      const settle = (): void => {
        cancelTimer();
        abortWatch.remove(signal, onAbort);
      };
      abortWatch.add(signal, onAbort);
      const run = async (): Promise<void> => {
        try {
          const response = await next(request, controller.signal);
          if (!controller.signal.aborted) spare.push(controller);
          resolve(response);
        } catch (error) {
          reject(error);
        } finally {
          settle();
        }
      };
      void run();
    });
  };
}

function timeoutError(host: string, timeoutMs: number, isOfRequest: boolean): ApiError {
  const remedy = isOfRequest ? 'look' : "raise the account's timeout or look";
  return new ApiError(
    'timeout',
    `${host}: no complete answer within ${timeoutMs / 1000} s; if this lasts, ${remedy} for a slow proxy or network`,
  );
}
