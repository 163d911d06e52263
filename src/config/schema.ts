import { z } from 'zod';
import { transactionTypes } from '../model/application.ts';
import type { AccountSource, ApiKeyHeader, AppEntry, Query } from '../model/config.ts';
import { everyOwnLabel, queryLabels } from '../model/own-names.ts';
import { type Region, regions } from '../model/region.ts';
import { repositoryUrl } from '../model/shown-text.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { WindowSetting } from '../model/window.ts';
import { type FileMetric, gaugeNameField, metricKeys, metricsField } from './metric-schema.ts';
import { type QueryMeaning, readAmongMistakes, readQuery } from './query-meaning.ts';
import {
  accountId,
  aList,
  aMap,
  applicationId,
  choice,
  duration,
  eachOnce,
  type FileHosts,
  flag,
  hostChoice,
  type KeyPlaces,
  labelName,
  labels,
  mapOf,
  notEmpty,
  regularExpression,
  type Texts,
  tagsField,
  text,
  url,
  wholeNumberField,
  windowField,
} from './schema-fields.ts';
import { parseBaseUrl, parseProxyUrl } from './url.ts';

/** One entry of `accounts` as the file has it, defaults applied, durations in milliseconds. */
export interface FileAccount
  extends Texts<'base_url' | 'api_key_file' | 'api_key_env' | 'proxy_url'>,
    Texts<'proxy_url_file' | 'proxy_url_env' | 'ca_file'> {
  readonly name: string;
  readonly source: AccountSource['kind'];
  /** There is one if the source is NerdGraph. */
  readonly account_id?: number;
  readonly region?: Region;
  readonly api_key_header: ApiKeyHeader;
  readonly requests_per_minute: number;
  /** Its default depends on the source. */
  readonly concurrency?: number;
  readonly timeout: number;
  readonly labels: AppEntry['labels'];
}

/** NerdGraph refuses more requests in flight, all keys of a user together. */
export const nerdgraphMostCalls = 25;

export interface FilePoll
  extends Readonly<Record<'interval' | 'discovery_interval' | 'delay' | 'stale_after', number>>,
    Readonly<Record<'host_names' | 'raw', boolean>> {
  readonly window: WindowSetting;
  readonly metrics: readonly FileMetric[];
  readonly tags: Readonly<Record<string, string>>;
}

/** One entry of `apps`. The defaults of what it leaves out are in `poll`. */
export interface FileApp
  extends Partial<FilePoll>,
    Texts<'id' | 'name' | 'match' | 'account'>,
    Pick<AppEntry, 'exclude' | 'labels' | 'application' | 'transactions'> {
  readonly hosts: FileHosts;
}

/** One entry of `queries`. The defaults of what it leaves out are in `poll`. */
export interface FileQuery extends Partial<FilePoll>, Texts<'help'> {
  readonly meaning: QueryMeaning;
  readonly account?: string | readonly string[];
  readonly constant_labels: Query['labels'];
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
  { account }: Pick<FileQuery, 'account'>,
  accounts: readonly FileAccount[],
): readonly string[] {
  if (account !== '*') return [account ?? accounts[0]?.name ?? []].flat();
  return accounts.filter(({ source }) => source === 'nerdgraph').map(({ name }) => name);
}

/** The name of an environment variable that contains something. */
function variableField(what: string, example: string): z.ZodExactOptional<z.ZodType<string>> {
  return z
    .string({ error: 'must be a string' })
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, {
      error: `must be the name of an environment variable, such as ${example}`,
    })
    .meta({ description: `Environment variable with the ${what}.` })
    .exactOptional();
}

/** The shape of an account. Another check finds what its source needs. */
const account = mapOf({
  name: text('Unique; the value of the label "account".'),
  source: choice(
    ['rest', 'nerdgraph'],
    'The API that is asked; New Relic ends rest on 2027-07-31.',
  ).prefault('rest'),
  account_id: accountId('Id of the account; required with nerdgraph.').exactOptional(),
  region: choice(regions, "The account's data centre.").meta({ default: 'us' }).exactOptional(),
  base_url: url(parseBaseUrl, 'Instead of a region: a gateway, a test server.').exactOptional(),
  api_key_file: text('File with the API key; read again when it changes.').exactOptional(),
  api_key_env: variableField('API key', 'NEW_RELIC_API_KEY'),
  api_key_header: choice(['Api-Key', 'X-Api-Key'], 'Header that carries the API key.').prefault(
    'Api-Key',
  ),
  requests_per_minute: wholeNumberField(
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    "Calls in any 60 seconds at most. New Relic's quota is 1000, and 3000 with nerdgraph.",
  ).prefault(800),
  concurrency: wholeNumberField(
    { min: 1, max: 100 },
    'Calls in flight at most: without it 8; with nerdgraph 5, and never above 25.',
  ).exactOptional(),
  timeout: duration({ minMs: 100, maxMs: 600_000 }, 'How long a call may take.').prefault('30s'),
  proxy_url: url(parseProxyUrl, 'HTTP proxy for the calls, without a login.').exactOptional(),
  proxy_url_file: text('File with the URL of the proxy and its login.')
    .refine((path) => !/^\w{2,}:|:.*@/u.test(path), { error: 'must be the path of a file' })
    .exactOptional(),
  proxy_url_env: variableField('URL of the proxy', 'PROXY_URL'),
  ca_file: text('CA bundle (PEM) to trust in addition to the usual CAs.').exactOptional(),
  labels: labels('Extra labels on all its series.', everyOwnLabel).prefault({}),
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
    properties: { concurrency: { maximum: nerdgraphMostCalls } },
  },
});

/** Longer settings are not useful. The longest timer of the platform is 24 days. */
const longestIntervalMs = 24 * hourMs;
const intervals = { minMs: 1000, maxMs: longestIntervalMs };

/** What an entry may have in place of the setting of `poll`. */
const pollFields = {
  interval: duration(intervals, 'How often an application is polled.').exactOptional(),
  discovery_interval: duration(intervals, 'How often applications are listed.').exactOptional(),
  window: windowField(
    { minMs: minuteMs, maxMs: longestIntervalMs },
    'Range that values are averaged over, or "default" for the last 30 minutes.',
  ).exactOptional(),
  delay: duration(
    { minMs: 0, maxMs: longestIntervalMs },
    'How long ago windows end.',
  ).exactOptional(),
  stale_after: duration(
    { minMs: 1000, maxMs: 7 * longestIntervalMs },
    'How long values are held while polls fail.',
  ).exactOptional(),
  host_names: flag('Whether host ids are resolved to host names.').exactOptional(),
  raw: flag('Whether to ask for unrounded values.').exactOptional(),
  metrics: metricsField.exactOptional(),
  tags: tagsField(
    'Tags that become labels, or labels by tag; only with nerdgraph.',
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

const app = mapOf({
  id: applicationId('The application with this id.').exactOptional(),
  name: text('The application with exactly this name.').exactOptional(),
  match: regularExpression('All whose name matches this (RE2 syntax).').exactOptional(),
  account: text('The account; required when there are several.').exactOptional(),
  exclude: flag('Whether what the entry selects is left out, not polled.').prefault(false),
  labels: labels('Extra labels on every series of the application.').prefault({}),
  hosts: hostChoice(
    'Which hosts are polled: all, none, the one that the exporter runs on, or some by name (RE2 syntax).',
  ).prefault(true),
  application: flag('Whether not only its hosts are polled and published.').prefault(true),
  transactions: z
    .array(choice(transactionTypes), aList)
    .min(1, notEmpty)
    .superRefine(eachOnce)
    .meta({ uniqueItems: true, description: 'Which are read: web, other (non-web) or both.' })
    .prefault([...transactionTypes]),
  ...pollFields,
}).meta({ oneOf: [{ required: ['id'] }, { required: ['name'] }, { required: ['match'] }] });

const queryGauge = gaugeNameField.meta({ description: 'Name of the gauge in Prometheus.' });

const queryMap = mapOf({
  as: z
    .union([
      queryGauge,
      z
        .record(z.string(), queryGauge, aMap)
        .refine((gauges) => Object.keys(gauges).length > 0, notEmpty)
        .meta({ description: 'Gauges by the names of functions.' }),
    ])
    .meta({ description: 'The gauge, or gauges by function.' }),
  account: z
    .union([
      text('The account, or "*" for all.'),
      z.array(text('Name of an account.'), aList).min(1, notEmpty).superRefine(eachOnce),
    ])
    .meta({ description: 'Account with nerdgraph, or a list, or "*" for all; see "apps".' })
    .exactOptional(),
  nrql: z
    .string({ error: 'must be a string' })
    .min(1, notEmpty)
    // New Relic does not say how long a query may be. For a rule with one it is 4096 characters.
    .max(4000, { error: 'must have at most 4000 characters' })
    .meta({ description: 'The query, without SINCE and UNTIL.' }),
  labels: z
    .record(z.string(), labelName(queryLabels, true), aMap)
    .meta({ description: 'Labels by facet; otherwise the facet in snake case.' })
    .prefault({}),
  constant_labels: labels('Extra labels on every series.', queryLabels).prefault({}),
  help: text('Help text of the gauges.').exactOptional(),
  max_series: wholeNumberField({ min: 1, max: 100_000 }, 'Series at most.').prefault(1000),
  interval: pollFields.interval,
  window: windowField(
    {
      minMs: minuteMs,
      maxMs: 31 * longestIntervalMs,
      instead: ', a month: for more, keep the gauge in Prometheus and look back with PromQL',
    },
    'Range of the query, at most 31d, or "default" for the last 30 minutes.',
  ).exactOptional(),
  delay: pollFields.delay,
  stale_after: pollFields.stale_after,
});

const query: z.ZodType<FileQuery> = queryMap
  .superRefine(readAmongMistakes, { when: ({ issues }) => issues.length > 0 })
  .transform((written, context) => ({ ...written, meaning: readQuery(written, context) }));

const file = mapOf({
  accounts: z
    .array(account, aList)
    .min(1, notEmpty)
    .prefault([{ name: 'default', api_key_env: 'NEW_RELIC_API_KEY' }])
    .meta({ description: 'The New Relic accounts: one API key each.' }),
  poll: poll.prefault({}),
  include: z
    .array(
      text('A path; * and ? stand for parts of a name.').refine((path) => !path.includes('**'), {
        error: 'must not have **',
        params: { help: 'write a pattern for each depth, such as teams/*.yaml and teams/*/*.yaml' },
      }),
      aList,
    )
    .prefault([])
    .meta({ description: 'Files of "apps" and "queries", behind those of this one.' }),
  apps: z
    .array(app, aList)
    .prefault([])
    .meta({ description: 'The applications to read; the first entry that selects one counts.' }),
  queries: z
    .array(query, aList)
    .prefault([])
    .meta({ description: 'NRQL whose rows become gauges; only with nerdgraph.' }),
}).meta({
  title: 'newrelic-exporter configuration',
  patternProperties: { '^x-': { description: 'No meaning: a place for anchors.' } },
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
