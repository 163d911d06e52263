import { describe, expect, it } from 'vitest';
import { presetNames } from '../../src/model/presets.ts';
import { operationNames } from '../../src/model/telemetry.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import {
  type Calls,
  callsIn,
  createPlanBench,
  type PlanBench,
  type PrintedPlan,
  widestGapAt,
} from './plan-bench.ts';

const periodMinutes = 30;
/** Applications that were polled together at the start reach their places in three intervals. */
const warmUpMinutes = 30;
/** A whole number of every interval here, so that the calls repeat themselves after it. */
const roundMinutes = 10;

const main = '{ name: main, base_url: "http://127.0.0.1/main", api_key_env: MAIN_KEY }';
const other = '{ name: other, base_url: "http://127.0.0.1/other", api_key_env: OTHER_KEY }';

interface SetUp {
  readonly what: string;
  readonly config: string;
  readonly fleets: Readonly<Record<string, FleetOptions>>;
  /** Calls in half an hour: list_applications, application_metrics, host_metrics. */
  readonly calls: Readonly<Record<string, readonly [number, number, number]>>;
  /** Calls that the plan itself takes, of each account. */
  readonly callsOfPlan: readonly number[];
  /** Of these, calls for the values of one application. Default: none. */
  readonly samplesOfPlan?: number;
}

const five = [1, 2, 3, 4, 5].map(
  (id) => ({ id, name: `shop-${id}`, kind: 'both', hosts: id }) as const,
);

/** Some metrics with names that are as long as New Relic allows, for the entries of a configuration. */
function longMetrics(count: number, scope: string): string {
  const metrics = Array.from({ length: count }, (_, index) => {
    const metric = `Custom/${index}/`.padEnd(255, 'x');
    return `{ metric: ${metric}, value: average_value, as: custom_${scope}_${index}, for: ${scope} }`;
  });
  return metrics.join(', ');
}

const setUps: readonly SetUp[] = [
  {
    what: 'applications by id, one of which the account does not have',
    config: `accounts: [${main}]\napps: [{ id: 1 }, { id: 2 }, { id: 99 }]`,
    fleets: { main: { applications: five } },
    calls: { main: [60, 60, 90] },
    // It looks for the missing id as often as the daemon does before it waits an hour.
    callsOfPlan: [4],
  },
  {
    what: 'applications by pattern',
    config: `accounts: [${main}]\napps: [{ match: "^shop-[1-4]" }]`,
    fleets: { main: { applications: five } },
    calls: { main: [30, 120, 300] },
    callsOfPlan: [1],
  },
  {
    what: 'all presets, which take no further call',
    config: `accounts: [${main}]
poll: { metrics: [throughput, response_time, errors, apdex, database, external, memory, cpu] }
apps: [{ match: "^shop-[1-4]" }]`,
    fleets: { main: { applications: five } },
    calls: { main: [30, 120, 300] },
    callsOfPlan: [1],
    samplesOfPlan: 1,
  },
  {
    what: 'more metrics than one call can ask for, of applications and of hosts',
    config: `accounts: [${main}]
poll: { host_names: false, metrics: [throughput, ${longMetrics(20, 'applications')}, ${longMetrics(40, 'hosts')}] }
apps: [{ match: "^shop-[1-4]" }]`,
    fleets: { main: { applications: five } },
    calls: { main: [30, 2 * 120, 4 * 300] },
    callsOfPlan: [1],
    samplesOfPlan: 2,
  },
  {
    what: 'metrics of applications alone, and of hosts alone',
    config: `accounts: [${main}]
apps:
  - { id: 4, metrics: [{ metric: Apdex, value: score, as: apdex, for: applications }] }
  - { id: 5, metrics: [{ metric: CPU/User Time, value: percent, as: cpu, for: hosts }] }`,
    fleets: { main: { applications: five } },
    calls: { main: [30, 30, 150] },
    callsOfPlan: [1],
  },
  {
    what: 'no host names',
    config: `accounts: [${main}]\npoll: { host_names: false }\napps: [{ match: "." }]`,
    fleets: { main: { applications: five } },
    calls: { main: [30, 150, 450] },
    callsOfPlan: [1],
  },
  {
    what: 'a list of two pages',
    config: `accounts: [${main}]\npoll: { interval: 10m, host_names: false }\napps: [{ match: "." }]`,
    fleets: { main: { applications: 250, hosts: 100, kinds: ['both'] } },
    calls: { main: [60, 750, 300] },
    callsOfPlan: [2],
  },
  {
    what: 'different intervals, and applications without hosts',
    config: `accounts: [${main}]
poll: { discovery_interval: 5m }
apps:
  - { name: shop-1, interval: 30s, hosts: false }
  - { id: 2, interval: 2m }
  - { id: 3, interval: 150s, transactions: [web] }
  - { match: "shop", interval: 5m, discovery_interval: 2m }`,
    fleets: { main: { applications: five } },
    calls: { main: [15, 60 + 15 + 12 + 12, 30 + 36 + 24 + 30] },
    callsOfPlan: [1],
  },
  {
    what: 'applications that do not report, in a short window and in a long one',
    config: `accounts: [${main}]\napps: [{ id: 6, window: 30m }, { match: "." }]`,
    fleets: {
      main: {
        applications: [
          ...five,
          { id: 6, name: 'quiet', kind: 'not_reporting' },
          { id: 7, name: 'silent', kind: 'not_reporting' },
        ],
      },
    },
    calls: { main: [30, 180, 450] },
    callsOfPlan: [1],
  },
  {
    what: 'two accounts',
    config: `accounts: [${main}, ${other}]
apps:
  - { match: ".", account: main }
  - { name: shop-5, account: other, interval: 5m }`,
    fleets: { main: { applications: five }, other: { applications: five } },
    calls: { main: [30, 150, 450], other: [30, 6, 30] },
    callsOfPlan: [1, 1],
  },
];

/** What the command prints, in a bench whose accounts nobody has asked for anything yet. */
async function planOf(
  bench: PlanBench,
): Promise<{ readonly exitCode: number; readonly plan: PrintedPlan }> {
  const exitCode = await bench.command('plan', '--online', '--output=json');
  return { exitCode, plan: JSON.parse(bench.platform.stdout.text()) as PrintedPlan };
}

describe('plan --online', () => {
  it.each(setUps)('announces exactly the calls that the daemon makes: $what', async (setUp) => {
    const bench = createPlanBench(setUp.config, setUp.fleets);

    const { exitCode, plan } = await planOf(bench);
    const planned = plan.accounts.map(({ account }) =>
      callsIn(vendorOf(bench, account), 0, Number.POSITIVE_INFINITY),
    );
    await bench.daemon(async (daemon) => {
      await daemon.advance((warmUpMinutes + roundMinutes + periodMinutes) * minuteMs);
    });
    const searchMs = bench.platform.clock.monotonicMs() - (roundMinutes + periodMinutes) * minuteMs;

    expect(exitCode).toBe(0);
    expect(plan.accounts.map(({ account }) => account)).toEqual(Object.keys(setUp.calls));
    for (const [index, { account, sent_per_minute: announced }] of plan.accounts.entries()) {
      const vendor = vendorOf(bench, account);
      const fromMs = widestGapAt(vendor, searchMs, searchMs + roundMinutes * minuteMs);
      const made = callsIn(vendor, fromMs, fromMs + periodMinutes * minuteMs);
      const [listCalls, applications, hosts] = setUp.calls[account] ?? [];
      const expected = {
        list_applications: listCalls,
        list_hosts: 0,
        application_metrics: applications,
        host_metrics: hosts,
        query: 0,
      };
      expect(made).toEqual(expected);
      expect(callsOf(announced, periodMinutes)).toEqual(made);
      expect(planned[index]).toEqual({
        list_applications: setUp.callsOfPlan[index],
        list_hosts: 0,
        // With several kinds of metrics one application is asked whether they come together.
        application_metrics: setUp.samplesOfPlan ?? 0,
        host_metrics: 0,
        query: 0,
      });
    }
  });

  it('announces the calls for host names, which are made once', async () => {
    const bench = createPlanBench(`accounts: [${main}]\napps: [{ match: "." }]`, {
      main: { applications: five },
    });

    const { plan } = await planOf(bench);
    await bench.daemon(async (daemon) => {
      await daemon.advance(30 * minuteMs);
    });

    expect(plan.accounts[0]?.host_name_calls).toBe(5);
    expect(callsIn(vendorOf(bench, 'main'), 0, 60 * minuteMs).list_hosts).toBe(5);
  });

  it('learns which metrics take a call of their own, and then demands what it sends', async () => {
    const bench = createPlanBench(
      `accounts: [${main}]\npoll: { metrics: [throughput, errors, apdex] }\napps: [{ match: "." }]`,
      { main: { applications: five } },
      0,
      [{ fault: { kind: 'first_metric_only', others: 'missing' } }],
    );
    const vendor = vendorOf(bench, 'main');
    let demand: number | undefined;

    await bench.daemon(async (daemon) => {
      await daemon.advance((warmUpMinutes + roundMinutes + periodMinutes) * minuteMs);
      demand = daemon.status()[0]?.demandRequestsPerMinute;
    });

    const searchMs = bench.platform.clock.monotonicMs() - (roundMinutes + periodMinutes) * minuteMs;
    const fromMs = widestGapAt(vendor, searchMs, searchMs + roundMinutes * minuteMs);
    const made = callsIn(vendor, fromMs, fromMs + periodMinutes * minuteMs);
    expect(made).toMatchObject({
      application_metrics: 3 * 150,
      host_metrics: 3 * 450,
    });
    expect(demand).toBeCloseTo(1 + 3 * 20, 1);
  });

  it('announces interval and calls of an account over its budget', async () => {
    const account = main.replace(' }', ', requests_per_minute: 60 }');
    const bench = createPlanBench(`accounts: [${account}]\napps: [{ match: "." }]`, {
      main: { applications: 10, hosts: 100, kinds: ['both'] },
    });
    const intervals = 10;

    const { exitCode, plan } = await planOf(bench);
    const planned = plan.accounts[0];
    const intervalMs = (planned?.intervals[0]?.effective_seconds ?? 0) * 1000;
    let intervalOfDaemon: number | undefined;
    await bench.daemon(async (daemon) => {
      // Without headroom applications move to their places slowly.
      await daemon.advance(6 * intervals * intervalMs);
      intervalOfDaemon = daemon.status()[0]?.pollIntervalSeconds;
    });
    const vendor = vendorOf(bench, 'main');
    const searchMs = bench.platform.clock.monotonicMs() - (intervals + 1) * intervalMs;
    const fromMs = widestGapAt(vendor, searchMs, searchMs + intervalMs);
    const made = callsIn(vendor, fromMs, fromMs + intervals * intervalMs);

    expect(exitCode).toBe(1);
    expect(intervalMs).toBeCloseTo((60_000 * 110) / (60 * 0.985 - 1), 3);
    expect(intervalOfDaemon).toBe(intervalMs / 1000);
    expect(planned?.demand_per_minute.total).toBe(111);
    expect(planned?.sent_per_minute.total).toBeCloseTo(60 * 0.985, 9);
    expect(made.application_metrics).toBe(10 * intervals);
    expect(made.host_metrics).toBe(100 * intervals);
    expect(made.list_applications).toBe(Math.round((intervals * intervalMs) / minuteMs));
  });

  it.each([
    { apps: 12, hosts: 48, budget: 800, interval: '60s' },
    { apps: 50, hosts: 600, budget: 800, interval: '60s' },
    { apps: 30, hosts: 30, budget: 60, interval: '60s' },
    { apps: 10, hosts: 100, budget: 60, interval: '60s' },
    { apps: 40, hosts: 400, budget: 300, interval: '5m' },
  ])(
    'knows to a third when all is there: $apps applications, $hosts hosts, $interval, $budget',
    async ({ apps, hosts, budget, interval }) => {
      const account = main.replace(' }', `, requests_per_minute: ${budget} }`);
      const bench = createPlanBench(
        `accounts: [${account}]\npoll: { interval: ${interval} }\napps: [{ match: "." }]`,
        { main: { applications: apps, hosts, kinds: ['both'] } },
        400,
      );

      const { plan } = await planOf(bench);
      const startMs = bench.platform.clock.monotonicMs();
      await bench.daemon(async (daemon) => {
        while (daemon.status()[0]?.firstCycleEnded !== true) await daemon.advance(200);
      });
      const tookSeconds = (bench.platform.clock.monotonicMs() - startMs) / 1000;

      const expected = plan.accounts[0]?.first_full_set_seconds ?? 0;
      expect(expected).toBeGreaterThan(tookSeconds / 1.33);
      expect(expected).toBeLessThan(tookSeconds * 1.33);
    },
  );

  it('knows the number of series', async () => {
    const bench = createPlanBench(
      `accounts: [${main}]\napps: [{ id: 404 }, { match: ".", transactions: [web] }]`,
      { main: { applications: five } },
    );

    const { plan } = await planOf(bench);
    let lines: readonly string[] = [];
    await bench.daemon(async (daemon) => {
      await daemon.advance(5 * minuteMs);
      lines = await daemon.series();
    });

    const isOwn = (line: string): boolean => /^(?:newrelic_exporter|process|nodejs)_/u.test(line);
    expect(plan.accounts[0]?.missing).toEqual(['id=404']);
    expect(plan.accounts[0]?.series).toBe(lines.filter((line) => !isOwn(line)).length);
    // Each kind of garbage collection that has happened so far has a histogram.
    const difference = Math.abs(plan.own_series - lines.filter(isOwn).length);
    expect(difference).toBeLessThan(plan.own_series / 10);
  });

  it.each([
    ['the REST API', main, 0],
    // An application and its hosts have no errors of one kind so far: five and twenty.
    ['NerdGraph', main.replace(' }', ', source: nerdgraph, account_id: 1234567 }'), 25],
  ])('knows the number of series with all metrics, from %s', async (_, account, mostUnseen) => {
    const bench = createPlanBench(
      `accounts: [${account}]\npoll: { metrics: [${presetNames.join(', ')}] }\napps: [{ match: "." }]`,
      { main: { applications: 5, hosts: 20, kinds: ['both'], traffic: 'flat' } },
    );

    const { plan } = await planOf(bench);
    let lines: readonly string[] = [];
    await bench.daemon(async (daemon) => {
      await daemon.advance(5 * minuteMs);
      lines = await daemon.series();
    });

    const fromNewRelic = lines.filter((line) => /^newrelic_(?:application|up)/u.test(line));
    expect(fromNewRelic.length).toBeGreaterThan(25 * 17);
    const unseen = (plan.accounts[0]?.series ?? Number.NaN) - fromNewRelic.length;
    expect(unseen).toBeGreaterThanOrEqual(0);
    expect(unseen).toBeLessThanOrEqual(mostUnseen);
  });
});

function vendorOf(bench: PlanBench, account: string): Simulator {
  const vendor = bench.vendors.get(account);
  if (vendor === undefined) throw new Error(`there is no account ${account}`);
  return vendor;
}

/** Rates as the whole calls of some minutes. */
function callsOf(rates: Calls, minutes: number): Calls {
  const whole = operationNames.map((operation) => [
    operation,
    Math.round(rates[operation] * minutes * 1e6) / 1e6,
  ]);
  return Object.fromEntries(whole) as Calls;
}
