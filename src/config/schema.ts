import { z } from 'zod';
import { type TransactionType, transactionTypes } from '../model/application.ts';
import type { AccountSource, ApiKeyHeader } from '../model/config.ts';
import { anyRegion, type Region, regions } from '../model/region.ts';
import { repositoryUrl } from '../model/shown-text.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { WindowSetting } from '../model/window.ts';
import { type FileMetric, gaugeName, metricKeys, metrics } from './metric-schema.ts';
import { type QueryMeaning, readQuery } from './query-meaning.ts';
import {
  accountId,
  aList,
  aMap,
  applicationId,
  duration,
  eachOnce,
  everyOwnLabel,
  type FileHosts,
  flag,
  hostChoice,
  type KeyPlaces,
  labelName,
  labels,
  mapOf,
  notEmpty,
  queryLabels,
  regularExpression,
  tags,
  text,
  url,
  wholeNumber,
  window,
} from './schema-fields.ts';
import { parseBaseUrl, parseProxyUrl } from './url.ts';

/** One entry of `accounts` as the file has it, defaults applied, durations in milliseconds. */
export interface FileAccount {
  readonly name: string;
  readonly source: AccountSource['kind'];
  /** There is one if the source is NerdGraph. */
  readonly account_id?: number;
  readonly region?: Region;
  readonly base_url?: string;
  readonly api_key_file?: string;
  readonly api_key_env?: string;
  readonly api_key_header: ApiKeyHeader;
  readonly requests_per_minute: number;
  /** Its default depends on the source. */
  readonly concurrency?: number;
  readonly timeout: number;
  readonly proxy_url?: string;
  readonly proxy_url_file?: string;
  readonly proxy_url_env?: string;
  readonly ca_file?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** NerdGraph refuses more requests in flight, all keys of a user together. */
export const nerdgraphConcurrency = 25;

export interface FilePoll {
  readonly interval: number;
  readonly discovery_interval: number;
  readonly window: WindowSetting;
  readonly delay: number;
  readonly stale_after: number;
  readonly host_names: boolean;
  readonly raw: boolean;
  readonly metrics: readonly FileMetric[];
  readonly tags: Readonly<Record<string, string>>;
}

/** One entry of `apps`. The defaults of what it leaves out are in `poll`. */
export interface FileApp extends Partial<FilePoll> {
  readonly id?: string;
  readonly name?: string;
  readonly match?: string;
  readonly account?: string;
  readonly exclude: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly hosts: FileHosts;
  readonly application: boolean;
  readonly transactions: readonly TransactionType[];
}

/** One entry of `queries`. The defaults of what it leaves out are in `poll`. */
export interface FileQuery extends Partial<FilePoll> {
  readonly meaning: QueryMeaning;
  readonly account?: string | readonly string[];
  readonly constant_labels: Readonly<Record<string, string>>;
  readonly help?: string;
  readonly max_series: number;
}

export interface FileConfig {
  readonly include: readonly string[];
  readonly accounts: readonly FileAccount[];
  readonly poll: FilePoll;
  readonly apps: readonly FileApp[];
  readonly queries: readonly FileQuery[];
}

/** The names of the accounts that a query asks; it is not said here whether there are such accounts. */
export function accountsOf(
  { account }: FileQuery,
  accounts: readonly FileAccount[],
): readonly string[] {
  if (account !== '*') return [account ?? accounts[0]?.name ?? []].flat();
  return accounts.filter(({ source }) => source === 'nerdgraph').map(({ name }) => name);
}

/** The name of an environment variable that contains something. */
function variable(what: string, example: string): z.ZodExactOptional<z.ZodType<string>> {
  return z
    .string({ error: 'must be a string' })
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, {
      error: `must be the name of an environment variable, such as ${example}`,
    })
    .meta({ description: `Name of the environment variable that contains the ${what}.` })
    .exactOptional();
}

/** The shape of an account. Another check finds what its source needs. */
const account = mapOf({
  name: text('Name of the account; the value of the label "account". Unique.'),
  source: z
    .enum(['rest', 'nerdgraph'], { error: 'must be rest or nerdgraph' })
    .meta({
      description:
        'The API that is asked: rest is the REST API v2, which New Relic ends on 2027-07-31; nerdgraph needs "account_id".',
    })
    .prefault('rest'),
  account_id: accountId(
    'Id of the New Relic account; required with "source: nerdgraph". Without it, `check-config --online` proposes it.',
  ).exactOptional(),
  region: z
    .enum(regions, { error: `must be ${anyRegion}` })
    .meta({ description: "The account's data centre.", default: 'us' })
    .exactOptional(),
  base_url: url(
    parseBaseUrl,
    'Address of the API, used instead of a region, for a gateway or a test server.',
  ).exactOptional(),
  api_key_file: text(
    'File that contains the API key; a relative path is relative to this file. It is read again when it changes.',
  ).exactOptional(),
  api_key_env: variable('API key', 'NEW_RELIC_API_KEY'),
  api_key_header: z
    .enum(['Api-Key', 'X-Api-Key'], { error: 'must be Api-Key or X-Api-Key' })
    .meta({ description: 'Header that carries the API key.' })
    .prefault('Api-Key'),
  requests_per_minute: wholeNumber(
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    "The budget: the most calls that are sent in any 60 seconds. New Relic's quota is 1000 a minute for a key, and with NerdGraph 3000 a minute for an account.",
  ).prefault(800),
  concurrency: wholeNumber(
    { min: 1, max: 100 },
    'The most calls in flight at a time. Without it, 8; with "source: nerdgraph" 5, and at most 25.',
  ).exactOptional(),
  timeout: duration(
    { minMs: 100, maxMs: 600_000 },
    'Longest duration of one call, from its start to the last byte.',
  ).prefault('30s'),
  proxy_url: url(parseProxyUrl, 'HTTP proxy for the calls, without a login.').exactOptional(),
  proxy_url_file: text('File that contains the URL of the proxy and its login.')
    .refine((path) => !/^\w{2,}:|:.*@/u.test(path), { error: 'must be the path of a file' })
    .exactOptional(),
  proxy_url_env: variable('URL of the proxy', 'PROXY_URL'),
  ca_file: text(
    'CA bundle (PEM) to trust in addition to the usual CAs; a relative path is relative to this file.',
  ).exactOptional(),
  labels: labels(
    'Extra labels on every series of its applications and queries, unless they have a label of this name.',
    everyOwnLabel,
  ).prefault({}),
}).meta({
  oneOf: [{ required: ['api_key_file'] }, { required: ['api_key_env'] }],
  not: {
    anyOf: [
      ['region', 'base_url'],
      ['proxy_url', 'proxy_url_file'],
      ['proxy_url', 'proxy_url_env'],
      ['proxy_url_file', 'proxy_url_env'],
    ].map((required) => ({ required })),
  },
  if: { not: { required: ['source'], properties: { source: { const: 'nerdgraph' } } } },
  else: {
    required: ['account_id'],
    properties: { concurrency: { maximum: nerdgraphConcurrency } },
  },
});

/** Longer settings are not useful. The longest timer of the platform is 24 days. */
const longestMs = 24 * hourMs;
const intervals = { minMs: 1000, maxMs: longestMs };

/** What an entry may have in place of the setting of `poll`. */
const pollFields = {
  interval: duration(intervals, 'How often an application is polled.').exactOptional(),
  discovery_interval: duration(
    intervals,
    'How often the applications are listed, and with REST their hosts.',
  ).exactOptional(),
  window: window(
    { minMs: minuteMs, maxMs: longestMs },
    'Range that values are averaged over, or "default" for New Relic\'s own, the last 30 minutes.',
  ).exactOptional(),
  delay: duration(
    { minMs: 0, maxMs: longestMs },
    "How long ago the window ends; needed because New Relic's newest minutes are incomplete.",
  ).exactOptional(),
  stale_after: duration(
    { minMs: 1000, maxMs: 7 * longestMs },
    'How long the last good values are held while polls fail.',
  ).exactOptional(),
  host_names: flag('Whether host ids are resolved to host names.').exactOptional(),
  raw: flag('Whether to ask for unrounded values.').exactOptional(),
  metrics: metrics.exactOptional(),
  tags: tags(
    'Tags of the application in New Relic that become labels of its series, as a list or as a map from tag to label; with "source: nerdgraph" only.',
  ).exactOptional(),
};

const poll = mapOf({
  interval: pollFields.interval.unwrap().prefault('60s'),
  discovery_interval: pollFields.discovery_interval.unwrap().prefault('60s'),
  window: pollFields.window.unwrap().prefault('5m'),
  delay: pollFields.delay.unwrap().prefault('3m'),
  stale_after: pollFields.stale_after.unwrap().prefault('15m'),
  host_names: pollFields.host_names.unwrap().prefault(true),
  raw: pollFields.raw.unwrap().prefault(false),
  metrics: pollFields.metrics.unwrap().prefault(['throughput']),
  tags: pollFields.tags.unwrap().prefault([]),
}).meta({ description: 'Defaults of every entry of "apps".' });

const transactions = z
  .array(z.enum(transactionTypes, { error: 'must be web or other' }), aList)
  .min(1, notEmpty)
  .superRefine(eachOnce)
  .meta({ description: 'Types of transactions to read: web, other (non-web) or both.' });

const app = mapOf({
  id: applicationId('The application with this id.').exactOptional(),
  name: text('The application with exactly this name.').exactOptional(),
  match: regularExpression(
    'Every application of the account whose name matches this regular expression (RE2 syntax).',
  ).exactOptional(),
  account: text(
    'Name of the account; required only when there are several accounts.',
  ).exactOptional(),
  exclude: flag(
    'Whether the applications that the entry selects are left out: they are not polled.',
  ).prefault(false),
  labels: labels('Extra labels on every series of the application.').prefault({}),
  hosts: hostChoice(
    'Which hosts are polled: true means all, false none, self the one that the exporter runs on, match those whose name matches a regular expression (RE2 syntax), and exclude all but those.',
  ).prefault(true),
  application: flag(
    'Whether the application itself is polled and published; false leaves only its hosts.',
  ).prefault(true),
  transactions: transactions.meta({ uniqueItems: true }).prefault([...transactionTypes]),
  ...pollFields,
}).meta({ oneOf: [{ required: ['id'] }, { required: ['name'] }, { required: ['match'] }] });

const queryGauge = gaugeName.meta({ description: 'Name of the gauge in Prometheus.' });

const queryMap = mapOf({
  as: z
    .union([
      queryGauge,
      z
        .record(z.string(), queryGauge, aMap)
        .refine((gauges) => Object.keys(gauges).length > 0, notEmpty)
        .meta({ description: 'Gauges by the names that the query gives its functions.' }),
    ])
    .meta({ description: 'The gauge, or a map from the names of functions to gauges.' }),
  account: z
    .union([
      text('The account, or "*" for all with source: nerdgraph.'),
      z.array(text('Name of an account.'), aList).min(1, notEmpty).superRefine(eachOnce),
    ])
    .meta({
      description:
        'Account with source: nerdgraph, a list of such accounts, or "*" for all; required only when there are several accounts.',
    })
    .exactOptional(),
  nrql: z
    .string({ error: 'must be a string' })
    .min(1, { error: 'must not be empty' })
    // New Relic does not say how long a query may be. For a rule with one it is 4096 characters.
    .max(4000, { error: 'must have at most 4000 characters' })
    .meta({ description: 'The query in NRQL; the exporter adds SINCE and UNTIL.' }),
  labels: z
    .record(z.string(), labelName(queryLabels, true), aMap)
    .meta({ description: 'Labels by facet. Default: the name of the facet in snake case.' })
    .prefault({}),
  constant_labels: labels('Extra labels on every series.', queryLabels).prefault({}),
  help: text('Help text of the gauges.').exactOptional(),
  max_series: wholeNumber({ min: 1, max: 100_000 }, 'Series at most; others are counted.').prefault(
    1000,
  ),
  interval: pollFields.interval,
  window: window(
    {
      minMs: minuteMs,
      maxMs: 31 * longestMs,
      instead: ', a month: for more, keep the gauge in Prometheus and look back with PromQL',
    },
    'Range that the query is about, at most 31d, or "default" for the last 30 minutes.',
  ).exactOptional(),
  delay: pollFields.delay,
  stale_after: pollFields.stale_after,
});

const query: z.ZodType<FileQuery> = queryMap.transform((written, context) => ({
  ...written,
  meaning: readQuery(written, context),
}));

const apps = z.array(app, aList).prefault([]).meta({
  description:
    'The applications to read. If several entries select an application, the first of them counts. May be left out if there are "queries".',
});

const queries = z
  .array(query, aList)
  .prefault([])
  .meta({ description: 'NRQL whose rows become gauges; with "source: nerdgraph" only.' });

const file = mapOf({
  accounts: z
    .array(account, aList)
    .min(1, notEmpty)
    .prefault([{ name: 'default', api_key_env: 'NEW_RELIC_API_KEY' }])
    .meta({ description: 'The New Relic accounts: one API key each.' }),
  poll: poll.prefault({}),
  include: z
    .array(
      text(
        'A path, relative to this file; * and ? stand for parts of the name of a file or directory.',
      ).refine((pattern) => !pattern.includes('**'), {
        error: 'must not have **',
        params: { help: 'write a pattern for each depth, such as teams/*.yaml and teams/*/*.yaml' },
      }),
      aList,
    )
    .prefault([])
    .meta({
      description:
        'Files with "apps" and "queries" alone, one for each team, for example; their entries stand behind those of this file, in the order of their paths.',
    }),
  apps,
  queries,
}).meta({
  title: 'newrelic-exporter configuration',
  anyOf: ['apps', 'queries', 'include'].map((key) => ({
    required: [key],
    properties: { [key]: { minItems: 1 } },
  })),
});

/** The shape of the file: everything that can be checked in one value alone. */
export const fileSchema: z.ZodType<FileConfig> = file;

/** What a file has that is included. */
export const keysIncluded = ['apps', 'queries'] as const;

/** The shape of a file that is included; what its entries are, the schema of the whole file says. */
export const includedSchema: z.ZodType = mapOf({
  apps: z.array(z.unknown(), aList).exactOptional(),
  queries: z.array(z.unknown(), aList).exactOptional(),
});

/** The maps of the file, in words, and their keys. */
export const keyPlaces: KeyPlaces = [
  ['the top of the file', Object.keys(file.shape)],
  ['an entry of "accounts"', Object.keys(account.shape)],
  ['"poll"', Object.keys(poll.shape)],
  ['an entry of "apps"', Object.keys(app.shape)],
  ['a map in "metrics"', metricKeys],
  ['an entry of "queries"', Object.keys(queryMap.shape)],
];

/** JSON Schema (draft 7) of the configuration file, for editors: what `config.schema.json` has. */
export function configJsonSchema(): z.core.JSONSchema.BaseSchema {
  const $id = `${repositoryUrl}/releases/latest/download/config.schema.json`;
  const options = { target: 'draft-7', io: 'input', unrepresentable: 'any' } as const;
  return { $id, ...z.toJSONSchema(fileSchema, options) };
}
