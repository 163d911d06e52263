import { type Application, transactionTypes } from '../../src/model/application.ts';
import type {
  AccountConfig,
  AppEntry,
  PollConfig,
  Query,
  QueryGauge,
} from '../../src/model/config.ts';
import { type CustomMetric, type PolledSeries, seriesOf } from '../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import type { ApplicationQuestion } from '../../src/model/source.ts';

export function anAccount(overrides: Partial<AccountConfig> = {}): AccountConfig {
  return {
    name: 'production',
    baseUrl: 'https://api.newrelic.com',
    source: { kind: 'rest', accountId: undefined },
    apiKey: { kind: 'env', name: 'NEW_RELIC_API_KEY' },
    apiKeyHeader: 'Api-Key',
    requestsPerMinute: 800,
    concurrency: 8,
    timeoutMs: 30_000,
    proxyUrl: undefined,
    caFile: undefined,
    ...overrides,
  };
}

const defaultMetrics: PollConfig['metrics'] = ['throughput'];

function aPollConfig(overrides: Partial<PollConfig> = {}): PollConfig {
  return {
    intervalMs: 60_000,
    discoveryIntervalMs: 60_000,
    window: { kind: 'range', lengthMs: 300_000 },
    delayMs: 180_000,
    staleAfterMs: 900_000,
    hostNames: false,
    raw: false,
    metrics: defaultMetrics,
    ...overrides,
  };
}

/** What an entry that asks for nothing else has: requests per minute, first of web, then of others. */
export const throughputSeries: readonly PolledSeries[] = seriesOf(['throughput'], transactionTypes);

/** A metric of a user's own, as an entry asks for it. */
export function aMetric(metric: string, overrides: Partial<CustomMetric> = {}): CustomMetric {
  const plain = { scale: 1, help: undefined, labels: {}, scope: 'both' } as const;
  return { metric, value: 'average_value', as: 'x', ...plain, ...overrides };
}

export function anEntry(
  overrides: Partial<Omit<AppEntry, 'poll'>> & { poll?: Partial<PollConfig> } = {},
): AppEntry {
  const { poll, ...rest } = overrides;
  const { metrics, ...others } = aPollConfig(poll);
  const transactions = rest.transactions ?? ['web', 'other'];
  return {
    account: 'production',
    selector: { kind: 'match', pattern: /^/u },
    labels: {},
    hosts: true,
    exclude: false,
    application: true,
    transactions,
    series:
      metrics === defaultMetrics && rest.transactions === undefined
        ? throughputSeries
        : seriesOf(metrics, transactions),
    ...rest,
    poll: { ...others, metrics },
  };
}

export function anApplication(overrides: Partial<Application> = {}): Application {
  return {
    id: '1',
    name: 'shop',
    language: 'nodejs',
    healthStatus: 'green',
    reporting: true,
    lastReportedAtMs: undefined,
    summary: undefined,
    hostIds: [],
    instances: 0,
    ...overrides,
  };
}

export function aSelected(
  application: Partial<Application> = {},
  entry: Parameters<typeof anEntry>[0] = {},
): SelectedApplication {
  return { application: anApplication(application), entry: anEntry(entry) };
}

/** What is asked about an application of which all is known. */
export function aQuestion(
  selected: SelectedApplication,
  overrides: Partial<ApplicationQuestion> = {},
): ApplicationQuestion {
  return {
    kind: 'application',
    selected,
    ...overrides,
  };
}

/** A gauge of a number. */
export function aGauge(name: string, overrides: Partial<QueryGauge> = {}): QueryGauge {
  return {
    name,
    member: name,
    unit: name,
    gives: 'number',
    percentages: [],
    growsWithWindow: false,
    lone: undefined,
    ...overrides,
  };
}

/** Calls of transactions by application. */
export const aQuery: Query = {
  account: 'production',
  name: 'calls',
  written: 'SELECT count(*) AS calls FROM Transaction FACET appName',
  nrql: 'SELECT count(*) AS calls FROM Transaction FACET appName',
  added: undefined,
  gauges: [aGauge('calls', { unit: 'count(*)', growsWithWindow: true, lone: 'count' })],
  help: 'Calls.',
  facets: [{ name: 'appName', label: 'app_name', isAttribute: true, isCases: false }],
  mostRows: 10,
  eventTypes: ['Transaction'],
  maxSeries: 1000,
  labels: {},
  poll: {
    intervalMs: 60_000,
    window: { kind: 'range', lengthMs: 300_000 },
    delayMs: 180_000,
    staleAfterMs: 900_000,
  },
};
