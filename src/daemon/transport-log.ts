import type { Clock } from '../model/clock.ts';
import type { ThrottleCause } from '../model/permit.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Membership } from '../rate-limit/membership.ts';
import type { TransportEvents } from '../transport/account-transport.ts';

export interface TransportLogDependencies {
  readonly clock: Clock;
  readonly membership: Pick<Membership, 'limitPerMinute' | 'isReduced' | 'onLimitChange'>;
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

/**
 * Logs pauses after 429s, the recovery of the limit after them, and differences between New Relic's
 * clock and ours. It listens to the membership for as long as that lasts.
 */
export function createTransportLog(
  account: string,
  { clock, membership, logger }: TransportLogDependencies,
): TransportEvents {
  let pause: { readonly cause: ThrottleCause; readonly untilMs: number } | undefined;
  let isReductionTold = false;

  membership.onLimitChange(() => {
    if (!isReductionTold || membership.isReduced()) return;
    isReductionTold = false;
    const fields = { account, limit_per_minute: membership.limitPerMinute() };
    logger.info(fields, 'the full limit of the key is available again');
  });

  return {
    throttled: ({ cause, untilMs }) => {
      const nowMs = clock.monotonicMs();
      // The other calls in flight are mostly refused alike.
      if (pause?.cause === cause && nowMs < pause.untilMs) return;
      pause = { cause, untilMs };
      const until = new Date(clock.wallMs() + untilMs - nowMs).toISOString();
      const limit = cause === 'key_limit' ? { limit_per_minute: membership.limitPerMinute() } : {};
      if (cause === 'key_limit') isReductionTold = true;
      logger.warn(
        { account, cause, until, ...limit, remedy: remedies[cause] },
        'rate limited by New Relic, pausing the account',
      );
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
  };
}
