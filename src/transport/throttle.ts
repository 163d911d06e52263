import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { Pacer } from './pacer.ts';
import { pauseMsOf } from './retry-after.ts';
import type { TransportDecorator } from './transport-decorator.ts';

export interface ThrottleDependencies {
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly observer: ApiObserver;
}

/**
 * Obeys the vendor's 429: pauses the account's pacer, and holds back a request that got its place in
 * the budget before the pause began.
 *
 * It stands inside the concurrency limit, so that the pause is in force before the place of the
 * refused request goes to the next one in the queue.
 */
export function throttle(dependencies: ThrottleDependencies): TransportDecorator {
  const { clock, pacer, observer } = dependencies;

  const pauseLeftMs = (): number => {
    const untilMs = pacer.pausedUntilMs();
    return untilMs === undefined ? 0 : untilMs - clock.monotonicMs();
  };

  return (next) => async (request, signal) => {
    // A pause may have grown while this request waited for its end.
    for (let leftMs = pauseLeftMs(); leftMs > 0; leftMs = pauseLeftMs()) {
      await sleep(clock, leftMs, signal);
    }
    const response = await next(request, signal);
    if (response.status === 429) {
      pacer.pauseUntil(clock.monotonicMs() + pauseMsOf(response.headers, clock.wallMs()));
      observer.throttled();
    }
    return response;
  };
}
