import { Counter, Gauge, type Registry } from 'prom-client';
import { type Problem, problemSubjects, problemsOf } from '../model/problem.ts';
import type { ProblemKind } from '../model/problem-kinds.ts';
import type { AccountDetails } from '../model/status.ts';
import { type SeriesDropReason, seriesDropReasons } from '../model/telemetry.ts';

/** Where the state of the accounts comes from. */
export interface StatusReader {
  status(): readonly AccountDetails[];
  seriesOf(account: string): number;
  /** Series of the account left out since the start. */
  droppedSeriesOf(account: string, reason: SeriesDropReason): number;
}

/**
 * What is shown of a list of mistakes, for each account: one wrong setting may be wrong in ten thousand
 * entries, and prom-client would block everything else for 40 ms in each scrape.
 */
const mostMissingSeries = 1000;

/** What a family says of an account: the labels beside `account`, and the value if it is known. */
type Samples = readonly (readonly [Readonly<Record<string, string>>, number | undefined])[];

/** 1 for each subject that has the problem. */
function ofKind(kind: ProblemKind): SamplesOf {
  return (_status, _source, problems) =>
    problemSubjects(problems, kind)
      .slice(0, mostMissingSeries)
      .map((subject) => [subject, 1]);
}

/** The value of an account, or one for each of the labels beside `account`. */
type SamplesOf = (
  status: AccountDetails,
  source: StatusReader,
  problems: readonly Problem[],
) => number | undefined | Samples;
type StatusFamily = readonly [help: string, samplesOf: SamplesOf, labelNames?: readonly string[]];

const families: Readonly<Record<string, StatusFamily>> = {
  newrelic_exporter_api_requests_in_flight: [
    'Calls to the New Relic API that are under way.',
    (status) => status.requestsInFlight,
  ],
  newrelic_exporter_api_backoff_until_timestamp_seconds: [
    'Unix time until which New Relic asked for no calls of the account; 0 when there is no such pause.',
    (status) => (status.backoffUntilMs ?? 0) / 1000,
  ],
  newrelic_exporter_api_budget_requests_per_minute: [
    'Calls that may be sent in any 60 seconds at present: requests_per_minute of the account, the part of it that is the share of this process, or less for some minutes after a 429.',
    (status) => status.budgetRequestsPerMinute,
  ],
  newrelic_exporter_api_demand_requests_per_minute: [
    'Calls per minute that the configured intervals ask for, once the account was discovered; above the budget, the intervals stretch.',
    (status) => status.demandRequestsPerMinute,
  ],
  newrelic_exporter_poll_interval_seconds: [
    'Longest interval at which applications of the account were polled in the last ten minutes: stretched to fit the budget, pauses included.',
    (status) => status.pollIntervalSeconds,
  ],
  newrelic_exporter_poll_interval_configured_seconds: [
    'Longest interval that is configured for applications of the account.',
    (status) => status.configuredIntervalSeconds,
  ],
  newrelic_exporter_stale_after_seconds: [
    "Shortest stale_after of the account's applications: how long values are held while polls fail.",
    (status) => status.staleAfterSeconds,
  ],
  newrelic_exporter_discovery_last_success_timestamp_seconds: [
    "Unix time at which the last discovery of the account's applications that succeeded ended; 0 if none ever has.",
    (status) => (status.lastDiscoveryMs ?? 0) / 1000,
  ],
  newrelic_exporter_api_key_readable: [
    '1 if the API key could be read when it was last tried, 0 if not; the key that was read before stays in use.',
    ({ key }) => Number(key.problem === undefined),
  ],
  newrelic_exporter_api_key_last_change_timestamp_seconds: [
    'Unix time at which the API key in use was first read: at the start, or after it was last changed.',
    (status) => status.key.readMs / 1000,
  ],
  newrelic_exporter_applications: [
    'Applications that New Relic listed in the last complete discovery (listed), and those that this exporter polls (selected).',
    ({ listedApplications, applications }) => [
      [{ state: 'listed' }, listedApplications],
      [{ state: 'selected' }, applications],
    ],
    ['state'],
  ],
  newrelic_exporter_series: [
    'Series of New Relic data that are published.',
    ({ name }, source) => source.seriesOf(name),
  ],
  newrelic_exporter_series_dropped_total: [
    'Series of New Relic data that were not published, by reason.',
    ({ name }, source) =>
      seriesDropReasons.map((reason) => [{ reason }, source.droppedSeriesOf(name, reason)]),
    ['reason'],
  ],
  newrelic_exporter_app_missing: [
    '1 for an entry of the configuration that matches nothing in the account; at most 1000 in each account.',
    ofKind('entry_matches_nothing'),
    ['selector'],
  ],
  newrelic_exporter_metric_missing: [
    '1 for a metric of an entry of the configuration that none of its applications has ever sent; at most 1000 in each account.',
    ofKind('metric_without_value'),
    ['selector', 'name', 'metric', 'value'],
  ],
  newrelic_exporter_query_missing: [
    '1 for a query of the configuration that has never had a value since its start: no row, or none with a number; at most 1000 in each account.',
    ofKind('query_without_value'),
    ['query'],
  ],
};

/**
 * Creates the metrics that mirror the state of the accounts, and gives what renews them. Series of
 * accounts that are gone vanish.
 */
export function createStatusMetrics(registry: Registry, source: StatusReader): () => void {
  const metrics = Object.entries(families).map(([name, [help, samplesOf, labelNames = []]]) => {
    const config = { name, help, labelNames: ['account', ...labelNames], registers: [registry] };
    return { samplesOf, metric: name.endsWith('_total') ? new Counter(config) : new Gauge(config) };
  });
  return () => {
    const accounts = source.status().map((status) => ({ status, problems: problemsOf(status) }));
    for (const { metric, samplesOf } of metrics) {
      metric.reset();
      for (const { status, problems } of accounts) {
        const given = samplesOf(status, source, problems);
        const samples: Samples = typeof given === 'object' ? given : [[{}, given]];
        for (const [labels, value] of samples) {
          const all = { account: status.name, ...labels };
          if (value !== undefined && metric instanceof Gauge) metric.set(all, value);
          else if (value !== undefined) metric.inc(all, value);
        }
      }
    }
  };
}
