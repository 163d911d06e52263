import { ApiError } from '../model/api-error.ts';
import type { Throttled } from '../model/permit.ts';
import { pauseOf } from './throttle-pause.ts';
import type { PermittedRequest, Send, Transport, TransportParts } from './transport.ts';
import type { VendorClock } from './vendor-clock.ts';

/**
 * Lets every request take its turn: it waits for a permit, and releases it when it has ended. Tells the
 * limiter of the key when the vendor answers 429, and then `throttled`; it is the one place that notices a
 * 429, beside the counters.
 *
 * The pause counts from when the vendor gave the answer, not from when it arrived: a late answer
 * about the vendor's last minute must not delay the next minute.
 */
export function takeTurn({
  first,
  clock,
  vendorClock,
  throttled,
}: Pick<TransportParts, 'first' | 'clock'> & {
  readonly vendorClock: VendorClock;
  readonly throttled: (answer: Throttled) => void;
}): (next: Send<PermittedRequest>) => Transport {
  return (next) => async (request, signal) => {
    const askedMs = clock.monotonicMs();
    const permit = await (request.turn ?? first).next(request.delayMs ?? 0, signal);
    const sentMs = clock.monotonicMs();
    let isAnswered = true;
    try {
      const response = await next({ ...request, permit, waitedMs: sentMs - askedMs }, signal);
      const { status, headers } = response;
      vendorClock.answered(headers);
      if (status === 429) {
        const { ms, cause } = pauseOf(headers, clock.wallMs());
        const answer = { sentMs, untilMs: vendorClock.answeredAtMs(headers, sentMs) + ms, cause };
        permit.throttled(answer);
        throttled(answer);
      }
      return response;
    } catch (error) {
      isAnswered = error instanceof ApiError && error.status !== undefined;
      throw error;
    } finally {
      permit.release(isAnswered);
    }
  };
}
