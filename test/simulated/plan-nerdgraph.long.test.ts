import { describe, expect, it } from 'vitest';
import { presetNames } from '../../src/model/presets.ts';
import { operationNames } from '../../src/model/telemetry.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import {
  type Calls,
  callsIn,
  createPlanBench,
  type PrintedPlan,
  widestGapAt,
} from './plan-bench.ts';

const periodMinutes = 30;
/** Applications that share a batch come together in some intervals. */
const warmUpMinutes = 30;
/** A whole number of every interval here, so that the calls repeat themselves after it. */
const roundMinutes = 10;

const main =
  '{ name: main, base_url: "http://127.0.0.1/main", api_key_env: MAIN_KEY, source: nerdgraph, account_id: 1234567 }';

interface SetUp {
  readonly what: string;
  readonly apps: string;
  readonly fleet: FleetOptions;
  /** In half an hour: list_applications, application_metrics, host_metrics. */
  readonly calls: readonly [number, number, number];
  /** Calls of queries in half an hour. Default: none. */
  readonly queries?: number;
}

const five = [1, 2, 3, 4, 5].map(
  (id) => ({ id, name: `shop-${id}`, kind: 'both', hosts: id }) as const,
);

function manyAlike(count: number, hosts: number): FleetOptions['applications'] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `shop-${index + 1}`,
    kind: 'both',
    hosts,
  }));
}

function query(as: string, interval: string): string {
  return `{ as: ${as}, nrql: SELECT max(duration) FROM Transaction WHERE host = '${as}', interval: ${interval} }`;
}

function manyMetrics(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `{ metric: "Custom/${index}", value: average_value, as: custom_${index} }`,
  ).join(', ');
}

const setUps: readonly SetUp[] = [
  {
    what: 'applications by pattern',
    apps: '[{ match: "." }]',
    fleet: { applications: five },
    calls: [30, 30, 30],
  },
  {
    what: 'applications by id, one of which the account does not have',
    apps: '[{ id: 1 }, { id: 2 }, { id: 99 }]',
    fleet: { applications: five },
    calls: [30, 30, 30],
  },
  {
    what: 'windows that share no query',
    apps: '[{ id: 1, window: 10m }, { match: "shop" }]',
    fleet: { applications: five },
    calls: [30, 60, 60],
  },
  {
    what: 'intervals that share no query',
    apps: '[{ id: 1, hosts: false, interval: 2m }, { match: "shop", hosts: false }]',
    fleet: { applications: five },
    calls: [30, 45, 0],
  },
  {
    what: 'queries of two intervals beside applications',
    apps: `[{ match: "." }]\nqueries: [${query('a', '30s')}, ${query('b', '1m')}]`,
    fleet: { applications: five },
    calls: [30, 30, 30],
    queries: 90,
  },
  {
    what: 'hosts alone',
    apps: '[{ match: "shop", application: false }]',
    fleet: { applications: five },
    calls: [30, 0, 30],
  },
  {
    what: 'two pages, two batches, and more hosts than a query takes',
    apps: '[{ match: ".", interval: 5m, discovery_interval: 5m }]',
    fleet: { applications: manyAlike(350, 16) },
    calls: [12, 12, 18],
  },
  {
    what: 'all presets, as many calls as for throughput alone',
    apps: `[{ match: ".", metrics: [${presetNames.join(', ')}] }]`,
    fleet: { applications: five },
    calls: [30, 30, 30],
  },
  {
    what: 'all presets of two batches, as many calls as for throughput alone',
    apps: `[{ match: ".", metrics: [${presetNames.join(', ')}], interval: 5m, discovery_interval: 5m }]`,
    fleet: { applications: manyAlike(230, 2) },
    calls: [12, 12, 12],
  },
  {
    what: 'metrics that share no query',
    apps: '[{ id: 1, metrics: [apdex] }, { match: "shop" }]',
    fleet: { applications: five },
    calls: [30, 60, 60],
  },
  {
    what: 'a metric of applications alone',
    apps: '[{ match: ".", metrics: [{ metric: Apdex, value: score, as: shop_apdex, for: applications }] }]',
    fleet: { applications: five },
    calls: [30, 30, 0],
  },
  {
    what: 'more metrics than a query takes',
    apps: `[{ match: ".", metrics: [throughput, ${manyMetrics(31)}] }]`,
    fleet: { applications: five },
    calls: [30, 60, 60],
  },
];

/** Rates as the whole calls of some minutes. */
function callsOf(rates: Calls, minutes: number): Calls {
  const whole = operationNames.map((operation) => [
    operation,
    Math.round(rates[operation] * minutes * 1e6) / 1e6,
  ]);
  return Object.fromEntries(whole) as Calls;
}

/** What was announced for half an hour, and what was made in one. */
async function announcedAndMade(
  apps: string,
  fleet: FleetOptions,
): Promise<{ readonly announced: Calls; readonly made: Calls }> {
  const bench = createPlanBench(`accounts: [${main}]\napps: ${apps}`, { main: fleet });
  const vendor = bench.vendors.get('main');
  if (vendor === undefined) throw new Error('there is no account');
  expect(await bench.command('plan', '--online', '--output=json')).toBe(0);
  const plan = JSON.parse(bench.platform.stdout.text()) as PrintedPlan;
  await bench.daemon(async (daemon) => {
    await daemon.advance((warmUpMinutes + roundMinutes + periodMinutes) * minuteMs);
  });
  const searchMs = bench.platform.clock.monotonicMs() - (roundMinutes + periodMinutes) * minuteMs;
  const fromMs = widestGapAt(vendor, searchMs, searchMs + roundMinutes * minuteMs);
  const [account] = plan.accounts;
  if (account === undefined) throw new Error('there is no plan');
  return {
    announced: callsOf(account.sent_per_minute, periodMinutes),
    made: callsIn(vendor, fromMs, fromMs + periodMinutes * minuteMs),
  };
}

describe('plan --online of a NerdGraph account', () => {
  it.each(setUps)('announces exactly the calls that the daemon makes: $what', async (setUp) => {
    const { announced, made } = await announcedAndMade(setUp.apps, setUp.fleet);

    const [lists, applications, hosts] = setUp.calls;
    expect(made).toEqual({
      list_applications: lists,
      list_hosts: 0,
      application_metrics: applications,
      host_metrics: hosts,
      query: setUp.queries ?? 0,
    });
    expect(announced).toEqual(made);
  });
});
