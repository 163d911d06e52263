import { type FailureReason, failureReasons, failures } from '../model/api-error.ts';
import {
  type ApiObserver,
  invalidSampleReasons,
  type Operation,
  operations,
  type PollObserver,
} from '../model/telemetry.ts';
import {
  type AccountScope,
  type CachedRegistry,
  type CounterChild,
  type CounterVec,
  createCounterVec,
  createHistogramVec,
  type HistogramVec,
} from './registry.ts';

/** Two registries, so that a scrape renders and compresses only what changes between two scrapes. */
export interface ObserverRegistries {
  /** What every call and every poll changes. */
  readonly busy: CachedRegistry;
  /** What changes only when something goes wrong: most of the series. */
  readonly quiet: CachedRegistry;
}

/** Metrics of the calls to the vendor. */
export interface ApiMetrics {
  /** Creates the account's counters at 0. The histogram of an operation begins with its first call. */
  observer(scope: AccountScope): ApiObserver;
  removeAccount(account: string): void;
}

/** In seconds. An answer usually takes 140 to 400 ms; the default timeout of a call is 30 s. */
const callBuckets = [0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30];

/** The known reasons for a retry: failures that may pass, and the one retry that a rotated key gets. */
const retryReasons: readonly FailureReason[] = failureReasons.filter(
  (reason) => reason === 'auth' || failures[reason].isRetryable,
);

interface ApiCounters {
  readonly requests: CounterVec<'operation' | 'code'>;
  readonly failures: CounterVec<'operation' | 'reason'>;
  readonly retries: CounterVec<'operation' | 'reason'>;
  readonly throttled: CounterVec<never>;
  readonly invalidSamples: CounterVec<'reason'>;
  readonly unexpected: CounterVec<'kind'>;
}

export function createApiMetrics(registries: ObserverRegistries): ApiMetrics {
  const counters = createCounters(registries);
  const durations = createHistogramVec(registries.busy, {
    name: 'newrelic_exporter_api_request_duration_seconds',
    help: 'Duration of calls to the New Relic API, from the start of sending to the last byte or the failure.',
    labelNames: ['operation'],
    buckets: callBuckets,
  });

  return {
    observer: (scope) => {
      const { account } = scope;
      createSeries(account, counters);
      const countEnded = createEndedCount(account, counters.requests, durations);
      return {
        // The calls in flight are in the account's status.
        started: () => undefined,
        ended: (operation, code, durationSeconds) => {
          scope.record(() => {
            countEnded(operation, code, durationSeconds);
          });
        },
        failed: (operation, reason) => {
          scope.record(() => {
            counters.failures.inc({ account, operation, reason });
          });
        },
        retried: (operation, reason) => {
          scope.record(() => {
            counters.retries.inc({ account, operation, reason });
          });
        },
        throttled: () => {
          scope.record(() => {
            counters.throttled.inc({ account });
          });
        },
        invalidSample: (reason) => {
          scope.record(() => {
            counters.invalidSamples.inc({ account, reason });
          });
        },
        unexpected: (kind, count) => {
          scope.record(() => {
            counters.unexpected.inc({ account, kind }, count);
          });
        },
      };
    },
    removeAccount: (account) => {
      for (const counter of Object.values(counters)) counter.removeAccount(account);
      for (const operation of operations) durations.remove({ account, operation });
    },
  };
}

/** Counts the end of every call, so it looks up each series by its labels only once. */
function createEndedCount(
  account: string,
  requests: ApiCounters['requests'],
  durations: HistogramVec<'operation'>,
): (operation: Operation, code: string, durationSeconds: number) => void {
  const createSeriesOf = (
    operation: Operation,
  ): { byCode: Map<string, CounterChild>; duration: (seconds: number) => void } => ({
    byCode: new Map(),
    duration: durations.labels({ account, operation }),
  });
  const seriesByOperation = new Map<Operation, ReturnType<typeof createSeriesOf>>();

  return (operation, code, durationSeconds) => {
    const ofOperation = seriesByOperation.get(operation) ?? createSeriesOf(operation);
    seriesByOperation.set(operation, ofOperation);
    const { byCode, duration } = ofOperation;
    const ended = byCode.get(code) ?? requests.labels({ account, operation, code });
    byCode.set(code, ended);
    ended.inc(1);
    duration(durationSeconds);
  };
}

function createCounters({ busy, quiet }: ObserverRegistries): ApiCounters {
  return {
    requests: createCounterVec(busy, {
      name: 'newrelic_exporter_api_requests_total',
      help: 'Calls to the New Relic API that have ended; every attempt counts. The code is the HTTP status, or the reason why no answer came.',
      labelNames: ['operation', 'code'],
    }),
    failures: createCounterVec(quiet, {
      name: 'newrelic_exporter_api_request_failures_total',
      help: 'Calls to the New Relic API that failed, by reason; every attempt counts.',
      labelNames: ['operation', 'reason'],
    }),
    retries: createCounterVec(quiet, {
      name: 'newrelic_exporter_api_request_retries_total',
      help: 'Calls to the New Relic API that were sent again, by the reason of the failure before.',
      labelNames: ['operation', 'reason'],
    }),
    throttled: createCounterVec(quiet, {
      name: 'newrelic_exporter_api_throttled_total',
      help: 'Answers of the New Relic API that said the rate limit is used up (HTTP 429).',
      labelNames: [],
    }),
    invalidSamples: createCounterVec(quiet, {
      name: 'newrelic_exporter_invalid_samples_total',
      help: 'Values in answers of the New Relic API that were left out because they make no sense, by reason.',
      labelNames: ['reason'],
    }),
    unexpected: createCounterVec(quiet, {
      name: 'newrelic_exporter_unexpected_answers_total',
      help: 'Answers of New Relic that were not as expected, by what was different.',
      labelNames: ['kind'],
    }),
  };
}

function createSeries(account: string, counters: ApiCounters): void {
  for (const operation of operations) {
    counters.requests.inc({ account, operation, code: '200' }, 0);
    for (const reason of failureReasons) counters.failures.inc({ account, operation, reason }, 0);
    for (const reason of retryReasons) counters.retries.inc({ account, operation, reason }, 0);
  }
  counters.throttled.inc({ account }, 0);
  for (const reason of invalidSampleReasons) counters.invalidSamples.inc({ account, reason }, 0);
}

/** Metrics of the polls. */
export interface PollMetrics {
  /** Creates the account's counters at 0. The histogram begins with the first poll. */
  observer(scope: AccountScope): PollObserver;
  removeAccount(account: string): void;
}

/** In seconds. A poll is one call or thousands of paced ones: one round trip to several intervals. */
const pollBuckets = [0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300];

export function createPollMetrics({ busy, quiet }: ObserverRegistries): PollMetrics {
  const polls = createCounterVec(busy, {
    name: 'newrelic_exporter_polls_total',
    help: 'Polls of an application that have ended, failed ones included.',
    labelNames: [],
  });
  const failed = createCounterVec(quiet, {
    name: 'newrelic_exporter_polls_failed_total',
    help: 'Polls of an application that did not get all that was asked for.',
    labelNames: [],
  });
  const skipped = createCounterVec(quiet, {
    name: 'newrelic_exporter_polls_skipped_total',
    help: 'Polls of an application that were left out because the one before had not ended in time.',
    labelNames: [],
  });
  // A histogram, not a gauge of the last poll: the polls of all applications of an account share
  // one series, and its slow tail shows that pacing or the vendor stretches them.
  const durations = createHistogramVec(busy, {
    name: 'newrelic_exporter_poll_duration_seconds',
    help: 'Duration of the polls of an application with all of its hosts, waiting for the budget included.',
    labelNames: [],
    buckets: pollBuckets,
  });

  return {
    observer: (scope) => {
      const { account } = scope;
      for (const counter of [polls, failed, skipped]) counter.inc({ account }, 0);
      const duration = durations.labels({ account });
      return {
        polled: (durationSeconds, succeeded) => {
          scope.record(() => {
            polls.inc({ account });
            if (!succeeded) failed.inc({ account });
            duration(durationSeconds);
          });
        },
        skipped: (count) => {
          scope.record(() => {
            skipped.inc({ account }, count);
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
