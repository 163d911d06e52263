import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { TransportDecorator } from './transport.ts';

export interface AbortWatchOptions {
  /** Whether to listen to a signal on when no call is under way, as is best for one that comes again. */
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
 * and leaves one that was removed pointing at those that come after it. As soon as a single removed
 * one has become old, the garbage collector's quick rounds take all later ones for alive, with their
 * calls and answers: that was a tenth of the CPU time of a call. (An array, because a `Set` that
 * is always in use has the same fault.)
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
