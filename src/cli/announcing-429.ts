import type { Clock } from '../model/clock.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import type { Pacer } from '../transport/pacer.ts';

export interface Announcing429Dependencies {
  readonly observer: ApiObserver;
  readonly clock: Clock;
  readonly pacer: Pick<Pacer, 'pausedUntilMs'>;
  readonly logger: Logger;
}

/** Who shares the key for good is told of at once, and then this often. */
const quietMs = 10 * 60_000;

/** Writes a line when 429s begin, and one every ten minutes while they go on. */
export function announcing429(
  account: string,
  { observer, clock, pacer, logger }: Announcing429Dependencies,
): ApiObserver {
  let announcedMs = Number.NEGATIVE_INFINITY;
  let answers = 0;
  return {
    ...observer,
    throttled: () => {
      observer.throttled();
      answers += 1;
      const nowMs = clock.monotonicMs();
      if (nowMs < announcedMs + quietMs) return;
      const untilMs = pacer.pausedUntilMs() ?? nowMs;
      const until = new Date(clock.wallMs() + untilMs - nowMs).toISOString();
      const remedy =
        'somebody else uses this key as well; less is sent until that ends. To leave them more, ' +
        'lower requests_per_minute';
      const message = 'rate limited by the vendor, pausing the account';
      logger.warn({ account, until, answers, remedy }, message);
      announcedMs = nowMs;
      answers = 0;
    },
  };
}
