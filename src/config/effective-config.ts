import { stringify } from 'yaml';
import type {
  AccountConfig,
  AppEntry,
  Config,
  PollConfig,
  Query,
  SecretLocation,
} from '../model/config.ts';
import { redacted } from '../model/key-text.ts';
import { own } from '../model/own.ts';
import type { MetricChoice } from '../model/polled-series.ts';
import { polledBy } from '../model/selector.ts';
import { printable } from '../model/shown-text.ts';
import type { WindowSetting } from '../model/window.ts';
import { formatDuration } from './duration.ts';
import { readNrql } from './nrql-text.ts';
import { snakeCase } from './schema-fields.ts';

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
    ...(queries.length > 0 && { queries: queries.map((one) => queryMap(one, isAccountNamed)) }),
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

function accountMap(account: AccountConfig): FileMap {
  const { apiKey, baseUrl, region, source, proxyUrl, proxyUrlFrom, caFile } = account;
  return {
    name: account.name,
    source: source.kind,
    account_id: source.accountId,
    ...(region === undefined ? { base_url: baseUrl } : { region }),
    ...locationMap('api_key', apiKey),
    api_key_header: account.apiKeyHeader,
    requests_per_minute: account.requestsPerMinute,
    concurrency: account.concurrency,
    timeout: formatDuration(account.timeoutMs),
    proxy_url: proxyUrl?.replace(/\/\/.*@/u, `//${redacted}@`),
    ...(proxyUrlFrom && locationMap('proxy_url', proxyUrlFrom)),
    ca_file: caFile,
    labels: account.labels,
  };
}

function locationMap(key: 'api_key' | 'proxy_url', location: SecretLocation): FileMap {
  return { [`${key}_${location.kind}`]: location.kind === 'file' ? location.path : location.name };
}

function pollMap({ metrics, tags, ...settings }: PollConfig): FileMap {
  return { ...settingsMap(settings), metrics: metrics.map(metricValue), tags };
}

/** Settings have the same names in the model: `delayMs` is the `delay` of the file, and `hostNames` its `host_names`. */
function settingsMap(settings: Readonly<Record<string, Setting>>): FileMap {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      snakeCase(key.replace(/Ms$/u, '')),
      settingValue(value),
    ]),
  );
}

type Setting = number | boolean | WindowSetting;

function settingValue(value: Setting): string | boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return formatDuration(value);
  return value.kind === 'range' ? formatDuration(value.lengthMs) : 'default';
}

/** A query as it is written. */
function queryMap(query: Query, isAccountNamed: boolean): FileMap {
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
    ...settingsMap(poll),
  };
}

function metricValue(choice: MetricChoice): unknown {
  if (typeof choice === 'string') return choice;
  const { metric, value, as, scale, help, labels, scope } = choice;
  return { metric, value, as, scale, help, labels, for: scope };
}

function entryMap(entry: AppEntry, isAccountNamed: boolean, ofAccount: FileMap): FileMap {
  const { account, exclude, application, transactions } = entry;
  const chosen = { ...selectorMap(entry), account: isAccountNamed ? account : undefined };
  if (exclude) return { ...chosen, exclude };
  const labels = differing(entry.labels, ofAccount);
  return { ...chosen, labels, hosts: hostsValue(entry), application, transactions };
}

function selectorMap({ selector }: AppEntry): FileMap {
  if (selector.kind === 'id') return { id: BigInt(selector.id) };
  if (selector.kind === 'name') return { name: selector.name };
  return { match: selector.pattern.source };
}

function hostsValue({ hosts }: AppEntry): unknown {
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
