import { Counter, Histogram, type Registry } from 'prom-client';
import { type FailureReason, failureReasons, failures } from '../model/api-error.ts';
import {
  type ApiObserver,
  type DaemonOperation,
  invalidSampleReasons,
  type PollObserver,
} from '../model/telemetry.ts';

/** Counts the calls and the polls of accounts. */
export interface ObserverMetrics {
  readonly apiObserverOf: (account: string) => ApiObserver;
  readonly pollObserverOf: (account: string) => PollObserver;
  /** Begins the counters of an account at 0 whose labels these operations can have. */
  begin(account: string, operations: readonly DaemonOperation[]): void;
  /** Removes the series of these accounts, also those that a call brought back that ended late. */
  remove(accounts: ReadonlySet<string>): Promise<void>;
}

/** In seconds. An answer usually takes 140 to 400 ms; the default timeout of a call is 30 s. */
const callBuckets = [0.25, 0.5, 1, 5, 30];

/** In seconds. A poll is one call or thousands of paced ones: one round trip to several intervals. */
const pollBuckets = [1, 5, 30, 60, 300];

/** The known reasons for a retry: failures that may pass, and the one retry that a rotated key gets. */
const retryReasons: readonly FailureReason[] = failureReasons.filter(
  (reason) => reason === 'auth' || failures[reason].isRetryable,
);

export function createObserverMetrics(registry: Registry): ObserverMetrics {
  const calls = createCallFamilies([registry]);
  const polls = createPollFamilies([registry]);
  return {
    apiObserverOf: (account) => apiObserverOf(account, calls),
    pollObserverOf: (account) => pollObserverOf(account, polls),
    begin: (account, operations) => {
      for (const operation of operations) {
        calls.requests.inc({ account, operation, code: '200' }, 0);
        for (const reason of failureReasons) calls.failures.inc({ account, operation, reason }, 0);
        for (const reason of retryReasons) calls.retries.inc({ account, operation, reason }, 0);
      }
      calls.throttled.inc({ account }, 0);
      const hasQueries = operations.includes('query');
      for (const reason of invalidSampleReasons) {
        const isOfQueries = reason === 'absent' || reason === 'duplicate';
        if (hasQueries || !isOfQueries) calls.invalidSamples.inc({ account, reason }, 0);
      }
      for (const counter of [polls.ended, polls.failed, polls.skipped]) counter.inc({ account }, 0);
    },
    // prom-client removes a series only by all of its labels.
    remove: async (accounts) => {
      if (accounts.size === 0) return;
      for (const metric of [...Object.values(calls), ...Object.values(polls)]) {
        const { values } = await metric.get();
        for (const { labels } of values) {
          const { le: _, ...own }: Partial<Record<string, string | number>> = labels;
          if (accounts.has(String(own['account']))) metric.remove(own);
        }
      }
    },
  };
}

function apiObserverOf(
  account: string,
  metrics: ReturnType<typeof createCallFamilies>,
): ApiObserver {
  return {
    // The calls in flight are in the account's status.
    started: () => undefined,
    ended: (operation, code, durationSeconds) => {
      metrics.requests.inc({ account, operation, code });
      metrics.durations.observe({ account, operation }, durationSeconds);
    },
    failed: (operation, reason) => metrics.failures.inc({ account, operation, reason }),
    retried: (operation, reason) => metrics.retries.inc({ account, operation, reason }),
    throttled: () => metrics.throttled.inc({ account }),
    invalidSample: (reason) => metrics.invalidSamples.inc({ account, reason }),
    unexpected: (kind, count) => metrics.unexpected.inc({ account, kind }, count),
  };
}

function pollObserverOf(
  account: string,
  { ended, failed, skipped, durations }: ReturnType<typeof createPollFamilies>,
): PollObserver {
  return {
    polled: (durationSeconds, succeeded) => {
      ended.inc({ account });
      if (!succeeded) failed.inc({ account });
      durations.observe({ account }, durationSeconds);
    },
    skipped: (count) => skipped.inc({ account }, count),
  };
}

function counterFor(registers: Registry[]) {
  return (name: string, help: string, labels: readonly string[] = []) =>
    new Counter({ name, help, labelNames: ['account', ...labels], registers });
}

function createCallFamilies(registers: Registry[]) {
  const counterOf = counterFor(registers);
  return {
    requests: counterOf(
      'newrelic_exporter_api_requests_total',
      'Calls to the New Relic API that have ended; every attempt counts. The code is the HTTP status, or the reason why no answer came.',
      ['operation', 'code'],
    ),
    failures: counterOf(
      'newrelic_exporter_api_request_failures_total',
      'Calls to the New Relic API that failed, by reason; every attempt counts.',
      ['operation', 'reason'],
    ),
    retries: counterOf(
      'newrelic_exporter_api_request_retries_total',
      'Calls to the New Relic API that were sent again, by the reason of the failure before.',
      ['operation', 'reason'],
    ),
    /** The histogram of an operation begins with its first call. */
    durations: new Histogram({
      name: 'newrelic_exporter_api_request_duration_seconds',
      help: 'Duration of calls to the New Relic API, from the start of sending to the last byte or the failure.',
      labelNames: ['account', 'operation'],
      buckets: callBuckets,
      registers,
    }),
    throttled: counterOf(
      'newrelic_exporter_api_throttled_total',
      'Answers of the New Relic API that said the rate limit is used up (HTTP 429).',
    ),
    invalidSamples: counterOf(
      'newrelic_exporter_invalid_samples_total',
      'Values in answers of the New Relic API that were left out because they make no sense, by reason.',
      ['reason'],
    ),
    unexpected: counterOf(
      'newrelic_exporter_unexpected_answers_total',
      'Answers of New Relic that were not as expected, by what was different.',
      ['kind'],
    ),
  };
}

function createPollFamilies(registers: Registry[]) {
  const counterOf = counterFor(registers);
  return {
    ended: counterOf(
      'newrelic_exporter_polls_total',
      'Polls of an application that have ended, failed ones included.',
    ),
    failed: counterOf(
      'newrelic_exporter_polls_failed_total',
      'Polls of an application that did not get all that was asked for.',
    ),
    skipped: counterOf(
      'newrelic_exporter_polls_skipped_total',
      'Polls of an application that were left out because the one before had not ended in time.',
    ),
    // A histogram, not a gauge of the last poll: the polls of all applications of an account share
    // one series, and its slow tail shows that pacing or New Relic stretches them.
    durations: new Histogram({
      name: 'newrelic_exporter_poll_duration_seconds',
      help: 'Duration of the polls of an application with all of its hosts, waiting for the budget included.',
      labelNames: ['account'],
      buckets: pollBuckets,
      registers,
    }),
  };
}
