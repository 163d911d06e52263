import { minuteMs } from '../../../src/model/time.ts';
import type { TimeWindow } from '../../../src/model/window.ts';

/** All that was ever recorded: each value is a function of who, what and which minute. */
export interface World {
  readonly number: number;
  readonly nowMs: number;
  /** Of one answer; more of them are too much. */
  readonly mostWindows: number;
}

export interface TrueApplication {
  readonly id: number;
  readonly name: string;
  /** What is recorded without a host counts for the application alone. */
  readonly hosts: readonly (string | null)[];
  readonly beats: boolean;
  readonly reporting: boolean;
  readonly tags: Readonly<Record<string, readonly string[]>>;
}

export const heartbeat = 'Agent/MetricsReported/count';

export function applicationsOf(accountId: number): readonly TrueApplication[] {
  const usual = { beats: true, reporting: true, tags: {} };
  const [web, own, team] = [
    ['web-1', 'web-2', 'own-pod'],
    ['J-1.x', 'own-pod', null],
    ['a', 'b'],
  ];
  return [
    { ...usual, name: 'shop-web', hosts: web, tags: { team } },
    { ...usual, name: 'billing "\\#1" ü', hosts: ['b-1', null], beats: false },
    { ...usual, name: 'shop-old', hosts: ['o-1'], reporting: false, tags: { team: ['c"d'] } },
    { ...usual, name: 'jobs 1', hosts: own, tags: { other: ['x'] } },
  ].map((one, index) => ({ ...one, id: 100 * accountId + index }));
}

function hashOf(...parts: readonly unknown[]): number {
  const signs = Array.from(parts.join(' '), (sign) => sign.codePointAt(0) ?? 0);
  return signs.reduce((hash, sign) => Math.imul(hash ^ sign, 16_777_619), -2_128_831_035);
}

function mixed(seed: number, at: number): number {
  let hash = Math.imul(seed ^ Math.imul(at, 0x9e_37_79_b1), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** By their numbers. */
function* minutesIn({ fromMs, toMs }: TimeWindow): Iterable<number> {
  for (let minute = fromMs / minuteMs; minute < toMs / minuteMs; minute += 1) yield minute;
}

/** What New Relic keeps of a metric. */
export interface Timeslice {
  count: number;
  sum: number;
  exclusive: number;
  squares: number;
  max: number;
}

/** Of some hosts of an application together, in a window. */
export function timesliceOf(
  { number }: World,
  { id, beats }: TrueApplication,
  hosts: readonly (string | null)[],
  metric: string,
  window: TimeWindow,
): Timeslice {
  const all = { count: 0, sum: 0, exclusive: 0, squares: 0, max: 0 };
  const isBeat = metric === heartbeat;
  for (const host of hosts.filter((one) => !isBeat || (beats && one !== null))) {
    const [there, seed] = [hashOf(number, id, host), hashOf(number, id, host, metric)];
    // Of four metrics one is never there, and two now and then.
    const rarity = isBeat ? 0 : ([9, 3, 1, 0][(seed >>> 5) % 4] ?? 0);
    for (const minute of minutesIn(window)) {
      const isThere = mixed(there, Math.floor(minute / 45)) % 4 > 0;
      if (!isThere || mixed(seed, Math.floor(minute / 20)) % 4 < rarity) continue;
      const random = mixed(seed, minute);
      const isZero = mixed(seed, 7 + Math.floor(minute / 60)) % 2 === 0;
      const count = 1 + (random % 7);
      const value = isZero && !isBeat ? 0 : 1 + ((random >>> 8) % 9);
      all.count += count;
      all.sum += count * value;
      all.exclusive += value === 0 ? 0 : count * (1 + ((random >>> 16) % 3));
      all.squares += count * value ** 2;
      all.max = Math.max(all.max, value);
    }
  }
  return all;
}

/** What docs/metrics.md says of values. Those of which 0 may mean that nothing was recorded are amounts. */
export const pastAmounts: Readonly<Record<string, (of: Timeslice, minutes: number) => number>> = {
  per_minute: ({ count }, minutes) => count / minutes,
  call_count: ({ count }) => count,
  total_value: ({ sum }) => sum,
  total_used_mb: ({ sum }) => sum * 2 ** 20,
  percent: ({ sum }, minutes) => sum / (60 * minutes),
  count: ({ count, sum, exclusive }) => count + sum + exclusive,
  f: ({ exclusive }) => exclusive,
};
export const pastLevels: typeof pastAmounts = {
  average: ({ count, sum }) => sum / count,
  max_value: ({ max }) => max,
  standard_deviation: ({ count, sum, squares }) => Math.sqrt(squares / count - (sum / count) ** 2),
  used_bytes_by_host: ({ count, sum }) => (sum / count) * 2 ** 20,
  score: ({ count, sum, exclusive }) => (count + sum / 2) / (count + sum + exclusive),
};

export interface PastMetric {
  /** A preset, or the value of a metric of the file's own. */
  readonly choice: string;
  readonly as: string;
  readonly metric: string;
  readonly of: string;
  readonly type: string;
  readonly more: { scale?: number; for?: string; labels?: Record<string, string>; help?: string };
}

/** Presets, and behind them what a file names itself. */
export const pastMetrics: readonly PastMetric[] = `
throughput | newrelic_application_requests_per_minute | HttpDispatcher | per_minute | web
throughput | newrelic_application_requests_per_minute | OtherTransaction/all | per_minute | other
response_time | newrelic_application_response_time_seconds | HttpDispatcher | average | web
response_time | newrelic_application_response_time_seconds | OtherTransaction/all | average | other
errors | newrelic_application_errors_per_minute | Errors/allWeb | per_minute | web
errors | newrelic_application_errors_per_minute | Errors/allOther | per_minute | other
apdex | newrelic_application_apdex_score | Apdex | score
database | newrelic_application_database_calls_per_minute | Datastore/allWeb | per_minute | web
database | newrelic_application_database_calls_per_minute | Datastore/allOther | per_minute | other
database | newrelic_application_database_response_time_seconds | Datastore/allWeb | average | web
database | newrelic_application_database_response_time_seconds | Datastore/allOther | average | other
external | newrelic_application_external_calls_per_minute | External/all | per_minute
external | newrelic_application_external_response_time_seconds | External/all | average
memory | newrelic_application_memory_used_bytes | Memory/Physical | used_bytes_by_host
cpu | newrelic_application_cpu_usage_ratio | CPU/User Time | percent
average_value | newrelic_depth | Custom/queue | average | | {"for": "hosts"}
max_value | shop_peak_euros | Custom/basket | max_value | | {"scale": 0.25, "help": "At most"}
standard_deviation | newrelic_application_spread_seconds | HttpDispatcher | standard_deviation
total_value | shop_euros | Custom/basket | total_value | | {"scale": 0.01, "for": "applications"}
call_count | shop_baskets | Custom/basket | call_count
calls_per_minute | newrelic_gc_per_minute | GC/Young | per_minute | | {"labels": {"age": "y"}, "help": "GC"}
calls_per_minute | newrelic_gc_per_minute | GC/Old | per_minute | | {"labels": {"age": "\\"1\\""}, "help": "GC"}
utilization | busy | Custom/busy | percent
total_used_mb | heap_bytes | Memory/Heap | total_used_mb
count | rated | Apdex | count
f | frustrated | Apdex | f`
  .trim()
  .split('\n')
  .map((line) => {
    const [choice = '', as = '', metric = '', of = '', type = '', more = ''] =
      line.split(/ ?\| ?/u);
    return { choice, as, metric, of, type, more: JSON.parse(more || '{}') as PastMetric['more'] };
  });
/** An event, and a point of a dimensional metric. */
export interface Sale {
  readonly city: string | null;
  readonly kind: number;
  readonly amount: number;
}

const groups = [
  { city: 'eu', kind: 1 },
  { city: 'eu', kind: 2 },
  { city: 'us', kind: 1 },
  { city: 'say "hi" \\', kind: 2 },
  { city: null, kind: 1 },
];

export function salesOf({ number }: World, accountId: number, window: TimeWindow): readonly Sale[] {
  return groups.flatMap((group, index) => {
    const seed = hashOf(number, accountId, 'sales', index);
    return [...minutesIn(window)].flatMap((minute) =>
      Array.from({ length: mixed(seed, Math.floor(minute / 15)) % 3 }, (_, at) => {
        return { ...group, amount: 1 + (mixed(seed, 5 * minute + at) % 50) };
      }),
    );
  });
}

/** What is calculated of some events; null without any, where there is nothing to calculate. */
export type Calculation = (
  sales: readonly Sale[],
  minutes: number,
) => number | null | Readonly<Record<string, number | null>>;

const sum = (sales: readonly Sale[]): number => sales.reduce((all, { amount }) => all + amount, 0);

function percentiles(...percentages: readonly number[]): Calculation {
  return (sales) => {
    const amounts = sales.map(({ amount }) => amount).toSorted((one, other) => one - other);
    const at = (one: number): number => Math.ceil((one / 100) * amounts.length) - 1;
    return Object.fromEntries(percentages.map((one) => [one, amounts[at(one)] ?? null]));
  };
}

const calculations: Readonly<Record<string, Calculation>> = {
  count: (sales) => sales.length,
  sum,
  average: (sales) => (sales.length > 0 ? sum(sales) / sales.length : null),
  max: (sales) => (sales.length > 0 ? Math.max(...sales.map(({ amount }) => amount)) : null),
  rate: (sales, minutes) => sales.length / minutes,
  kinds: (sales) => new Set(sales.map(({ kind }) => kind)).size,
  first: (sales) => sales.filter(({ kind }) => kind === 1).length / 100,
  p50p95: percentiles(50, 95),
  p90: percentiles(90),
};

/** A query of a configuration: in `gauges` what its members are; the member of a lone function is `q`. */
export interface PastQuery {
  readonly nrql: string;
  readonly facets: readonly (keyof Sale)[];
  readonly gauges: readonly (readonly [member: string, calculation: Calculation])[];
  readonly where: (sale: Sale) => boolean;
}

export const pastQueries: readonly PastQuery[] = `
SELECT count(*) FROM Sale | | q=count
SELECT count(*) FROM Sale FACET city LIMIT 50 | city | q=count
SELECT sum(amount) AS a, count(*) AS b FROM Sale FACET city, kind LIMIT MAX | city kind | a=sum b=count
SELECT average(amount) FROM Sale FACET city | city | q=average
FROM Sale SELECT percentile(amount, 50, 95) AS a, max(amount) AS b | | a=p50p95 b=max
FROM Sale SELECT percentile(amount, 90) WHERE city IS NOT NULL FACET city LIMIT 9 | city | q=p90
SELECT rate(count(*), 1 minute) AS a FROM Sale WHERE kind = 1 FACET city LIMIT 20 | city | a=rate
SELECT filter(count(*), WHERE kind = 1) / 100 AS a FROM Sale FACET city LIMIT 20 | city | a=first
SELECT uniqueCount(kind) AS a, average(amount) AS b FROM Sale | | a=kinds b=average
SELECT count(*) AS a, average(amount) AS b FROM Metric WHERE metricName = 'sales' FACET city | city | a=count b=average`
  .trim()
  .split('\n')
  .map((line): PastQuery => {
    const [nrql = '', facets = '', gauges = ''] = line.split('|').map((text) => text.trim());
    return {
      nrql,
      facets: (['city', 'kind'] as const).filter((one) => facets.includes(one)),
      gauges: gauges.split(' ').map((text) => {
        const [member = '', name = ''] = text.split('=');
        return [member, calculations[name] ?? calculations['count'] ?? sum];
      }),
      where: ({ city, kind }) =>
        (!nrql.includes('city IS NOT NULL') || city !== null) &&
        (!nrql.includes('Sale WHERE kind = 1') || kind === 1),
    };
  });
