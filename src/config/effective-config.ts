import { stringify } from 'yaml';
import type {
  AccountConfig,
  AppEntry,
  Config,
  PollConfig,
  PollTiming,
  Query,
  SecretLocation,
} from '../model/config.ts';
import { redacted } from '../model/key-text.ts';
import { own } from '../model/own.ts';
import type { MetricChoice } from '../model/polled-series.ts';
import { polledBy } from '../model/selector.ts';
import { printable } from '../model/shown-text.ts';
import { formatDuration } from './duration.ts';
import type { FileMetric } from './metric-schema.ts';
import { readNrql } from './nrql-text.ts';
import type { FileAccount, FileApp, FilePoll, FileQuery } from './schema.ts';

/** How configurations are written: a word such as `on` in quotes, which YAML 1.1 takes for a boolean. */
const yamlStyle = {
  aliasDuplicateObjects: false,
  compat: 'yaml-1.1',
  lineWidth: 0,
} as const;

/**
 * A map in the form of the configuration file: its keys in the order in which they are documented. What is
 * `undefined` is not written.
 */
type FileMap = Readonly<Record<string, unknown>>;

/** `poll` has the settings that most entries have; those of `apps` have their own where they differ. */
function effectiveConfig({ accounts, apps, queries = [] }: Config): FileMap {
  const usual = usualPollOf(apps);
  const poll = usual === undefined ? {} : pollMap(usual);
  const isAccountNamed = accounts.length > 1;
  const labelsByAccount = new Map(accounts.map(({ name, labels = {} }) => [name, labels]));
  return {
    accounts: accounts.map(accountMap),
    poll,
    apps: apps.map((entry) => ({
      ...entryMap(entry, isAccountNamed, labelsByAccount.get(entry.account) ?? {}),
      ...(entry.exclude || entry.poll === usual ? {} : differing(pollMap(entry.poll), poll)),
    })),
    ...(queries.length > 0 && { queries: queries.map((one) => shownQuery(one, isAccountNamed)) }),
  };
}

/**
 * The configuration with every default applied, as a file that means the same. Logins of proxies are
 * redacted; keys are not part of a configuration.
 */
export function effectiveConfigText(config: Config): string {
  const { includedFiles = [] } = config;
  const files = includedFiles.map((name) => `#   ${printable(name)}\n`).join('');
  const head = files === '' ? '' : `# With the entries of these files:\n${files}`;
  return head + stringify(effectiveConfig(config), yamlStyle);
}

/** A map with a value, or `undefined`, for each key of the file: none can be forgotten. */
type All<Key extends string> = Readonly<Record<Key, unknown>>;

function accountMap(account: AccountConfig): All<keyof FileAccount> {
  const { apiKey, baseUrl, region, source, proxyUrl, proxyUrlFrom, caFile } = account;
  return {
    name: account.name,
    source: source.kind,
    account_id: source.accountId,
    base_url: region === undefined ? baseUrl : undefined,
    region,
    api_key_file: shownPath(apiKey),
    api_key_env: variableOf(apiKey),
    api_key_header: account.apiKeyHeader,
    requests_per_minute: account.requestsPerMinute,
    concurrency: account.concurrency,
    timeout: formatDuration(account.timeoutMs),
    proxy_url: proxyUrl?.replace(/\/\/.*@/u, `//${redacted}@`),
    proxy_url_file: proxyUrlFrom && shownPath(proxyUrlFrom),
    proxy_url_env: proxyUrlFrom && variableOf(proxyUrlFrom),
    ca_file: caFile,
    labels: account.labels,
  };
}

function shownPath(location: SecretLocation): string | undefined {
  return location.kind === 'file' ? location.path : undefined;
}

function variableOf(location: SecretLocation): string | undefined {
  return location.kind === 'env' ? location.name : undefined;
}

function pollMap(poll: PollConfig): All<keyof FilePoll> {
  const { interval, ...others } = timingMap(poll);
  return {
    interval,
    discovery_interval: formatDuration(poll.discoveryIntervalMs),
    ...others,
    host_names: poll.hostNames,
    raw: poll.raw,
    metrics: poll.metrics.map(metricValue),
    tags: poll.tags,
  };
}

type Timing = 'interval' | 'window' | 'delay' | 'stale_after';

function timingMap({ intervalMs, window, delayMs, staleAfterMs }: PollTiming): All<Timing> {
  return {
    interval: formatDuration(intervalMs),
    window: window.kind === 'range' ? formatDuration(window.lengthMs) : 'default',
    delay: formatDuration(delayMs),
    stale_after: formatDuration(staleAfterMs),
  };
}

/** A query as it is written. */
function shownQuery(
  query: Query,
  isAccountNamed: boolean,
): All<Exclude<keyof FileQuery, 'meaning' | keyof FilePoll> | 'as' | 'nrql' | 'labels' | Timing> {
  const { account, written, gauges, facets, maxSeries, help, labels, poll } = query;
  const isOne = readNrql(written).clauses.get('SELECT')?.length === 1;
  // No map may have this key; its label is the one that it has without.
  const labelled = facets.filter(({ name }) => name !== '__proto__');
  return {
    as: isOne ? query.name : Object.fromEntries(gauges.map(({ member, name }) => [member, name])),
    account: isAccountNamed ? account : undefined,
    nrql: written,
    labels: Object.fromEntries(labelled.map(({ name, label }) => [name, label])),
    constant_labels: labels,
    help,
    max_series: maxSeries,
    ...timingMap(poll),
  };
}

function metricValue(choice: MetricChoice): string | All<keyof Exclude<FileMetric, string>> {
  if (typeof choice === 'string') return choice;
  const { metric, value, as, scale, help, labels, scope } = choice;
  return { metric, value, as, scale, help, labels, for: scope };
}

function entryMap(
  { selector, exclude, ...entry }: AppEntry,
  isAccountNamed: boolean,
  ofAccount: FileMap,
): All<Exclude<keyof FileApp, keyof FilePoll>> {
  return {
    id: selector.kind === 'id' ? BigInt(selector.id) : undefined,
    name: selector.kind === 'name' ? selector.name : undefined,
    match: selector.kind === 'match' ? selector.pattern.source : undefined,
    account: isAccountNamed ? entry.account : undefined,
    exclude: exclude || undefined,
    labels: exclude ? undefined : differing(entry.labels, ofAccount),
    hosts: exclude ? undefined : hostsValue(entry.hosts),
    application: exclude ? undefined : entry.application,
    transactions: exclude ? undefined : entry.transactions,
  };
}

function hostsValue(hosts: AppEntry['hosts']): unknown {
  if (typeof hosts === 'boolean') return hosts;
  if (hosts.kind === 'self') return 'self';
  return { match: hosts.pattern?.source, exclude: hosts.exclude?.source };
}

/** The settings that most entries have; the same object serves many entries. */
function usualPollOf(apps: Config['apps']): PollConfig | undefined {
  const counts = new Map<PollConfig, number>();
  for (const { poll } of polledBy(apps)) counts.set(poll, 1 + (counts.get(poll) ?? 0));
  const [usual] = [...counts].toSorted(([, one], [, other]) => other - one);
  return usual?.[0];
}

function differing(written: FileMap, usual: FileMap): FileMap {
  return Object.fromEntries(
    Object.entries(written).filter(
      ([key, value]) => JSON.stringify(own(usual, key)) !== JSON.stringify(value),
    ),
  );
}
