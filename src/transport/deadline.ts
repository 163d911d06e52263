import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { TransportDecorator } from './transport.ts';

export interface AbortWatchOptions {
  /** Whether to keep listening when no call is in flight, as is best for signals that are used again. */
  readonly keepsListening: boolean;
}

/** Tells calls when their signal is aborted; any number of them may share one. */
export interface AbortWatch {
  add(signal: AbortSignal, onAbort: () => void): void;
  remove(signal: AbortSignal, onAbort: () => void): void;
}

interface Watched {
  readonly waiting: (() => void)[];
  readonly listener: () => void;
}

/**
 * Listens to a signal once for all of its calls.
 *
 * A listener for every call costs more than it seems. Node.js keeps listeners in linked structures,
 * where a removed listener still points at those after it. Once a single removed listener has become
 * old, the minor collections of the garbage collector keep all later ones alive, with their calls and
 * answers: that was a tenth of the CPU time of a call. (An array, because a `Set` that is always in
 * use has the same fault.)
 */
export function createAbortWatch({ keepsListening }: AbortWatchOptions): AbortWatch {
  const watched = new WeakMap<AbortSignal, Watched>();

  const watch = (signal: AbortSignal): Watched => {
    const waiting: (() => void)[] = [];
    const listener = (): void => {
      for (const onAbort of waiting.splice(0)) onAbort();
    };
    signal.addEventListener('abort', listener);
    const created = { waiting, listener };
    watched.set(signal, created);
    return created;
  };

  return {
    add: (signal, onAbort) => {
      const { waiting } = watched.get(signal) ?? watch(signal);
      waiting.push(onAbort);
    },
    remove: (signal, onAbort) => {
      const entry = watched.get(signal);
      if (entry === undefined) return;
      const index = entry.waiting.indexOf(onAbort);
      if (index !== -1) entry.waiting.splice(index, 1);
      if (keepsListening || entry.waiting.length > 0) return;
      signal.removeEventListener('abort', entry.listener);
      watched.delete(signal);
    },
  };
}

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
  dependencies: { readonly clock: Clock },
): TransportDecorator {
  const { host } = options;
  const { clock } = dependencies;
  const abortWatch = createAbortWatch({ keepsListening: false });
  // A new AbortController costs a quarter of a request. One that was not aborted serves the next call.
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
