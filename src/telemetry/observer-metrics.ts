import { Counter, Histogram, type Registry } from 'prom-client';
import { type FailureReason, failureReasons, failures } from '../model/api-error.ts';
import {
  type ApiObserver,
  invalidSampleReasons,
  operations,
  type PollObserver,
} from '../model/telemetry.ts';

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * Writes the series of one account, and remembers their labels: prom-client removes a series only by all of
 * them.
 */
export interface AccountSeries {
  /** Adds `by`, 1 by default; 0 creates the series. */
  inc<Label extends string>(counter: Counter<Label>, labels: Labels<Label>, by?: number): void;
  observe<Label extends string>(
    histogram: Histogram<Label>,
    labels: Labels<Label>,
    value: number,
  ): void;
  /** Removes all series. A call that ends after its account was removed brings none of them back. */
  close(): void;
}

export function createAccountSeries(): AccountSeries {
  /** By the labels, for each metric. */
  const removals = new Map<object, Map<string, () => void>>();
  let isClosed = false;

  const remember = <Label extends string>(
    metric: { remove(labels: Labels<Label>): void },
    labels: Labels<Label>,
  ): void => {
    const ofMetric = removals.get(metric) ?? new Map<string, () => void>();
    removals.set(metric, ofMetric);
    ofMetric.set(JSON.stringify(labels), () => metric.remove(labels));
  };

  return {
    inc: (counter, labels, by = 1) => {
      if (isClosed) return;
      remember(counter, labels);
      counter.inc(labels, by);
    },
    observe: (histogram, labels, value) => {
      if (isClosed) return;
      remember(histogram, labels);
      histogram.observe(labels, value);
    },
    close: () => {
      isClosed = true;
      for (const ofMetric of removals.values()) for (const remove of ofMetric.values()) remove();
      removals.clear();
    },
  };
}

/** Makes the observer of an account, whose counters with known labels begin at 0. */
export type ObserverFactory<Observer> = (account: string, series: AccountSeries) => Observer;

/** In seconds. An answer usually takes 140 to 400 ms; the default timeout of a call is 30 s. */
const callBuckets = [0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30];

/** The known reasons for a retry: failures that may pass, and the one retry that a rotated key gets. */
const retryReasons: readonly FailureReason[] = failureReasons.filter(
  (reason) => reason === 'auth' || failures[reason].isRetryable,
);

/** Metrics of the calls to New Relic. */
export function createApiMetrics(registry: Registry): ObserverFactory<ApiObserver> {
  const metrics = createApiFamilies([registry]);
  return (account, series) => {
    createSeries(account, series, metrics);
    return {
      // The calls in flight are in the account's status.
      started: () => undefined,
      ended: (operation, code, durationSeconds) => {
        series.inc(metrics.requests, { account, operation, code });
        series.observe(metrics.durations, { account, operation }, durationSeconds);
      },
      failed: (operation, reason) => series.inc(metrics.failures, { account, operation, reason }),
      retried: (operation, reason) => series.inc(metrics.retries, { account, operation, reason }),
      throttled: () => series.inc(metrics.throttled, { account }),
      invalidSample: (reason) => series.inc(metrics.invalidSamples, { account, reason }),
      unexpected: (kind, count) => series.inc(metrics.unexpected, { account, kind }, count),
    };
  };
}

function createApiFamilies(registers: Registry[]) {
  return {
    requests: new Counter({
      name: 'newrelic_exporter_api_requests_total',
      help: 'Calls to the New Relic API that have ended; every attempt counts. The code is the HTTP status, or the reason why no answer came.',
      labelNames: ['account', 'operation', 'code'],
      registers,
    }),
    failures: new Counter({
      name: 'newrelic_exporter_api_request_failures_total',
      help: 'Calls to the New Relic API that failed, by reason; every attempt counts.',
      labelNames: ['account', 'operation', 'reason'],
      registers,
    }),
    retries: new Counter({
      name: 'newrelic_exporter_api_request_retries_total',
      help: 'Calls to the New Relic API that were sent again, by the reason of the failure before.',
      labelNames: ['account', 'operation', 'reason'],
      registers,
    }),
    /** The histogram of an operation begins with its first call. */
    durations: new Histogram({
      name: 'newrelic_exporter_api_request_duration_seconds',
      help: 'Duration of calls to the New Relic API, from the start of sending to the last byte or the failure.',
      labelNames: ['account', 'operation'],
      buckets: callBuckets,
      registers,
    }),
    throttled: new Counter({
      name: 'newrelic_exporter_api_throttled_total',
      help: 'Answers of the New Relic API that said the rate limit is used up (HTTP 429).',
      labelNames: ['account'],
      registers,
    }),
    invalidSamples: new Counter({
      name: 'newrelic_exporter_invalid_samples_total',
      help: 'Values in answers of the New Relic API that were left out because they make no sense, by reason.',
      labelNames: ['account', 'reason'],
      registers,
    }),
    unexpected: new Counter({
      name: 'newrelic_exporter_unexpected_answers_total',
      help: 'Answers of New Relic that were not as expected, by what was different.',
      labelNames: ['account', 'kind'],
      registers,
    }),
  };
}

function createSeries(
  account: string,
  series: AccountSeries,
  metrics: ReturnType<typeof createApiFamilies>,
): void {
  for (const operation of operations) {
    series.inc(metrics.requests, { account, operation, code: '200' }, 0);
    for (const reason of failureReasons) {
      series.inc(metrics.failures, { account, operation, reason }, 0);
    }
    for (const reason of retryReasons)
      series.inc(metrics.retries, { account, operation, reason }, 0);
  }
  series.inc(metrics.throttled, { account }, 0);
  for (const reason of invalidSampleReasons) {
    series.inc(metrics.invalidSamples, { account, reason }, 0);
  }
}

/** In seconds. A poll is one call or thousands of paced ones: one round trip to several intervals. */
const pollBuckets = [0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300];

export function createPollMetrics(registry: Registry): ObserverFactory<PollObserver> {
  const registers = [registry];
  const labelNames = ['account'] as const;
  const polls = new Counter({
    name: 'newrelic_exporter_polls_total',
    help: 'Polls of an application that have ended, failed ones included.',
    labelNames,
    registers,
  });
  const failed = new Counter({
    name: 'newrelic_exporter_polls_failed_total',
    help: 'Polls of an application that did not get all that was asked for.',
    labelNames,
    registers,
  });
  const skipped = new Counter({
    name: 'newrelic_exporter_polls_skipped_total',
    help: 'Polls of an application that were left out because the one before had not ended in time.',
    labelNames,
    registers,
  });
  // A histogram, not a gauge of the last poll: the polls of all applications of an account share
  // one series, and its slow tail shows that pacing or New Relic stretches them.
  const durations = new Histogram({
    name: 'newrelic_exporter_poll_duration_seconds',
    help: 'Duration of the polls of an application with all of its hosts, waiting for the budget included.',
    labelNames,
    buckets: pollBuckets,
    registers,
  });
  return (account, series) => {
    for (const counter of [polls, failed, skipped]) series.inc(counter, { account }, 0);
    return {
      polled: (durationSeconds, succeeded) => {
        series.inc(polls, { account });
        if (!succeeded) series.inc(failed, { account });
        series.observe(durations, { account }, durationSeconds);
      },
      skipped: (count) => series.inc(skipped, { account }, count),
    };
  };
}
