import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';

/**
 * Runs something that obeys a signal, and aborts it with `ApiError('timeout')` when it has not ended
 * after `deadlineMs`. Settles as it does; the parent's abort passes with its own reason.
 *
 * @param what the subject of the error's message, such as "the poll"
 */
export async function withinDeadline<Value>(
  { what, deadlineMs }: { readonly what: string; readonly deadlineMs: number },
  clock: Clock,
  parent: AbortSignal,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  parent.throwIfAborted();
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const onParentAbort = (): void => {
    controller.abort(parent.reason);
  };
  parent.addEventListener('abort', onParentAbort, { once: true });
  const cancelTimer = clock.after(deadlineMs, () => {
    const seconds = Math.round(deadlineMs / 1000);
    const remedy = 'the vendor answers too slowly, or the budget is too small for its retries';
    controller.abort(new ApiError('timeout', `${what} did not end within ${seconds} s: ${remedy}`));
  });
  try {
    return await run(controller.signal);
  } finally {
    cancelTimer();
    parent.removeEventListener('abort', onParentAbort);
  }
}
