import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery, Source } from '../model/source.ts';

/**
 * One discovery; one that takes too long is an incomplete one, with what it has found by then.
 * Rejects with the signal's reason.
 */
export async function discoverWithin(
  deadlineMs: number,
  { source, clock }: { readonly source: Pick<Source, 'discover'>; readonly clock: Clock },
  selectors: readonly Selector[],
  knownIds: readonly string[],
  signal: AbortSignal,
): Promise<Discovery> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const cancelTimer = clock.after(deadlineMs, () => {
    controller.abort(deadlineError(deadlineMs));
  });
  try {
    return await source.discover(selectors, knownIds, controller.signal);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

function deadlineError(deadlineMs: number): ApiError {
  const seconds = Math.round(deadlineMs / 1000);
  return new ApiError(
    'timeout',
    `the discovery did not end within ${seconds} s: the vendor answers too slowly, or the budget is too small; what was found by then is used`,
  );
}
