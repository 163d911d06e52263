import { presetNames } from '../../src/model/presets.ts';
import type { Shard } from '../../src/model/shard.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { oddApplications } from './odd-names.ts';

/** What the vendor does to the calls of an account from the moment when things go wrong. */
export type Trouble = 'none' | 'refuses the key' | 'fails half of the calls' | 'throttles';

export interface SituationAccount {
  /** The label `account`. */
  readonly name: string;
  readonly applications: readonly ApplicationSpec[];
  readonly trouble: Trouble;
}

export interface SituationExporter {
  readonly job: string;
  readonly instance: string;
  readonly shard: Shard | undefined;
  /** The host that a sidecar runs on. */
  readonly hostName: string;
  /** Whether it ends when things go wrong. */
  readonly isKilled: boolean;
}

type Setting = string | boolean | readonly (string | Readonly<Record<string, string>>)[];
type Settings = Readonly<Record<string, Setting>>;

/** Exporters and accounts in a state that the dashboards must show. */
export interface Situation {
  readonly name: string;
  /** The label `cluster` of all its series, by which the dashboards tell situations apart. */
  readonly cluster: string;
  readonly accounts: readonly SituationAccount[];
  readonly exporters: readonly SituationExporter[];
  /** The entries of the configuration, besides those that choose every application. */
  readonly entries: readonly Settings[];
  /** Settings of the entries that choose every application. */
  readonly settings: Settings;
  /** How long the last values are held, such as `15m`. */
  readonly staleAfter: string;
  /** How long ago things went wrong. */
  readonly troubleMinutes: number;
  /** PromQL that has a result when the situation shows what it is about. */
  readonly isSeen: string;
  /** The alerts that are pending or firing, in the order of the alphabet. No others are. */
  readonly alerts: readonly string[];
}

/** Ordinary applications: the shards of two exporters have some of each account. */
function shopsOf(account: string, firstId: number): readonly ApplicationSpec[] {
  const kinds = ['both', 'web', 'web', 'other'] as const;
  return ['checkout', 'catalogue', 'search', 'worker'].map((name, index) => ({
    id: firstId + index,
    name: `${account}-${name}`,
    kind: kinds[index],
    healthStatus: 'green',
    webRpm: kinds[index] === 'other' ? 0 : 600 * (index + 1),
    otherRpm: kinds[index] === 'web' ? 0 : 60,
    hosts: [1, 2, 3].map((host) => ({
      id: (firstId + index) * 10 + host,
      name: `${account}-${name}-${host}`,
      instances: 1,
    })),
  }));
}

function anAccount(name: string, firstId: number, trouble: Trouble = 'none'): SituationAccount {
  return { name, applications: shopsOf(name, firstId), trouble };
}

const main = anAccount('main', 1001);

function europe(trouble: Trouble = 'none'): SituationAccount {
  return anAccount('europe', 2001, trouble);
}

/** The account with its first applications changed, and one host each of the same name. */
function changed(account: SituationAccount, changes: readonly ApplicationSpec[]): SituationAccount {
  const applications = account.applications.map((application, index) => ({
    ...application,
    ...changes[index],
  }));
  return { ...account, applications };
}

function shards(killed: readonly number[] = []): readonly SituationExporter[] {
  return [0, 1].map((shard) => ({
    job: 'newrelic-exporter',
    instance: `newrelic-exporter-${shard}:9126`,
    shard: { ordinal: shard, total: 2 },
    hostName: '',
    isKilled: killed.includes(shard),
  }));
}

/** The pods of an application, each with an exporter that gives the one host that the pod is. */
const sidecars: readonly SituationExporter[] = [1, 2, 3].map((pod) => ({
  job: 'checkout',
  instance: `checkout-${pod}:9126`,
  shard: undefined,
  hostName: `main-checkout-${pod}`,
  isKilled: false,
}));

type Changes = Partial<Omit<Situation, 'name' | 'cluster' | 'isSeen' | 'alerts'>> &
  Pick<Situation, 'alerts'>;

/** An expression with only the series of one situation. Every selector in it has braces. */
export function inCluster(expression: string, cluster: string): string {
  return expression.replaceAll(/\b(newrelic_\w+|up|ALERTS)\{/gu, `$1{cluster="${cluster}",`);
}

/** A situation with two exporters that share two accounts, unless it is changed. */
function situation(name: string, isSeen: string, changes: Changes): Situation {
  const cluster = name.replaceAll(/[^\da-z]+/gu, '-');
  return {
    name,
    cluster,
    accounts: [main, europe()],
    exporters: shards(),
    entries: [],
    settings: {},
    staleAfter: '15m',
    troubleMinutes: 25,
    isSeen: inCluster(isSeen, cluster),
    ...changes,
  };
}

/** New Relic has no such metric, so there is no such series. */
const misspelt = { metric: 'GC/cumulativ', value: 'total_time', as: 'gc_time_seconds' };

export const situations: readonly Situation[] = [
  // The application whose dashboard opens first asks for everything, the others for throughput alone.
  situation('healthy', 'count(up{} == 1) == 2', {
    entries: [{ name: 'europe-catalogue', account: 'europe', metrics: presetNames }],
    alerts: [],
  }),
  situation('one exporter down', 'count(up{} == 0) == 1', {
    exporters: shards([1]),
    alerts: ['NewRelicExporterDown', 'NewRelicExporterShardMissing'],
  }),
  situation('all exporters down', 'count(up{} == 0) == 2', {
    exporters: shards([0, 1]),
    alerts: ['NewRelicExporterDown'],
  }),
  situation('account refused', 'count(newrelic_application_poll_success{} == 0) == 4', {
    accounts: [main, europe('refuses the key')],
    troubleMinutes: 10,
    alerts: [
      'NewRelicExporterApiErrors',
      'NewRelicExporterAuthenticationFailing',
      'NewRelicExporterDataStale',
      'NewRelicExporterDiscoveryFailing',
      'NewRelicExporterPollsFailing',
    ],
  }),
  situation(
    'account refused for long',
    'count(newrelic_up{} == 0) == 2 unless on () newrelic_application_requests_per_minute{account="europe"}',
    {
      accounts: [main, europe('refuses the key')],
      alerts: [
        'NewRelicExporterApiErrors',
        'NewRelicExporterAuthenticationFailing',
        'NewRelicExporterDataStale',
        'NewRelicExporterDiscoveryFailing',
        'NewRelicExporterPollsFailing',
      ],
    },
  ),
  situation('half of the calls fail', 'count(newrelic_application_poll_success{} == 0) == 2', {
    accounts: [main, europe('fails half of the calls')],
    alerts: [
      'NewRelicExporterApiErrors',
      'NewRelicExporterDataStale',
      'NewRelicExporterPollsFailing',
    ],
  }),
  situation('throttled', 'newrelic_exporter_api_backoff_until_timestamp_seconds{} > time()', {
    accounts: [main, europe('throttles')],
    alerts: [
      'NewRelicExporterApiErrors',
      'NewRelicExporterDataStale',
      'NewRelicExporterDiscoveryFailing',
      'NewRelicExporterRateLimited',
    ],
  }),
  situation(
    'same names',
    'count(count by (app_id) (newrelic_application_info{app_name="checkout"})) == 3',
    {
      accounts: [
        changed(main, [
          { name: 'checkout', healthStatus: 'green' },
          { name: 'checkout', healthStatus: 'red' },
        ]),
        changed(europe(), [{ name: 'checkout', healthStatus: 'orange' }]),
      ],
      alerts: ['NewRelicApplicationUnhealthy'],
    },
  ),
  situation(
    'odd names',
    `count(newrelic_application_info{account="main"}) == ${oddApplications.length}`,
    {
      accounts: [{ name: 'main', applications: oddApplications, trouble: 'none' }, europe()],
      alerts: [],
    },
  ),
  situation(
    'only sidecars',
    'count(newrelic_application_host_requests_per_minute{host_name=~"main-checkout-.*"}) == 6',
    {
      accounts: [main],
      exporters: sidecars,
      settings: {
        hosts: 'self',
        application: false,
        metrics: ['throughput', 'response_time', 'errors', 'apdex', 'memory'],
      },
      alerts: [],
    },
  ),
  situation('unhealthy', 'newrelic_exporter_app_missing{} == 1', {
    accounts: [
      changed(main, [
        { healthStatus: 'red' },
        { healthStatus: 'orange' },
        { healthStatus: 'gray' },
        { kind: 'not_reporting', healthStatus: 'unknown' },
      ]),
      europe(),
    ],
    entries: [{ name: 'Not there', account: 'main' }],
    alerts: [
      'NewRelicApplicationNotReporting',
      'NewRelicApplicationUnhealthy',
      'NewRelicExporterApplicationMissing',
    ],
  }),
  situation('failing requests', 'newrelic_application_errors_per_minute{} > 100', {
    accounts: [changed(main, [{}, { errorRatio: 0.25 }])],
    entries: [{ name: 'main-catalogue', account: 'main', metrics: [...presetNames, misspelt] }],
    alerts: [
      'NewRelicApplicationApdexLow',
      'NewRelicApplicationErrorRatioHigh',
      'NewRelicExporterMetricMissing',
    ],
  }),
  situation('nothing scraped', 'vector(1) unless on () up{}', { exporters: [], alerts: [] }),
];
