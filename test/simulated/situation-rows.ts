import { ApiError } from '../../src/model/api-error.ts';
import type { ApiRequest, ApiResponse } from '../../src/newrelic/calls/transport.ts';
import type { Answering } from '../support/query-daemon.ts';
import type { RunningDaemonOptions } from '../support/running-daemon.ts';
import { fromMs, keyFile, type Situation } from './situation-bench.ts';

function answered(status: number, body = '{}', headers = {}): ApiResponse {
  return { status, headers, body };
}

const always =
  (answer: ReturnType<Answering>): Answering =>
  () =>
    answer;

const isList = ({ operation }: ApiRequest): boolean => operation === 'list_applications';

const ofLists =
  (answer: ReturnType<Answering>): Answering =>
  (request) =>
    isList(request) ? answer : undefined;

/** Polls of one application that is asked for alone. */
const ofCart =
  (answer: ReturnType<Answering>): Answering =>
  ({ operation, target, body = '' }) =>
    operation.endsWith('_metrics') && `${target}${body}`.includes('102') ? answer : undefined;

const ofQueries =
  (answer: ReturnType<Answering>): Answering =>
  ({ operation }) =>
    operation === 'query' ? answer : undefined;

/** New Relic's clock is so far ahead of this machine's. */
function wireWithDates(aheadMs: number, instead?: ApiResponse): RunningDaemonOptions {
  let sinceMs: number | undefined;
  return {
    wire: (wire) => ({
      ...wire,
      send: async (...request) => {
        const answer = await wire.send(...request);
        const dateMs = Date.parse(String(answer.headers['date'] ?? ''));
        sinceMs ??= dateMs;
        const date = new Date(dateMs + aheadMs).toUTCString();
        const isInstead = instead !== undefined && dateMs - sinceMs >= fromMs;
        return { ...answer, ...(isInstead && instead), headers: { ...answer.headers, date } };
      },
    }),
  };
}

const refused = answered(401, '{"error":{"title":"The API key provided is invalid"}}');
const broken = answered(500);
const throttled = answered(429, '{}', { 'retry-after': '30' });
const noHost = new ApiError('dns', 'the host name cannot be resolved: check base_url');

/** With each API alike. */
const ofBoth: readonly Situation[] = [
  { what: 'all is well', state: ['up'] },
  {
    what: 'the key is refused',
    answer: always(refused),
    state: ['down'],
    own: ['key_refused', 'application_failing'],
    silent: ['application_failing'],
    minutes: 12,
  },
  {
    what: 'the key is refused from the start',
    answer: always(refused),
    fromMs: 0,
    state: ['down'],
    own: ['key_refused'],
  },
  {
    what: 'New Relic cannot be reached',
    answer: always(noHost),
    state: ['down'],
    own: ['unreachable', 'application_failing'],
    silent: ['application_failing'],
    minutes: 12,
  },
  {
    what: 'New Relic has never been reached',
    answer: always(noHost),
    fromMs: 0,
    state: ['down'],
    own: ['unreachable'],
  },
  {
    what: 'New Relic has been gone for longer than stale_after',
    answer: always(noHost),
    state: ['down'],
    own: ['unreachable', 'application_failing', 'application_dropped'],
    silent: ['application_failing'],
    minutes: 30,
  },
  { what: 'lists fail', answer: ofLists(broken), state: ['down'], own: ['list_failing'] },
  {
    what: 'the polls of an application fail',
    answer: ofCart(broken),
    state: ['degraded'],
    own: ['application_failing'],
  },
  {
    what: 'the polls of an application fail for longer than stale_after',
    answer: ofCart(broken),
    state: ['degraded'],
    own: ['application_failing', 'application_dropped'],
    minutes: 30,
  },
  {
    what: 'lists and the polls of an application fail for reasons of their own',
    answer: (request) => ofLists(broken)(request) ?? ofCart(answered(400))(request),
    state: ['down'],
    own: ['list_failing', 'application_failing'],
    minutes: 10,
  },
  {
    what: 'New Relic answers 429 now and then',
    answer: (() => {
      let calls = 0;
      return () =>
        (calls += 1) % 7 === 0 ? answered(429, '{}', { 'retry-after': '1' }) : undefined;
    })(),
    state: ['degraded'],
    own: ['throttled'],
  },
  {
    what: 'New Relic answers 429 for ever',
    answer: always(throttled),
    state: ['down'],
    own: ['list_failing', 'throttled', 'application_failing'],
    silent: ['application_failing'],
    minutes: 15,
  },
  {
    what: 'the budget is too small',
    account: 'requests_per_minute: 2',
    apps: 'apps: [{ match: ., interval: 10s }]',
    state: ['degraded'],
    own: ['budget_too_small'],
  },
  {
    what: 'New Relic answers too slowly',
    account: 'concurrency: 1',
    apps: 'apps: [{ match: ., interval: 10s }]',
    options: { latencyMs: 8000 },
    state: ['degraded'],
    own: ['answers_slow'],
    minutes: 15,
  },
  {
    what: 'an entry matches nothing',
    apps: 'apps: [{ match: . }, { name: chekout }]',
    state: ['degraded'],
    own: ['entry_matches_nothing'],
  },
  {
    what: 'no entry matches anything',
    apps: 'apps: [{ name: chekout }]',
    state: ['degraded'],
    own: ['entry_matches_nothing'],
    ofProcess: ['nothing_selected'],
  },
  {
    what: 'a metric is misspelt',
    apps: 'apps: [{ match: ., metrics: [throughput, { metric: Custom/Qeue, value: call_count, as: shop_queue }] }]',
    state: ['degraded'],
    own: ['metric_without_value'],
    minutes: 15,
  },
  {
    what: 'the file of the key is gone',
    change: (files) => delete files[keyFile],
    state: ['degraded'],
    own: ['key_unreadable'],
  },
  {
    what: 'the clock is an hour wrong',
    options: wireWithDates(3_600_000),
    state: ['up'],
    ofProcess: ['clock_wrong'],
  },
  {
    what: 'the last configuration was refused',
    fileProblem: 'c.yaml:1:1: unknown key',
    state: ['up'],
    ofProcess: ['config_broken'],
    silent: ['config_broken'],
  },
  {
    what: 'an included file is broken',
    brokenFile: { name: 'teams/a.yaml', problem: 'teams/a.yaml:1:1: unknown key' },
    state: ['up'],
    ofProcess: ['config_file_broken'],
    silent: ['config_file_broken'],
  },
  {
    what: 'an entry matches nothing while the polls of an application fail',
    apps: 'apps: [{ match: . }, { name: chekout }]',
    answer: ofCart(broken),
    state: ['degraded'],
    own: ['entry_matches_nothing', 'application_failing'],
  },
  {
    what: 'the file of the key is gone, and the budget too small',
    account: 'requests_per_minute: 2',
    apps: 'apps: [{ match: ., interval: 10s }]',
    change: (files) => delete files[keyFile],
    state: ['degraded'],
    own: ['key_unreadable', 'budget_too_small'],
  },
  {
    what: 'the key is refused, and the clock wrong',
    answer: always(refused),
    options: wireWithDates(3_600_000, refused),
    state: ['down'],
    own: ['key_refused', 'application_failing'],
    silent: ['application_failing'],
    ofProcess: ['clock_wrong'],
    minutes: 12,
  },
  {
    what: 'a shard has nothing to poll',
    apps: 'apps: [{ name: shop }]',
    shard: { ordinal: 1, total: 2 },
    state: ['up'],
  },
];

const oneQuery = '  - { as: calls, nrql: "SELECT count(*) FROM Transaction" }';
const onlyQueries = { apps: '', queries: oneQuery, source: 'nerdgraph' } as const;

const ofNerdGraph: readonly Situation[] = [
  {
    what: 'a query is refused',
    queries: oneQuery,
    answer: ofQueries(answered(400)),
    state: ['degraded'],
    own: ['query_failing'],
  },
  {
    what: 'a query is refused for longer than stale_after',
    queries: oneQuery,
    answer: ofQueries(answered(400)),
    state: ['degraded'],
    own: ['query_failing', 'query_dropped'],
    minutes: 30,
  },
  {
    what: 'a query never has a row',
    queries:
      '  - { as: calls, nrql: "SELECT count(*) FROM Transaction WHERE appName = \'nobody\' FACET host" }',
    state: ['degraded'],
    own: ['query_without_value'],
  },
  {
    what: 'a query and the polls of an application fail',
    queries: oneQuery,
    answer: (request) => ofQueries(answered(400))(request) ?? ofCart(broken)(request),
    state: ['degraded'],
    own: ['query_failing', 'application_failing'],
  },
  { what: 'there are queries alone', ...onlyQueries, state: ['up'] },
  {
    what: 'there are queries alone, and the key is refused',
    ...onlyQueries,
    answer: always(refused),
    state: ['down'],
    own: ['key_refused', 'query_failing'],
    // Its first failure says nothing of the account yet.
    says: { key_refused: 'queries are not answered' },
    minutes: 12,
  },
  {
    what: 'there are queries alone, and New Relic cannot be reached',
    ...onlyQueries,
    answer: always(noHost),
    state: ['down'],
    own: ['unreachable', 'query_failing'],
    says: { unreachable: 'queries are not answered' },
    minutes: 12,
  },
  {
    what: 'there are queries alone, and New Relic fails',
    ...onlyQueries,
    answer: always(answered(502)),
    state: ['down'],
    own: ['unanswered', 'query_failing'],
    minutes: 12,
  },
  {
    what: 'there are queries alone, one of which is refused',
    ...onlyQueries,
    answer: ofQueries(answered(400)),
    state: ['degraded'],
    own: ['query_failing'],
  },
  {
    what: 'a row of a query has more series than max_series',
    queries:
      '  - { as: { p: calls }, max_series: 1, nrql: "SELECT percentile(duration, 50, 95) AS p FROM Transaction" }',
    state: ['degraded'],
    own: ['query_without_value', 'series_dropped'],
  },
  {
    what: 'a tag is misspelt',
    apps: 'apps: [{ match: ., tags: [taem] }]',
    state: ['degraded'],
    own: ['tag_without_value'],
  },
];

const twoAccounts = (key: string): string =>
  `accounts: [{ name: one, api_key_env: KEY_A }, { name: two, ${key} }]`;
const bothApps = 'apps: [{ match: ., account: one }, { match: ., account: two }]';

const ofSeveral: readonly Situation[] = [
  {
    what: 'two accounts have one key from two places',
    accounts: twoAccounts(`api_key_file: ${keyFile}`),
    apps: bothApps,
    state: ['up', 'up'],
    ofProcess: ['key_shared'],
  },
  {
    what: 'two accounts have one key from one place',
    accounts: twoAccounts('api_key_env: KEY_A'),
    apps: bothApps,
    state: ['up', 'up'],
  },
  {
    what: 'one of two accounts has a key that is refused',
    accounts: twoAccounts('api_key_env: KEY_C'),
    apps: bothApps,
    state: ['up', 'down'],
    own: ['key_refused'],
  },
];

function withEach(source: 'rest' | 'nerdgraph'): readonly Situation[] {
  return ofBoth.map((one) => {
    // A poll of all applications is one call there, and meets the trouble before the list does.
    const isTold = source === 'nerdgraph' && one.own?.includes('unreachable') === true;
    return { ...one, source, what: `${one.what} (${source})`, ...(isTold && { silent: [] }) };
  });
}

/** Those that `npm test` runs. */
export const situations: readonly Situation[] = [
  ...withEach('rest'),
  ...ofNerdGraph.map((one) => ({ ...one, source: 'nerdgraph' as const })),
  ...ofSeveral,
];

export const moreSituations: readonly Situation[] = withEach('nerdgraph');
