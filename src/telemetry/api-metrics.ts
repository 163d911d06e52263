import { Histogram, type Registry } from 'prom-client';
import { type FailureReason, failureReasons } from '../model/api-error.ts';
import {
  type ApiObserver,
  invalidSampleReasons,
  type Operation,
  operations,
} from '../model/telemetry.ts';
import {
  type AccountCounter,
  type AccountLifetime,
  type CounterSeries,
  createAccountCounter,
} from './registry.ts';

/** What happens on the way to the vendor. */
export interface ApiMetrics {
  /** Creates the account's series at 0; once per lifetime, for it would set them back to 0. */
  observer(lifetime: AccountLifetime): ApiObserver;
  removeAccount(account: string): void;
}

/** A usual answer takes 140 to 400 ms; a call is given up after 30 s unless configured otherwise. */
const durationBuckets = [0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The reasons after which a call is sent again, as far as they are known from the start: failures
 * that may pass, and the one retry that a rotated key gets.
 */
const retryableReasons: readonly FailureReason[] = [
  'dns',
  'connect',
  'reset',
  'timeout',
  'auth',
  'throttled',
  'server',
];

interface ApiCounters {
  readonly requests: AccountCounter<'operation' | 'code'>;
  readonly failures: AccountCounter<'operation' | 'reason'>;
  readonly retries: AccountCounter<'operation' | 'reason'>;
  readonly throttled: AccountCounter<never>;
  readonly invalidSamples: AccountCounter<'reason'>;
}

export function createApiMetrics(registry: Registry): ApiMetrics {
  const counters = createCounters(registry);
  const durations = new Histogram({
    name: 'newrelic_exporter_api_request_duration_seconds',
    help: 'Duration of calls to the New Relic API, from the start of sending to the last byte or the failure.',
    labelNames: ['account', 'operation'],
    buckets: durationBuckets,
    registers: [registry],
  });

  return {
    observer: (lifetime) => {
      const { account } = lifetime;
      createSeries(account, counters);
      for (const operation of operations) durations.zero({ account, operation });
      const countEnded = createEndedCount(account, counters.requests, durations);
      return {
        // Calls in flight are read from the account's status.
        started: () => undefined,
        ended: (operation, code, durationSeconds) => {
          lifetime.record(() => {
            countEnded(operation, code, durationSeconds);
          });
        },
        failed: (operation, reason) => {
          lifetime.record(() => {
            counters.failures.add({ account, operation, reason });
          });
        },
        retried: (operation, reason) => {
          lifetime.record(() => {
            counters.retries.add({ account, operation, reason });
          });
        },
        throttled: () => {
          lifetime.record(() => {
            counters.throttled.add({ account });
          });
        },
        invalidSample: (reason) => {
          lifetime.record(() => {
            counters.invalidSamples.add({ account, reason });
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

/** Every call ends here: its series are looked up by their labels once, not every time. */
function createEndedCount(
  account: string,
  requests: ApiCounters['requests'],
  durations: Histogram<'account' | 'operation'>,
): (operation: Operation, code: string, durationSeconds: number) => void {
  const createSeriesOf = (
    operation: Operation,
  ): { byCode: Map<string, CounterSeries>; duration: { observe(seconds: number): void } } => ({
    byCode: new Map(),
    duration: durations.labels({ account, operation }),
  });
  const seriesByOperation = new Map<Operation, ReturnType<typeof createSeriesOf>>();

  return (operation, code, durationSeconds) => {
    const ofOperation = seriesByOperation.get(operation) ?? createSeriesOf(operation);
    seriesByOperation.set(operation, ofOperation);
    const { byCode, duration } = ofOperation;
    const ended = byCode.get(code) ?? requests.series({ account, operation, code });
    byCode.set(code, ended);
    ended.add(1);
    duration.observe(durationSeconds);
  };
}

function createCounters(registry: Registry): ApiCounters {
  return {
    requests: createAccountCounter(registry, {
      name: 'newrelic_exporter_api_requests_total',
      help: 'Calls to the New Relic API that have ended; every attempt counts. The code is the HTTP status, or the reason why no answer came.',
      labelNames: ['operation', 'code'],
    }),
    failures: createAccountCounter(registry, {
      name: 'newrelic_exporter_api_request_failures_total',
      help: 'Calls to the New Relic API that failed, by reason; every attempt counts.',
      labelNames: ['operation', 'reason'],
    }),
    retries: createAccountCounter(registry, {
      name: 'newrelic_exporter_api_request_retries_total',
      help: 'Calls to the New Relic API that were sent again, by the reason of the failure before.',
      labelNames: ['operation', 'reason'],
    }),
    throttled: createAccountCounter(registry, {
      name: 'newrelic_exporter_api_throttled_total',
      help: 'Answers of the New Relic API that said the rate limit is used up (HTTP 429).',
      labelNames: [],
    }),
    invalidSamples: createAccountCounter(registry, {
      name: 'newrelic_exporter_invalid_samples_total',
      help: 'Values in answers of the New Relic API that were left out because they make no sense, by reason.',
      labelNames: ['reason'],
    }),
  };
}

function createSeries(account: string, counters: ApiCounters): void {
  for (const operation of operations) {
    counters.requests.add({ account, operation, code: '200' }, 0);
    for (const reason of failureReasons) counters.failures.add({ account, operation, reason }, 0);
    for (const reason of retryableReasons) counters.retries.add({ account, operation, reason }, 0);
  }
  counters.throttled.add({ account }, 0);
  for (const reason of invalidSampleReasons) counters.invalidSamples.add({ account, reason }, 0);
}
