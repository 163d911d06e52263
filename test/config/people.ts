import { anyRegion } from '../../src/model/region.ts';
/**
 * What people write, where something is wrong or odd, what is said of it, and what is proposed in place of
 * which part. `right` is what stands there in the end, where it is not the proposal alone.
 */
export type Row = readonly [
  written: string,
  place: string,
  says: string,
  part: string,
  proposed: string | readonly string[],
  right?: string,
];

export const entry: string = 'apps: [{ id: 1 }]';

/** The keys begin in column 45. */
export function ofAccount(keys: string): string {
  return `accounts: [{ name: p, api_key_env: KEY, ${keys} }]\n${entry}`;
}

/** An entry whose further keys begin in column 18. */
export function ofEntry(keys: string): string {
  return `apps: [{ id: 1, ${keys} }]`;
}

export const nerdgraph: string =
  'accounts: [{ name: p, api_key_env: KEY, source: nerdgraph, account_id: 1 }]';
export const two: string = `accounts: [{ name: p, api_key_env: A, source: nerdgraph, account_id: 1 }, { name: q, api_key_env: B, source: nerdgraph, account_id: 2 }]`;

/** A query, whose further keys begin in column 55. */
export function ofQuery(keys: string): string {
  return `${nerdgraph}\nqueries: [{ as: g, nrql: SELECT count(*) FROM Log, ${keys} }]`;
}

function ofMetric(keys: string): string {
  return ofEntry(`metrics: [{ metric: Custom/A, ${keys} }]`);
}

/** Words of people and of other programs. */
export const words: readonly Row[] = [
  [ofEntry('interval: 5min'), '1:27', 'must be a duration', '5min', '5m'],
  [ofEntry('interval: 2 minutes'), '1:27', 'must be a duration', '2 minutes', '2m'],
  [ofEntry('window: 1.5h'), '1:25', 'must be a duration', '1.5h', '1h30m'],
  [ofEntry('interval: PT5M'), '1:27', 'must be a duration', 'PT5M', '5m'],
  [ofEntry('delay: 1h, window: 1H'), '1:36', 'must be a duration', '1H', '1h'],
  [ofEntry('labels: { cost-center: a }'), '1:27', 'not a valid', 'cost-center', 'cost_center'],
  [ofEntry('labels: { teamName!: a }'), '1:27', 'not a valid', 'teamName!', 'team_name'],
  [ofEntry('transactions: [background]'), '1:32', 'must be web or other', 'background', 'other'],
  [ofEntry('transactions: [non-web]'), '1:32', 'must be web or other', 'non-web', 'other'],
  ...(
    [
      ['us01', 'us'],
      ['us-east-1', 'us'],
      ['eu01', 'eu'],
      ['eu-central-1', 'eu'],
      ['us-gov', 'gov'],
      ['tokyo', 'jp'],
    ] as const
  ).map(
    ([region, meant]): Row => [
      ofAccount(`region: ${region}`),
      '1:49',
      `must be ${anyRegion}`,
      region,
      `did you mean "${meant}"?`,
      meant,
    ],
  ),
  [
    ofAccount('region: staging'),
    '1:49',
    'must be us, eu',
    'region: staging',
    'write "base_url"',
    'base_url: https://h',
  ],
  [ofAccount('source: v2'), '1:49', 'must be rest or', 'v2', 'rest'],
  [ofMetric('value: avg, as: a'), '1:54', 'one of the values', 'avg', 'average_response_time'],
  [
    ofMetric('as: a'),
    '1:27',
    'missing key "value"',
    'as: a',
    'the values are requests_per_minute, ',
    'value: call_count, as: a',
  ],
  [
    ofMetric('value: p, as: a'),
    '1:54',
    'one of the',
    'value: p',
    'the values are requests_per_minute, ',
    'value: call_count',
  ],
  [ofEntry('metrics: [latency]'), '1:27', 'must be a preset', 'latency', 'response_time'],
  [ofEntry('metrics: [cpu_utilization]'), '1:27', 'must be a preset', 'cpu_utilization', 'cpu'],
  [ofEntry('scrape_interval: 2m'), '1:17', 'unknown key', 'scrape_interval', 'interval'],
  [ofEntry('range: 10m'), '1:17', 'unknown key', 'range', 'window'],
  [ofEntry('offset: 3m'), '1:17', 'unknown key', 'offset', 'delay'],
  [ofEntry('static_labels: { a: b }'), '1:17', 'unknown key', 'static_labels', 'labels'],
  [ofQuery('const_labels: { a: b }'), '2:52', 'unknown key', 'const_labels', 'constant_labels'],
  [ofAccount('rate_limit: 500'), '1:41', 'unknown key', 'rate_limit', 'requests_per_minute'],
  [ofAccount('max_concurrency: 4'), '1:41', 'unknown key', 'max_concurrency', 'concurrency'],
  [ofAccount('endpoint: https://h'), '1:41', 'unknown key', 'endpoint', 'base_url'],
  [ofAccount('https_proxy: http://h:1'), '1:41', 'unknown key', 'https_proxy', 'proxy_url'],
  [ofAccount('request_timeout: 10s'), '1:41', 'unknown key', 'request_timeout', 'timeout'],
  [ofAccount('insecure_skip_verify: a'), '1:41', 'unknown', 'insecure_skip_verify', 'ca_file'],
  ['apps: [{ app_name: a }]', '1:10', 'unknown key', 'app_name', 'name'],
  ['apps: [{ regex: ^a }]', '1:10', 'unknown key', 'regex', 'match'],
  [`global: { interval: 2m }\n${entry}`, '1:1', 'unknown key', 'global', 'poll'],
  ['services: [{ id: 1 }]\npoll: {}', '1:1', 'unknown key', 'services', 'apps'],
];
