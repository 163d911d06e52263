import type { Clock } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { endOfRestAt, lastDayOfRest } from '../newrelic/rest/end-of-rest.ts';
import { accountsInUse } from './account.ts';

/**
 * Warns of the end of the REST API v2, from half a year before. The returned function is to be called
 * with each configuration that comes into force; it warns of each account once, and again if the
 * account returns to that API.
 */
export function createRestWarnings(
  clock: Pick<Clock, 'wallMs'>,
  logger: Logger,
): (config: Config) => void {
  let warned: ReadonlySet<string> = new Set();
  return (config) => {
    const { isUrgent, hasEnded, remedy } = endOfRestAt(clock.wallMs());
    if (!isUrgent) return;
    const ends = hasEnded ? 'has ended' : 'will end';
    const message = `New Relic ${ends} the REST API v2, which the account is polled with`;
    const names = restAccountsOf(config);
    for (const account of names) {
      if (!warned.has(account)) logger.warn({ account, remedy, last_day: lastDayOfRest }, message);
    }
    warned = new Set(names);
  };
}

/** The names of the accounts that are polled with the REST API v2. */
export function restAccountsOf(config: Config): readonly string[] {
  return accountsInUse(config)
    .filter(({ account }) => account.source.kind === 'rest')
    .map(({ account }) => account.name);
}
