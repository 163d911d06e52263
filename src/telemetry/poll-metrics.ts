import { Histogram, type Registry } from 'prom-client';
import type { PollObserver } from '../model/telemetry.ts';
import { createAccountCounter } from './account-counter.ts';
import type { AccountLifetime } from './account-lifetime.ts';

/** What the poller does. */
export interface PollMetrics {
  /** Creates the account's series at 0; once per lifetime, for it would set them back to 0. */
  observer(lifetime: AccountLifetime): PollObserver;
  removeAccount(account: string): void;
}

/** A poll is one to some thousand paced calls: from one round trip to several intervals. */
const durationBuckets = [0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300];

export function createPollMetrics(registry: Registry): PollMetrics {
  const polls = createAccountCounter(registry, {
    name: 'newrelic_exporter_polls_total',
    help: 'Polls of an application that have ended, failed ones included.',
    labelNames: [],
  });
  const failed = createAccountCounter(registry, {
    name: 'newrelic_exporter_polls_failed_total',
    help: 'Polls of an application that did not get all that was asked for.',
    labelNames: [],
  });
  const skipped = createAccountCounter(registry, {
    name: 'newrelic_exporter_polls_skipped_total',
    help: 'Polls of an application that were left out because the one before had not ended in time.',
    labelNames: [],
  });
  // A histogram, not a gauge of the last poll: the polls of all applications of an account share
  // one series, and the slow tail is what shows that pacing or the vendor stretches them.
  const durations = new Histogram({
    name: 'newrelic_exporter_poll_duration_seconds',
    help: 'Duration of the polls of an application with all of its hosts, waiting for the budget included.',
    labelNames: ['account'],
    buckets: durationBuckets,
    registers: [registry],
  });

  return {
    observer: (lifetime) => {
      const { account } = lifetime;
      for (const counter of [polls, failed, skipped]) counter.add({ account }, 0);
      durations.zero({ account });
      return {
        polled: (durationSeconds, succeeded) => {
          lifetime.record(() => {
            polls.add({ account });
            if (!succeeded) failed.add({ account });
            durations.observe({ account }, durationSeconds);
          });
        },
        skipped: (count) => {
          lifetime.record(() => {
            skipped.add({ account }, count);
          });
        },
      };
    },
    removeAccount: (account) => {
      for (const counter of [polls, failed, skipped]) counter.removeAccount(account);
      durations.remove({ account });
    },
  };
}
