import type { Clock } from '../model/clock.ts';
import type { ThrottleCause } from '../model/permit.ts';
import type { Logger } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import { refusalMemoryMs } from '../newrelic/calls/keys.ts';
import type { TransportEvents } from '../newrelic/calls/send.ts';

export interface TransportLogDependencies {
  readonly clock: Clock;
  readonly calls: Pick<AccountCalls, 'limitPerMinute'>;
  readonly logger: Logger;
}

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

/** 429s of which none comes five minutes or more after the one before. */
interface Trouble {
  readonly since: string;
  refused: number;
  /** When the log last spoke of it. */
  toldMs: number;
  /** Those with a line of their own. */
  readonly causes: Set<ThrottleCause>;
}

const tellAgainMs = 10 * minuteMs;

export interface TransportLog extends TransportEvents {
  /** Says nothing more: no timer is left. */
  stop(): void;
}

/** Logs 429s and differences between New Relic's clock and ours: when they begin and when they end. */
export function createTransportLog(
  account: string,
  { clock, calls, logger }: TransportLogDependencies,
): TransportLog {
  let trouble: Trouble | undefined;
  let cancelTimer: (() => void) | undefined;
  let isStopped = false;
  return {
    stop: () => {
      isStopped = true;
      cancelTimer?.();
    },
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
      if (isStopped) return;
      const nowMs = clock.monotonicMs();
      const timeText = (ms: number): string => new Date(clock.wallMs() + ms - nowMs).toISOString();
      const one = trouble ?? {
        since: timeText(nowMs),
        refused: 0,
        toldMs: nowMs,
        causes: new Set(),
      };
      trouble = one;
      one.refused += 1;
      const { since, refused, causes } = one;
      cancelTimer?.();
      cancelTimer = clock.after(refusalMemoryMs, () => {
        trouble = undefined;
        const limit = calls.limitPerMinute();
        const fields = { account, calls: refused, since, limit_per_minute: limit };
        logger.info(fields, 'no longer rate limited by New Relic');
      });
      const isNew = !causes.has(cause);
      if (!isNew && nowMs - one.toldMs < tellAgainMs) return;
      one.toldMs = nowMs;
      causes.add(cause);
      const limit = cause === 'key_limit' ? { limit_per_minute: calls.limitPerMinute() } : {};
      const fields = { account, cause, until: timeText(untilMs), ...limit };
      const begins = { ...fields, remedy: remedies[cause] };
      if (isNew) logger.warn(begins, 'rate limited by New Relic, pausing the account');
      else logger.warn({ ...fields, calls: refused, since }, 'still rate limited by New Relic');
    },
  };
}
