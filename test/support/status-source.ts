import { transactionTypes } from '../../src/model/application.ts';
import {
  type CustomMetric,
  type PolledSeries,
  seriesOf,
  type Values,
} from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { problemsOf, stateOfAccount } from '../../src/model/problem.ts';
import type { AppReading, QueryReading } from '../../src/model/snapshot.ts';
import {
  type AccountDetails,
  type ApplicationState,
  type ApplicationStatus,
  applicationStates,
  type ProcessStatus,
  type QueryStatus,
  type StatusSource,
} from '../../src/model/status.ts';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { aQuery, throughputSeries } from './builders.ts';

/** 2026-11-22 03:00:00 UTC: when one opens a status page. */
export const statusNowMs: number = Date.UTC(2026, 10, 22, 3);

export function aProcessStatus(overrides: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    nowMs: statusNowMs,
    startedMs: statusNowMs - 76 * 60 * minuteMs,
    build: { version: '1.2.3', revision: 'abc1234', nodeVersion: 'v24.0.0' },
    shard: { ordinal: 0, total: 1 },
    reload: {
      configFile: '/etc/newrelic-exporter/config.yaml',
      includedFiles: [],
      brokenFiles: [],
      inForceSinceMs: statusNowMs - 5 * 60 * minuteMs,
      lastAttemptMs: statusNowMs - 5 * 60 * minuteMs,
      problem: undefined,
    },
    ...overrides,
  };
}

export function anAccountDetails(overrides: Partial<AccountDetails> = {}): AccountDetails {
  const facts = accountFacts(overrides);
  return { ...facts, state: overrides.state ?? stateOfAccount(facts.up, problemsOf(facts)) };
}

function accountFacts(overrides: Partial<AccountDetails>): Omit<AccountDetails, 'state'> {
  const isUp = { starting: undefined, down: false, degraded: true, up: true };
  return {
    name: 'production',
    hasApplications: true,
    stateSinceMs: statusNowMs - 76 * 60 * minuteMs,
    source: 'rest',
    requestsPerMinute: 800,
    sharedRequestsPerMinute: 800,
    refusals: undefined,
    isReduced: false,
    stretch: 1,
    up: isUp[overrides.state ?? 'up'],
    error: undefined,
    errorReason: undefined,
    firstCycleEnded: true,
    applications: 3,
    hosts: 12,
    polledApplications: 3,
    requestsInFlight: 2,
    requestsLastMinute: 312,
    budgetRequestsPerMinute: 800,
    demandRequestsPerMinute: 324.4,
    pollIntervalSeconds: 60,
    configuredIntervalSeconds: 60,
    staleAfterSeconds: 900,
    metricCalls: undefined,
    backoffUntilMs: undefined,
    missingSelectors: [],
    missingMetrics: [],
    listedApplications: 316,
    excludedApplications: 0,
    failing: [],
    lastDiscoveryMs: statusNowMs - 21 * secondMs,
    nextDiscoveryMs: statusNowMs + 39 * secondMs,
    key: {
      location: 'file /etc/newrelic-exporter/api-key',
      problem: undefined,
      sinceMs: statusNowMs - 76 * 60 * minuteMs,
      readMs: statusNowMs - 76 * 60 * minuteMs,
    },
    ...overrides,
  };
}

export function aThroughput(web: number | undefined, other?: number): Values {
  return [web, other];
}

export function aReading(overrides: Partial<AppReading> = {}): AppReading {
  return {
    windowEndMs: statusNowMs - 3 * minuteMs - 14 * secondMs,
    series: throughputSeries,
    application: aThroughput(1204, 85.5),
    hosts: new Map([
      ['11', aThroughput(802, 40)],
      ['12', aThroughput(402, 45.5)],
    ]),
    ...overrides,
  };
}

const aCustomMetric: CustomMetric = {
  metric: 'Custom/Queue/Depth',
  value: 'average_value',
  as: 'queue_depth',
  scale: 1,
  help: undefined,
  labels: { queue: 'mail' },
  scope: 'both',
};

/** All presets, and some metrics beside them: of hosts alone, and with a scale. */
const fullSeries: readonly PolledSeries[] = seriesOf(
  [
    ...presetNames,
    aCustomMetric,
    { ...aCustomMetric, as: 'only_hosts', labels: {}, scope: 'hosts' },
    { ...aCustomMetric, value: 'max_response_time', as: 'longest_ms', labels: {}, scale: 1000 },
  ],
  transactionTypes,
);

/** Values that one can tell apart, by gauge: of both types of transactions, or of all. */
const valuesByGauge: Readonly<Record<string, readonly (number | undefined)[]>> = {
  newrelic_application_requests_per_minute: [1204, 85.5],
  newrelic_application_response_time_seconds: [0.123, 2.5],
  newrelic_application_errors_per_minute: [3.5, 0.5],
  newrelic_application_apdex_score: [0.94],
  newrelic_application_database_calls_per_minute: [450.5, undefined],
  newrelic_application_database_response_time_seconds: [0.0042, undefined],
  newrelic_application_external_calls_per_minute: [60],
  newrelic_application_memory_used_bytes: [524_288_000],
  newrelic_application_cpu_usage_ratio: [0.375],
  queue_depth: [12_500],
  only_hosts: [7],
  longest_ms: [1500],
};

/** Those of `fullSeries`: none of a gauge that nobody has given any. */
const fullValues: Values = fullSeries.map(({ gauge: { name }, transactionType }) =>
  valuesByGauge[name]?.at(transactionType === 'other' ? 1 : 0),
);

/** A reading with nearly everything that can be asked for. */
export function aFullReading(hostIds: readonly string[] = ['11', '12']): AppReading {
  return {
    windowEndMs: statusNowMs - 3 * minuteMs - 14 * secondMs,
    series: fullSeries,
    application: fullValues,
    hosts: new Map(hostIds.map((id) => [id, fullValues])),
  };
}

export function anApplicationStatus(overrides: Partial<ApplicationStatus> = {}): ApplicationStatus {
  return {
    account: 'production',
    id: '101',
    name: 'checkout',
    selector: 'match=^checkout',
    labels: {},
    state: 'up',
    failure: undefined,
    reading: aReading(),
    isHeld: false,
    dropMs: undefined,
    lastSuccessMs: statusNowMs - 14 * secondMs,
    lastPollMs: statusNowMs - 14 * secondMs,
    lastPollSeconds: 0.8,
    nextPollMs: statusNowMs + 46 * secondMs,
    intervalSeconds: 60,
    hostIds: ['11', '12'],
    failedHostIds: new Set(),
    hostNames: new Map([
      ['11', 'checkout-7d9f-1'],
      ['12', 'checkout-7d9f-2'],
    ]),
    ...overrides,
  };
}

/** What makes an application of this state so. */
export function inState(state: ApplicationState): Partial<ApplicationStatus> {
  const failure = {
    reason: 'server',
    message:
      "GET /v2/applications/101/metrics/data.json answered 500: the problem is on New Relic's side. Wait, and see its status page.",
    sinceMs: statusNowMs - 7 * minuteMs - 12 * secondMs,
  } as const;
  const heldReading = aReading({ windowEndMs: statusNowMs - 11 * minuteMs });
  switch (state) {
    case 'up':
      return {};
    case 'failing':
      return {
        state,
        failure,
        isHeld: true,
        reading: heldReading,
        lastSuccessMs: statusNowMs - 8 * minuteMs,
        dropMs: statusNowMs + 7 * minuteMs,
        failedHostIds: new Set(['11', '12']),
      };
    case 'dropped':
      return {
        state,
        failure: { ...failure, reason: 'timeout', sinceMs: statusNowMs - 22 * minuteMs },
        reading: undefined,
        lastSuccessMs: statusNowMs - 23 * minuteMs,
        dropMs: statusNowMs - 7 * minuteMs,
        failedHostIds: new Set(['11', '12']),
      };
    case 'gone':
      return {
        state,
        failure: { ...failure, reason: 'not_found' },
        reading: undefined,
      };
    case 'waiting':
      return {
        state,
        reading: undefined,
        lastPollMs: undefined,
        lastPollSeconds: undefined,
        lastSuccessMs: undefined,
      };
    case 'silent':
      return {
        state,
        reading: undefined,
        lastPollMs: undefined,
        lastSuccessMs: undefined,
        hostIds: [],
      };
  }
}

/** One application of each state. */
export function oneOfEachState(): readonly ApplicationStatus[] {
  return applicationStates.map((state, index) =>
    anApplicationStatus({ ...inState(state), id: String(101 + index), name: `app-${state}` }),
  );
}

const services = ['checkout', 'payments', 'search', 'catalog', 'identity', 'shipping', 'mail'];

/** Many applications, one in fifty failing, and others in every state. */
export function manyApplications(count: number): readonly ApplicationStatus[] {
  return Array.from({ length: count }, (_, index) => {
    const id = String(30_000_000 + index * 37);
    const state = applicationStates[index % 50] ?? 'up';
    const service = services[index % services.length] ?? '';
    const hosts = 1 + (index % 6);
    const hostIds = Array.from({ length: hosts }, (_host, host) => String(1000 * index + host));
    const rpm = 30 + ((index * 7919) % 1200);
    const hasFailed = state === 'failing' || state === 'dropped';
    return anApplicationStatus({
      id,
      name: `${service}-${['eu', 'us', 'ap'][index % 3]}-${String(index).padStart(4, '0')}`,
      labels: { team: service },
      nextPollMs: statusNowMs + (index % 60) * secondMs,
      lastPollMs: statusNowMs - (60 - (index % 60)) * secondMs,
      reading: aReading({
        application: aThroughput(rpm, index % 3 === 0 ? rpm / 7 : undefined),
        hosts: new Map(hostIds.map((host) => [host, aThroughput(rpm / hosts)])),
      }),
      ...inState(state),
      hostIds,
      failedHostIds: new Set(hasFailed ? hostIds : []),
      hostNames: new Map(hostIds.map((host) => [host, `${service}-${host}.internal`])),
    });
  });
}

export interface StatusParts {
  readonly process: ProcessStatus;
  readonly accounts: readonly AccountDetails[];
  readonly applications: readonly ApplicationStatus[];
  readonly effectiveConfig: string;
}

const config = `accounts:
  - name: production
    region: us
    api_key_file: /etc/newrelic-exporter/api-key
    requests_per_minute: 800
apps:
  - match: "^checkout"
`;

export function failingOf(
  applications: readonly ApplicationStatus[],
): readonly ApplicationStatus[] {
  return applications.filter(({ state }) => state === 'failing' || state === 'dropped');
}

/** An account with these applications, judged as the daemon does. */
function anAccountOf(
  applications: readonly ApplicationStatus[],
  overrides: Partial<AccountDetails> = {},
): AccountDetails {
  return anAccountDetails({
    applications: applications.length,
    polledApplications: applications.length,
    failing: failingOf(applications),
    hosts: applications.reduce((sum, { hostIds }) => sum + hostIds.length, 0),
    stateSinceMs: statusNowMs - 22 * minuteMs,
    ...overrides,
  });
}

/** A source whose parts are given; without any, everything works. */
export function aStatusSource(parts: Partial<StatusParts> = {}): StatusSource {
  const applications = parts.applications ?? [anApplicationStatus()];
  const accounts = (parts.accounts ?? [anAccountOf(applications)]).map((account) => ({
    ...account,
    failing: failingOf(applications.filter((one) => one.account === account.name)),
  }));
  return {
    process: () => parts.process ?? aProcessStatus(),
    accounts: () => accounts,
    applications: () => applications,
    effectiveConfig: () => parts.effectiveConfig ?? config,
  };
}

/** Some of what a query may bring. */
export const aQueryReading: QueryReading = {
  windowEndMs: statusNowMs - 180_000,
  series: [{ gauge: 0, labels: [], value: 1 }],
  rows: 3,
  leftOut: 2,
  unusable: new Map([
    ['absent', 4],
    ['not_a_number', 1],
  ]),
  notices: [],
};

export function aQueryStatus(
  name: string,
  state: ApplicationState = 'up',
  parts: Partial<QueryStatus> = {},
): QueryStatus {
  const polled = anApplicationStatus({ ...inState(state), name });
  const query = { ...aQuery, name };
  return { ...polled, query, reading: aQueryReading, missing: undefined, ...parts };
}
