import { resolve } from 'node:path';
import type {
  AccountConfig,
  AccountSource,
  AppEntry,
  Config,
  HostSelector,
  NamePattern,
  PollConfig,
  Query,
  SecretLocation,
  Selector,
} from '../model/config.ts';
import { own } from '../model/own.ts';
import { seriesOf } from '../model/polled-series.ts';
import { regionAddresses } from '../model/region.ts';
import { type FileCustomMetric, type FileMetric, metricChoiceOf } from './metric-schema.ts';
import {
  accountsOf,
  type FileAccount,
  type FileApp,
  type FileConfig,
  type FilePoll,
  type FileQuery,
} from './schema.ts';

/** New Relic advises at most 5 complex queries at a time. */
const concurrencies: Readonly<Record<AccountSource['kind'], number>> = { rest: 8, nerdgraph: 5 };

export function accountOf(account: FileAccount, directory: string): AccountConfig {
  const { ca_file: caFile, account_id: accountId, labels } = account;
  const isRest = account.source === 'rest' || accountId === undefined;
  const placeOf = (file?: string, name?: string): SecretLocation | undefined => {
    if (file !== undefined) return { kind: 'file', path: resolve(directory, file) };
    return name === undefined ? undefined : { kind: 'env', name };
  };
  const proxyUrlFrom = placeOf(account.proxy_url_file, account.proxy_url_env);
  return {
    name: account.name,
    baseUrl: account.base_url ?? regionAddresses[account.region ?? 'us'],
    ...(account.base_url === undefined && { region: account.region ?? 'us' }),
    source: isRest ? { kind: 'rest', accountId } : { kind: 'nerdgraph', accountId },
    apiKey: placeOf(account.api_key_file, account.api_key_env) ?? { kind: 'env', name: '' },
    apiKeyHeader: account.api_key_header,
    requestsPerMinute: account.requests_per_minute,
    concurrency: account.concurrency ?? concurrencies[account.source],
    timeoutMs: account.timeout,
    proxyUrl: account.proxy_url,
    ...(proxyUrlFrom && { proxyUrlFrom }),
    caFile: caFile === undefined ? undefined : resolve(directory, caFile),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}

type PollSettings = Omit<PollConfig, 'metrics'>;

function pollOf(app: Partial<FilePoll>, poll: FilePoll): PollSettings {
  const tags = app.tags ?? poll.tags;
  return {
    intervalMs: app.interval ?? poll.interval,
    discoveryIntervalMs: app.discovery_interval ?? poll.discovery_interval,
    window: app.window ?? poll.window,
    delayMs: app.delay ?? poll.delay,
    staleAfterMs: app.stale_after ?? poll.stale_after,
    hostNames: app.host_names ?? poll.host_names,
    raw: app.raw ?? poll.raw,
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

/** What the file does not say itself. */
export interface BuildContext {
  /** Absolute. Relative paths in the file are resolved against it. */
  readonly directory: string;
  /** Every regular expression of the file, by its text. */
  readonly patterns: ReadonlyMap<string, NamePattern>;
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
}

function selectorOf({ id, name = '', match = '' }: FileApp, { patterns }: BuildContext): Selector {
  if (id !== undefined) return { kind: 'id', id };
  const pattern = patterns.get(match);
  return pattern === undefined ? { kind: 'name', name } : { kind: 'match', pattern };
}

function builtHosts({ hosts }: FileApp, context: BuildContext): boolean | HostSelector {
  if (typeof hosts === 'boolean') return hosts;
  if (hosts === 'self') return { kind: 'self', names: context.ownHostNames };
  const { match = '', exclude = '' } = hosts;
  const { patterns } = context;
  return { kind: 'match', pattern: patterns.get(match), exclude: patterns.get(exclude) };
}

/** Calls `make` once for equal arguments: thousands of entries share what they have in common. */
function onceForEqual<Argument, Made>(
  make: (argument: Argument) => Made,
): (argument: Argument) => Made {
  const known = new Map<string, Made>();
  return (argument) => {
    const key = JSON.stringify(argument);
    const made = known.get(key) ?? make(argument);
    known.set(key, made);
    return made;
  };
}

/** What entries with the same list of metrics share. */
function sameMetrics(list: readonly FileMetric[], helps: ReadonlyMap<string, string>) {
  const metrics = list.map((metric) => metricChoiceOf(metric, helps));
  return {
    pollOf: onceForEqual((settings: PollSettings): PollConfig => ({ ...settings, metrics })),
    seriesOf: onceForEqual((of: AppEntry['transactions']) => seriesOf(metrics, of)),
  };
}

/** The help text of a gauge whose series come from several metrics, none of which has one. */
const helpOfSeveral =
  'Several metrics of New Relic over the polled window, told apart by their labels.';

/**
 * The help texts of gauges by name, as far as they do not follow from one metric alone: a gauge has one
 * text, wherever in the file it is named.
 */
function gaugeHelps(lists: readonly (readonly FileMetric[])[]): ReadonlyMap<string, string> {
  const first = new Map<string, FileCustomMetric>();
  const written = new Map<string, string>();
  const several = new Map<string, string>();
  for (const metric of lists.flat()) {
    if (typeof metric === 'string') continue;
    const { as: name, help } = metric;
    const known = first.get(name) ?? metric;
    first.set(name, known);
    if (help !== undefined) written.set(name, help);
    const isOfSame = known.metric === metric.metric && known.value === metric.value;
    if (!isOfSame) several.set(name, helpOfSeveral);
  }
  return new Map([...several, ...written]);
}

type AccountLabels = ReadonlyMap<string, AppEntry['labels']>;

/** One for each account that an entry asks. Of two labels with one name its own is on all its series. */
function builtQueries(
  { constant_labels: labels, ...query }: FileQuery,
  { accounts, poll }: FileConfig,
  labelsByAccount: AccountLabels,
): readonly Query[] {
  const { intervalMs, window, delayMs, staleAfterMs } = pollOf({ ...query, tags: {} }, poll);
  return accountsOf(query, accounts).map((account) => {
    const shared = Object.entries(labelsByAccount.get(account) ?? {});
    const others = shared.map(([name, value]) => [name, own(labels, name) ?? value]);
    return {
      ...query.meaning,
      account,
      name: query.meaning.gauges[0]?.name ?? '',
      maxSeries: query.max_series,
      help: query.help,
      labels,
      ...(others.length > 0 && { accountLabels: Object.fromEntries(others) }),
      poll: { intervalMs, window, delayMs, staleAfterMs },
    };
  });
}

/** Builds the configuration from a file that has passed every check. */
export function buildConfig(file: FileConfig, context: BuildContext): Config {
  const labelsOf = onceForEqual((labels: AppEntry['labels']) => labels);
  const transactionsOf = onceForEqual((types: AppEntry['transactions']) => types);
  const helps = gaugeHelps([file.poll.metrics, ...file.apps.map(({ metrics = [] }) => metrics)]);
  const withMetrics = onceForEqual((list: readonly FileMetric[]) => sameMetrics(list, helps));
  const usual = withMetrics(file.poll.metrics);
  const labelsByAccount = new Map(file.accounts.map(({ name, labels }) => [name, labels]));
  return {
    accounts: file.accounts.map((account) => accountOf(account, context.directory)),
    apps: file.apps.map((app) => {
      const same = app.metrics === undefined ? usual : withMetrics(app.metrics);
      const transactions = transactionsOf(app.transactions);
      const account = app.account ?? file.accounts[0]?.name ?? '';
      return {
        account,
        selector: selectorOf(app, context),
        exclude: app.exclude,
        labels: labelsOf({ ...labelsByAccount.get(account), ...app.labels }),
        hosts: builtHosts(app, context),
        application: app.application,
        transactions,
        series: same.seriesOf(transactions),
        poll: same.pollOf(pollOf(app, file.poll)),
      };
    }),
    ...(file.queries[0] && {
      queries: file.queries.flatMap((one) => builtQueries(one, file, labelsByAccount)),
    }),
  };
}
