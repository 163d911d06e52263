import type { Clock } from '../../src/model/clock.ts';
import type { Scrape } from './scrape.ts';

/** Younger than this, the last good poll is the newest that there should be. */
const freshSeconds = 75;

/** Which applications have good values of their last interval, as `account id`, in order. */
export function freshness(page: Scrape, clock: Clock): readonly string[] {
  const name = 'newrelic_application_last_success_timestamp_seconds';
  return page
    .series(name)
    .filter((labels) => {
      const ageSeconds = clock.wallMs() / 1000 - (page.value(name, labels) ?? 0);
      return (
        ageSeconds < freshSeconds && page.value('newrelic_application_poll_success', labels) === 1
      );
    })
    .map((labels) => `${labels['account']} ${labels['app_id']}`)
    .toSorted();
}
