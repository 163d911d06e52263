import { Counter, Gauge, type Registry } from 'prom-client';
import type { AccountDetails } from '../model/status.ts';
import { type SeriesDropReason, seriesDropReasons } from '../model/telemetry.ts';

/** Where the state of the accounts comes from. */
export interface AccountSource {
  status(): readonly AccountDetails[];
  seriesOf(account: string): number;
  /** Series of the account left out since the start. */
  droppedSeriesOf(account: string, reason: SeriesDropReason): number;
}

/**
 * What is shown of a list of mistakes, for each account: one wrong setting may be wrong in ten thousand
 * entries, and prom-client would block everything else for 40 ms in each scrape.
 */
const mostMissing = 1000;
/** A preset may have several metrics, and a configuration may name any. */
const longestMetric = 256;

interface MirroredGauge {
  readonly name: string;
  readonly help: string;
  /** `undefined` while it is not known. */
  readonly value: (status: AccountDetails) => number | undefined;
}

const mirroredGauges: readonly MirroredGauge[] = [
  {
    name: 'newrelic_exporter_api_requests_in_flight',
    help: 'Calls to the New Relic API that are under way.',
    value: (status) => status.requestsInFlight,
  },
  {
    name: 'newrelic_exporter_api_backoff_until_timestamp_seconds',
    help: 'Unix time until which New Relic asked for no calls of the account; 0 when there is no such pause.',
    value: (status) => (status.backoffUntilMs ?? 0) / 1000,
  },
  {
    name: 'newrelic_exporter_api_budget_requests_per_minute',
    help: 'Calls that may be sent in any 60 seconds at present: requests_per_minute of the account, the part of it that is the share of this process, or less for some minutes after a 429.',
    value: (status) => status.budgetRequestsPerMinute,
  },
  {
    name: 'newrelic_exporter_api_demand_requests_per_minute',
    help: 'Calls per minute that the configured intervals ask for, once the account was discovered; above the budget, the intervals stretch.',
    value: (status) => status.demandRequestsPerMinute,
  },
  {
    name: 'newrelic_exporter_poll_interval_seconds',
    help: 'Longest interval at which an application of the account is polled, stretched to fit the budget.',
    value: (status) => status.pollIntervalSeconds,
  },
  {
    name: 'newrelic_exporter_stale_after_seconds',
    help: "Shortest stale_after of the account's applications: how long values are held while polls fail.",
    value: (status) => status.staleAfterSeconds,
  },
  {
    name: 'newrelic_exporter_discovery_last_success_timestamp_seconds',
    help: "Unix time at which the last discovery of the account's applications that succeeded ended; 0 if none ever has.",
    value: (status) => (status.lastDiscoveryMs ?? 0) / 1000,
  },
  {
    name: 'newrelic_exporter_api_key_readable',
    help: '1 if the API key could be read when it was last tried, 0 if not; the key that was read before stays in use.',
    value: (status) => Number(status.key.problem === undefined),
  },
  {
    name: 'newrelic_exporter_api_key_last_change_timestamp_seconds',
    help: 'Unix time at which the API key in use was first read: at the start, or after it was last changed.',
    value: (status) => status.key.readMs / 1000,
  },
];

/**
 * Creates the metrics that mirror the state of the accounts, and gives what renews them. Series of
 * accounts that are gone vanish.
 */
export function createStatusMetrics(registry: Registry, source: AccountSource): () => void {
  const registers = [registry];
  const mirrored = mirroredGauges.map(({ name, help, value }) => ({
    gauge: new Gauge({ name, help, labelNames: ['account'], registers }),
    value,
  }));
  const applications = new Gauge({
    name: 'newrelic_exporter_applications',
    help: 'Applications that New Relic listed in the last complete discovery (listed), and those that this exporter polls (selected).',
    labelNames: ['account', 'state'],
    registers,
  });
  const series = new Gauge({
    name: 'newrelic_exporter_series',
    help: 'Series of New Relic data that are published.',
    labelNames: ['account'],
    registers,
  });
  const seriesDropped = new Counter({
    name: 'newrelic_exporter_series_dropped_total',
    help: 'Series of New Relic data that were not published, by reason.',
    labelNames: ['account', 'reason'],
    registers,
  });
  const { missingEntries, missingMetrics, missingQueries } = createMistakes(registers);
  const mistakes = [missingEntries, missingMetrics, missingQueries];
  const gauges = mirrored.map(({ gauge }) => gauge);
  const all = [...gauges, applications, series, seriesDropped, ...mistakes];

  return () => {
    for (const metric of all) metric.reset();
    for (const status of source.status()) {
      const account = status.name;
      for (const { gauge, value } of mirrored) {
        const known = value(status);
        if (known !== undefined) gauge.set({ account }, known);
      }
      const { listedApplications: listed } = status;
      if (listed !== undefined) applications.set({ account, state: 'listed' }, listed);
      applications.set({ account, state: 'selected' }, status.applications);
      series.set({ account }, source.seriesOf(account));
      for (const reason of seriesDropReasons) {
        seriesDropped.inc({ account, reason }, source.droppedSeriesOf(account, reason));
      }
      for (const selector of status.missingSelectors.slice(0, mostMissing)) {
        missingEntries.set({ account, selector }, 1);
      }
      for (const missing of status.missingMetrics.slice(0, mostMissing)) {
        const metric = missing.metric.slice(0, longestMetric);
        missingMetrics.set({ account, ...missing, metric }, 1);
      }
      for (const { name: query, missing } of status.queries ?? []) {
        if (missing !== undefined) missingQueries.set({ account, query }, 1);
      }
    }
  };
}

/** Mistakes in the configuration: gauges that are 1 for each. */
function createMistakes(registers: Registry[]) {
  const missingEntries = new Gauge({
    name: 'newrelic_exporter_app_missing',
    help: '1 for an entry of the configuration that matches nothing in the account; at most 1000 in each account.',
    labelNames: ['account', 'selector'],
    registers,
  });
  const missingMetrics = new Gauge({
    name: 'newrelic_exporter_metric_missing',
    help: '1 for a metric of an entry of the configuration that none of its applications has ever sent; at most 1000 in each account.',
    labelNames: ['account', 'selector', 'name', 'metric', 'value'],
    registers,
  });
  const missingQueries = new Gauge({
    name: 'newrelic_exporter_query_missing',
    help: '1 for a query of the configuration that has never had a value since its start: no row, or none with a number.',
    labelNames: ['account', 'query'],
    registers,
  });
  return { missingEntries, missingMetrics, missingQueries };
}
