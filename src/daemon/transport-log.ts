import type { Clock } from '../model/clock.ts';
import type { ThrottleCause } from '../model/permit.ts';
import type { Logger } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import { refusalMemoryMs } from '../newrelic/calls/keys.ts';
import type { TransportEvents } from '../newrelic/calls/send.ts';

const remedies: Readonly<Record<ThrottleCause, string>> = {
  key_limit:
    'the limit of the key is used up, perhaps by others that use it as well: less is sent, and all ' +
    'of it again 5 minutes after the last 429. To leave others more, lower requests_per_minute',
  overload:
    'New Relic has too much to do and asks all its clients to wait; nothing needs to be done here',
  unknown:
    'the answer gives no reason; if this lasts, look for others that use the key, or lower ' +
    'requests_per_minute',
};

const tellAgainMs = 10 * minuteMs;

interface TransportLogContext {
  readonly account: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Logs 429s and differences between New Relic's clock and ours: when they begin and when they end. Trouble
 * with 429s has ended five minutes after the last one, and is told of again every ten minutes.
 *
 * @param signal once it is aborted no timer is left
 */
export function createTransportLog(
  { account, clock, logger }: TransportLogContext,
  calls: Pick<AccountCalls, 'limitPerMinute'>,
  signal: AbortSignal,
): TransportEvents {
  /** When the log last spoke of each cause of the trouble under way. */
  const toldMs = new Map<ThrottleCause, number>();
  let since = '';
  let refused = 0;
  let cancelEnd: (() => void) | undefined;
  signal.addEventListener('abort', () => cancelEnd?.(), { once: true });
  return {
    clockSkewed: (skew) => {
      if (skew === undefined) {
        logger.info({ account }, "New Relic's clock and this machine's agree again");
        return;
      }
      const fields = { account, vendor_ahead_seconds: Math.round(skew.ms / 1000) };
      const setClock = 'compare the clock of this machine with a time server';
      const remedy = skew.isBelieved
        ? `windows follow New Relic's clock; ${setClock}`
        : `windows follow this machine's clock, as the difference is beyond reason; ${setClock}, and look for a proxy that changes the Date header`;
      logger.warn({ ...fields, remedy }, "New Relic's clock and this machine's differ");
    },
    throttled: ({ cause, untilMs }) => {
      // Calls that were under way when the account left.
      if (signal.aborted) return;
      const nowMs = clock.monotonicMs();
      const timeText = (ms: number): string => new Date(clock.wallMs() + ms - nowMs).toISOString();
      if (refused === 0) since = timeText(nowMs);
      refused += 1;
      cancelEnd?.();
      cancelEnd = clock.after(refusalMemoryMs, () => {
        const fields = { account, calls: refused, since, limit_per_minute: calls.limitPerMinute() };
        logger.info(fields, 'no longer rate limited by New Relic');
        refused = 0;
        toldMs.clear();
      });
      if (nowMs < (toldMs.get(cause) ?? Number.NEGATIVE_INFINITY) + tellAgainMs) return;
      toldMs.set(cause, nowMs);
      const limit = cause === 'key_limit' ? { limit_per_minute: calls.limitPerMinute() } : {};
      const fields = { account, cause, until: timeText(untilMs), ...limit, calls: refused, since };
      const remedy = remedies[cause];
      logger.warn({ ...fields, remedy }, 'rate limited by New Relic, pausing the account');
    },
  };
}
