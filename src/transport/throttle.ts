import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { Pacer } from './pacer.ts';
import { pauseOf } from './retry-after.ts';
import type { TransportDecorator } from './transport-decorator.ts';
import type { VendorClock } from './vendor-clock.ts';

export interface ThrottleDependencies {
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly observer: ApiObserver;
  readonly vendorClock: VendorClock;
}

/**
 * Obeys the vendor's 429: pauses the account's pacer, and holds back a request that got its place in
 * the budget before the pause began.
 *
 * A late answer of the vendor's last minute stalls no other minute: its pause counts from when the
 * vendor gave it, not from when it arrived.
 *
 * It stands inside the concurrency limit, so that the pause is in force before the place of the
 * refused request goes to the next one in the queue.
 */
export function throttle(dependencies: ThrottleDependencies): TransportDecorator {
  const { clock, pacer, observer, vendorClock } = dependencies;

  const pauseLeftMs = (): number => {
    const untilMs = pacer.pausedUntilMs();
    return untilMs === undefined ? 0 : untilMs - clock.monotonicMs();
  };

  return (next) => async (request, signal) => {
    // A pause may have grown while this request waited for its end.
    for (let leftMs = pauseLeftMs(); leftMs > 0; leftMs = pauseLeftMs()) {
      await sleep(clock, leftMs, signal);
    }
    const sentMs = clock.monotonicMs();
    const response = await next(request, signal);
    const nowMs = clock.monotonicMs();
    vendorClock.answered(response.headers, nowMs);
    if (response.status === 429) {
      const givenAtMs = vendorClock.givenAtMs(response.headers, sentMs, nowMs);
      const { ms, minuteLeftMs, limitPerMinute } = pauseOf(response.headers, clock.wallMs());
      pacer.refused({
        sentMs,
        untilMs: givenAtMs + ms,
        minuteEndMs: minuteLeftMs === undefined ? undefined : givenAtMs + minuteLeftMs,
        limitPerMinute,
      });
      observer.throttled();
    }
    return response;
  };
}
