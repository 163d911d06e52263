import { resolve } from 'node:path';
import type { Clock } from '../model/clock.ts';
import type {
  AccountConfig,
  AccountSource,
  AppEntry,
  Config,
  HostSelector,
  PatternSource,
  PlainConfig,
  PollConfig,
  Query,
  SecretLocation,
  Selector,
} from '../model/config.ts';
import { seriesOf } from '../model/polled-series.ts';
import { regionAddresses } from '../model/region.ts';
import type { FileAccount } from './account-schema.ts';
import { type FileCustomMetric, type FileMetric, metricChoiceOf } from './metric-schema.ts';
import { type CompiledPattern, type CompilePattern, loadPatternCompiler } from './name-pattern.ts';
import {
  accountsOf,
  type FileApp,
  type FileConfig,
  type FilePoll,
  type FileQuery,
} from './schema.ts';

/** New Relic advises at most 5 complex queries at a time. */
const concurrencies: Readonly<Record<AccountSource['kind'], number>> = { rest: 8, nerdgraph: 5 };

function sourceOf({ source, account_id: accountId }: FileAccount): AccountSource {
  return source === 'nerdgraph' && accountId !== undefined
    ? { kind: 'nerdgraph', accountId }
    : { kind: 'rest', accountId };
}

function accountOf(account: FileAccount, directory: string): AccountConfig {
  const { ca_file: caFile } = account;
  const placeOf = (file?: string, name?: string): SecretLocation | undefined => {
    if (file !== undefined) return { kind: 'file', path: resolve(directory, file) };
    return name === undefined ? undefined : { kind: 'env', name };
  };
  const proxyUrlFrom = placeOf(account.proxy_url_file, account.proxy_url_env);
  return {
    name: account.name,
    baseUrl: account.base_url ?? regionAddresses[account.region ?? 'us'],
    source: sourceOf(account),
    apiKey: placeOf(account.api_key_file, account.api_key_env) ?? { kind: 'env', name: '' },
    apiKeyHeader: account.api_key_header,
    requestsPerMinute: account.requests_per_minute,
    concurrency: account.concurrency ?? concurrencies[account.source],
    timeoutMs: account.timeout,
    proxyUrl: account.proxy_url,
    ...(proxyUrlFrom && { proxyUrlFrom }),
    caFile: caFile === undefined ? undefined : resolve(directory, caFile),
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

function selectorOf(app: FileApp): Selector<PatternSource> {
  if (app.id !== undefined) return { kind: 'id', id: app.id };
  if (app.match !== undefined) return { kind: 'match', pattern: { source: app.match } };
  return { kind: 'name', name: app.name ?? '' };
}

function hostsOf({ hosts }: FileApp): boolean | HostSelector<PatternSource> {
  if (typeof hosts === 'boolean') return hosts;
  // Only the process that uses the configuration knows its own names.
  if (hosts === 'self') return { kind: 'self', names: [] };
  return { kind: 'match', pattern: patternOf(hosts.match), exclude: patternOf(hosts.exclude) };
}

function patternOf(source: string | undefined): PatternSource | undefined {
  return source === undefined ? undefined : { source };
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

function isOfSame(one: FileCustomMetric, other: FileCustomMetric): boolean {
  return one.metric === other.metric && one.value === other.value;
}

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
    if (!isOfSame(known, metric)) several.set(name, helpOfSeveral);
  }
  return new Map([...several, ...written]);
}

/** One for each account that an entry asks. */
function queriesOf(query: FileQuery, { accounts, poll }: FileConfig): readonly Query[] {
  const { intervalMs, window, delayMs, staleAfterMs } = pollOf({ ...query, tags: {} }, poll);
  return accountsOf(query, accounts).map((account) => ({
    ...query.meaning,
    account,
    name: query.meaning.gauges[0]?.name ?? '',
    maxSeries: query.max_series,
    help: query.help,
    labels: query.constant_labels,
    poll: { intervalMs, window, delayMs, staleAfterMs },
  }));
}

/** Builds the configuration from a file that has passed every check. */
export function buildConfig(file: FileConfig, directory: string): PlainConfig {
  const labelsOf = onceForEqual((labels: AppEntry['labels']) => labels);
  const transactionsOf = onceForEqual((types: AppEntry['transactions']) => types);
  const helps = gaugeHelps([file.poll.metrics, ...file.apps.map(({ metrics = [] }) => metrics)]);
  const withMetrics = onceForEqual((list: readonly FileMetric[]) => sameMetrics(list, helps));
  const usual = withMetrics(file.poll.metrics);
  return {
    accounts: file.accounts.map((account) => accountOf(account, directory)),
    apps: file.apps.map((app) => {
      const same = app.metrics === undefined ? usual : withMetrics(app.metrics);
      const transactions = transactionsOf(app.transactions);
      return {
        account: app.account ?? file.accounts[0]?.name ?? '',
        selector: selectorOf(app),
        exclude: app.exclude,
        labels: labelsOf(app.labels),
        hosts: hostsOf(app),
        application: app.application,
        transactions,
        series: same.seriesOf(transactions),
        poll: same.pollOf(pollOf(app, file.poll)),
      };
    }),
    ...(file.queries[0] && { queries: file.queries.flatMap((one) => queriesOf(one, file)) }),
  };
}

/** The longest turn, besides the time for one step of the work: scrapes and probes wait for it. */
const longestTurnMs = 5;

export interface CompileConfigDependencies {
  /** Resolves after other work that waits for the thread has run. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
}

function isCompiled(entry: AppEntry<PatternSource>): entry is AppEntry {
  return entry.selector.kind !== 'match' && typeof entry.hosts === 'boolean';
}

function compiledEntry(
  { selector, hosts, ...rest }: AppEntry<PatternSource>,
  compile: CompilePattern,
  ownNames: readonly string[],
): AppEntry {
  const compiled = (pattern: PatternSource | undefined): CompiledPattern | undefined =>
    pattern && compile(pattern.source);
  let compiledHosts: AppEntry['hosts'];
  if (typeof hosts === 'boolean') compiledHosts = hosts;
  else if (hosts.kind === 'self') compiledHosts = { kind: 'self', names: ownNames };
  else {
    const { pattern, exclude } = hosts;
    compiledHosts = { kind: 'match', pattern: compiled(pattern), exclude: compiled(exclude) };
  }
  return {
    ...rest,
    selector:
      selector.kind === 'match'
        ? { kind: 'match', pattern: compile(selector.pattern.source) }
        : selector,
    hosts: compiledHosts,
  };
}

/** What lets other work have its turn, if the present one has taken a while. */
export function createBreaks({
  nextTurn,
  clock,
}: Pick<CompileConfigDependencies, 'clock' | 'nextTurn'>): () => Promise<void> {
  let turnStartMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) return;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  };
}

/**
 * Makes a checked configuration ready for use: compiles its patterns, in turns, and fills in the names
 * of `hosts: self`.
 */
export async function compileConfig(
  { apps, ...rest }: PlainConfig,
  dependencies: CompileConfigDependencies,
): Promise<Config> {
  if (apps.every(isCompiled)) return { ...rest, apps };
  // 10 kB of memory for each text add up.
  const compile = onceForEqual(await loadPatternCompiler());
  const takeBreak = createBreaks(dependencies);
  const entries: AppEntry[] = [];
  for (const entry of apps) {
    const { ownHostNames } = dependencies;
    entries.push(isCompiled(entry) ? entry : compiledEntry(entry, compile, ownHostNames));
    await takeBreak();
  }
  return { ...rest, apps: entries };
}
