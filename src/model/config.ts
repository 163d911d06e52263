import type { TransactionType } from './application.ts';
import type { MetricChoice, PolledSeries } from './polled-series.ts';
import type { Region } from './region.ts';
import type { Shard } from './shard.ts';
import type { WindowSetting } from './window.ts';

/** Where a secret comes from, such as an API key; never the secret itself. */
export type SecretLocation =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'env'; readonly name: string };

export type ApiKeyHeader = 'Api-Key' | 'X-Api-Key';

/** Which API of the vendor an account is polled with. */
export type AccountSource =
  /** The REST API v2. The account id serves only comparisons with NerdGraph. */
  | { readonly kind: 'rest'; readonly accountId: number | undefined }
  /** NerdGraph, which must be told the account. */
  | { readonly kind: 'nerdgraph'; readonly accountId: number };

/** One New Relic account: one key, one budget, one failure domain. */
export interface AccountConfig {
  readonly name: string;
  /** Scheme, host and port, perhaps a path prefix; without a trailing slash. Of the region, if there is one. */
  readonly baseUrl: string;
  readonly region?: Region | undefined;
  readonly source: AccountSource;
  readonly apiKey: SecretLocation;
  readonly apiKeyHeader: ApiKeyHeader;
  /** Calls this process may send in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** Calls in flight at most. */
  readonly concurrency: number;
  /** One call, from its start to the last byte. */
  readonly timeoutMs: number;
  readonly proxyUrl: string | undefined;
  /** Where the URL of the proxy comes from, if `proxyUrl` is not set. */
  readonly proxyUrlFrom?: SecretLocation | undefined;
  /** An extra CA bundle (PEM), as an absolute path. */
  readonly caFile: string | undefined;
  /** Extra labels on all its series. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Which part of the applications this process polls. Default: all of them. */
  readonly shard?: Shard | undefined;
  /** Calls that all shards together may send in any 60 seconds. Default: `requestsPerMinute`. */
  readonly sharedRequestsPerMinute?: number | undefined;
}

export interface PollConfig {
  readonly intervalMs: number;
  readonly discoveryIntervalMs: number;
  readonly window: WindowSetting;
  readonly delayMs: number;
  readonly staleAfterMs: number;
  readonly hostNames: boolean;
  readonly raw: boolean;
  /** What is read of each application and of its hosts. */
  readonly metrics: readonly MetricChoice[];
  /** The tags of applications that become labels: the label by tag. Default: none. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** When and over which range something is asked for. */
export type PollTiming = Pick<PollConfig, 'intervalMs' | 'window' | 'delayMs' | 'staleAfterMs'>;

/** A gauge of a query, and what the function behind it gives, by what NRQL says of that function. */
export interface QueryGauge {
  readonly name: string;
  /** The member of a row that has its value. */
  readonly member: string;
  /** What that counts or measures. */
  readonly unit: string;
  readonly gives: 'number' | 'percentiles' | 'apdex';
  /** Of percentiles: which, from 0 to 100, in the order of the query. */
  readonly percentages: readonly number[];
  /** Whether a longer window gives more, as it does of a count or a sum. */
  readonly growsWithWindow: boolean;
  /** Which of these it is, if it is one of them and nothing around it: then all rows make up a total. */
  readonly lone: 'count' | 'sum' | 'uniqueCount' | undefined;
}

export interface QueryFacet {
  /** As New Relic names it: the attribute, or what stands behind AS. */
  readonly name: string;
  readonly label: string;
  /** Whether it is an attribute without an alias: of anything else it is not known what New Relic calls it. */
  readonly isAttribute: boolean;
  /** Whether it is CASES: one thing may be in several. */
  readonly isCases: boolean;
}

/** One entry of `queries` in one account: what it asks, when, and the gauges that its rows become. */
export interface Query {
  readonly account: string;
  /** That of its first gauge; unique in the account. */
  readonly name: string;
  /** As its user wrote it. */
  readonly written: string;
  /**
   * The same on one line, with blanks in place of comments, and with a name for each function; without a
   * time range.
   */
  readonly nrql: string;
  /** The name that `nrql` has beyond what is written: where it begins, and its length. */
  readonly added: { readonly at: number; readonly length: number } | undefined;
  readonly gauges: readonly QueryGauge[];
  /** In the order of the query. */
  readonly facets: readonly QueryFacet[];
  /** Rows that New Relic gives at most: those of LIMIT, 10 without it, and 1 without FACET. */
  readonly mostRows: number;
  /** What it is FROM, such as `Transaction`; empty if that cannot be told. */
  readonly eventTypes: readonly string[];
  readonly maxSeries: number;
  /** Help text of its gauges; `undefined` if the configuration has none. */
  readonly help: string | undefined;
  /** Constant labels of its gauges. */
  readonly labels: Readonly<Record<string, string>>;
  /** Those of its account, on all its series, as far as it has no others of these names. Default: none. */
  readonly accountLabels?: Readonly<Record<string, string>> | undefined;
  readonly poll: PollTiming;
}

/** A regular expression that searches names in time linear in their length. */
export interface NamePattern {
  /** As it is written. */
  readonly source: string;
  /** Whether the pattern matches anywhere in the name. */
  test(name: string): boolean;
}

export type Selector =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'match'; readonly pattern: NamePattern };

/** Chooses hosts of an application by their names. */
export type HostSelector =
  /** The host that this process runs on, by any of the names that it may have in New Relic. */
  | { readonly kind: 'self'; readonly names: readonly string[] }
  | {
      readonly kind: 'match';
      /** Default: all. */
      readonly pattern?: NamePattern | undefined;
      /** Those that are left out of them. Default: none. */
      readonly exclude?: NamePattern | undefined;
    };

/** One entry of `apps`, with every default applied. */
export interface AppEntry {
  readonly account: string;
  readonly selector: Selector;
  /** Whether what it selects is left out: it is not polled, and nothing else of the entry counts. */
  readonly exclude: boolean;
  /** With those of its account. */
  readonly labels: Readonly<Record<string, string>>;
  /** Which hosts are polled: all, none, or some. */
  readonly hosts: boolean | HostSelector;
  /** Whether the application itself is polled and shown, or only its hosts. */
  readonly application: boolean;
  readonly transactions: readonly TransactionType[];
  /** What the metrics of `poll` and the transaction types amount to. */
  readonly series: readonly PolledSeries[];
  readonly poll: PollConfig;
}

export interface Config {
  /** The names of the files that it was read from beside its own. Default: none. */
  readonly includedFiles?: readonly string[] | undefined;
  readonly accounts: readonly AccountConfig[];
  readonly apps: readonly AppEntry[];
  /** Default: none. */
  readonly queries?: readonly Query[] | undefined;
}

/** An account of the configuration, with its entries of `apps` and its queries: at least one. */
export interface AccountInUse {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
  /** Default: none. */
  readonly queries?: readonly Query[] | undefined;
}

/**
 * By what the vendor counts the calls that are sent to one address with one key: all calls to the REST
 * API together, and the NRQL queries of NerdGraph for each account.
 */
export function quotaOf({ source }: Pick<AccountConfig, 'source'>): string {
  return source.kind === 'rest' ? 'rest' : `nerdgraph ${source.accountId}`;
}

/** Accounts with the same id have the same key, and the vendor counts their calls together. */
export function budgetIdOf(account: AccountConfig): string {
  const { apiKey, baseUrl } = account;
  const location = apiKey.kind === 'file' ? `file ${apiKey.path}` : `env ${apiKey.name}`;
  return JSON.stringify([location, baseUrl, quotaOf(account)]);
}
