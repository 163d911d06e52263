import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import { pauseOf, type ThrottleCause } from './retry-after.ts';
import type { PermittedRequest, Send } from './transport.ts';
import type { VendorClock } from './vendor-clock.ts';

/** A 429, for whoever wants to tell of it. */
export interface ThrottleNotice {
  readonly cause: ThrottleCause;
  /** Until when the key stays away, on the monotonic clock. */
  readonly untilMs: number;
}

export interface ThrottleDependencies {
  readonly clock: Clock;
  readonly observer: ApiObserver;
  readonly vendorClock: VendorClock;
  readonly throttled: (notice: ThrottleNotice) => void;
}

/**
 * Obeys the vendor's 429: pauses the key that was refused, and holds back a request that got its
 * permit before the pause began.
 *
 * A late answer of the vendor's last minute stalls no other minute: its pause counts from when the
 * vendor gave it, not from when it arrived.
 *
 * It stands inside the concurrency limit, so that the pause is in force before the slot of the
 * refused request goes to the next one in the queue.
 */
export function throttle(
  dependencies: ThrottleDependencies,
): (next: Send<PermittedRequest>) => Send<PermittedRequest> {
  const { clock, observer, vendorClock, throttled } = dependencies;

  return (next) => async (request, signal) => {
    const { permit } = request;
    // A pause may have grown while this request waited for its end.
    for (let untilMs = permit.pausedUntilMs(); untilMs !== undefined; ) {
      await sleep(clock, untilMs - clock.monotonicMs(), signal);
      untilMs = permit.pausedUntilMs();
    }
    const sentMs = clock.monotonicMs();
    const response = await next(request, signal);
    vendorClock.answered(response.headers);
    if (response.status === 429) {
      const { ms, cause } = pauseOf(response.headers, clock.wallMs());
      const untilMs = vendorClock.answeredAtMs(response.headers, sentMs) + ms;
      permit.throttled({ sentMs, untilMs, namesKeyLimit: cause === 'key_limit' });
      observer.throttled();
      throttled({ cause, untilMs });
    }
    return response;
  };
}
