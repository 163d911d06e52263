import { run } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createDaemon } from '../../src/daemon/accounts.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { type Operation, operationNames } from '../../src/model/telemetry.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import type { GraphqlAsk } from '../../src/simulator/graphql.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import { type EndpointKind, parseEndpoint } from '../../src/simulator/request.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

export type Calls = Readonly<Record<Operation, number>>;

/** As much of `plan --online -o json` as tests look at. */
export interface PrintedPlan {
  readonly fits: boolean;
  readonly own_series: number;
  readonly accounts: readonly {
    readonly account: string;
    readonly sent_per_minute: Calls & { readonly total: number };
    readonly demand_per_minute: { readonly total: number };
    readonly stretch: number;
    readonly intervals: readonly { readonly effective_seconds: number }[];
    readonly first_full_set_seconds: number;
    readonly host_name_calls: number;
    readonly missing: readonly string[];
    readonly series: number;
  }[];
}

/** Accounts of the configuration `config.yaml`, by name, on one machine with simulated time. */
export interface PlanBench {
  readonly platform: FakePlatform;
  readonly vendors: ReadonlyMap<string, Simulator>;
  /** Runs a command until it ends; gives its exit code. */
  command(...args: readonly string[]): Promise<number>;
  /** Runs the daemon for a while; what is asked for in between sees it running. */
  daemon(use: (daemon: RunningDaemon) => Promise<void>): Promise<void>;
}

export interface RunningDaemon {
  advance(ms: number): Promise<void>;
  status(): readonly AccountDetails[];
  /** The lines of the page that are series. */
  series(): Promise<readonly string[]>;
}

const operationsByEndpoint: Readonly<Record<EndpointKind, Operation | undefined>> = {
  applications: 'list_applications',
  hosts: 'list_hosts',
  application_metrics: 'application_metrics',
  host_metrics: 'host_metrics',
  application_metric_names: undefined,
  host_metric_names: undefined,
  graphql: undefined,
};

/** The key of the simulated account `name`; the variable for it is the name in capitals. */
function keyOf(name: string): string {
  return `NRAK-${name.toUpperCase()}`;
}

/** The account `name` has the base URL `http://127.0.0.1/name` and its key in `NAME_KEY`. */
export function createPlanBench(
  config: string,
  fleets: Readonly<Record<string, FleetOptions>>,
  latencyMs: number = 0,
  rules: readonly FaultRule[] = [],
): PlanBench {
  const platform = createFakePlatform({
    env: Object.fromEntries(
      Object.keys(fleets).map((name) => [`${name.toUpperCase()}_KEY`, keyOf(name)]),
    ),
    files: { 'config.yaml': config },
    openTransport: async ({ baseUrl }) => {
      const vendor = vendors.get(new URL(baseUrl).pathname.slice(1));
      if (vendor === undefined) throw new Error(`the test has no account at ${baseUrl}`);
      return inMemoryTransport(vendor);
    },
  });
  const { intercept } = createFaults(rules, { clock: platform.clock });
  const vendors = new Map(
    Object.entries(fleets).map(([name, fleet]) => [
      name,
      createSimulator(
        { apiKeys: [keyOf(name)], latencyMs, fleet, intercept },
        { clock: platform.clock },
      ),
    ]),
  );

  return {
    platform,
    vendors,
    command: async (...args) => {
      const state = { hasEnded: false };
      const ending = run([...args, 'config.yaml'], platform).finally(() => {
        state.hasEnded = true;
      });
      while (!state.hasEnded) await platform.clock.advance(100);
      return ending;
    },
    daemon: async (use) => {
      const { config: loaded } = await loadConfig('config.yaml', platform);
      const daemon = await createDaemon(loaded, { platform, logger: createFakeLogger() });
      const running = daemon.run(platform.stopSignal);
      await use({
        advance: async (ms) => platform.clock.advance(ms),
        status: () => daemon.status(),
        series: async () => {
          const { identity } = await daemon.store.page();
          const text = `${identity.toString()}${await daemon.metrics.text()}`;
          return text.split('\n').filter((line) => /^[a-z]/u.test(line));
        },
      });
      platform.stop();
      await platform.clock.advance(0);
      await running;
    },
  };
}

function operationOf({ path, graphql }: JournalEntry): Operation | undefined {
  const kind = parseEndpoint(path)?.kind;
  const [ask] = graphql?.asks ?? [];
  if (ask !== undefined) return graphqlOperationOf(ask);
  return kind === undefined ? undefined : operationsByEndpoint[kind];
}

function graphqlOperationOf({ operation, text }: GraphqlAsk): Operation {
  if (operation === 'entity_search') return 'list_applications';
  if (text.includes('FROM Transaction')) return 'query';
  if (text.includes('AS calls FROM Metric WHERE host IS NOT NULL')) return 'list_hosts';
  return text.includes('FACET appId, host') ? 'host_metrics' : 'application_metrics';
}

/** The calls in [fromMs, toMs) of the monotonic clock, by operation. */
export function callsIn(vendor: Simulator, fromMs: number, toMs: number): Calls {
  const calls = vendor.journal
    .entries(({ monotonicMs }) => monotonicMs >= fromMs && monotonicMs < toMs)
    .map(operationOf);
  const counts = operationNames.map((operation) => [
    operation,
    calls.filter((one) => one === operation).length,
  ]);
  return Object.fromEntries(counts) as Calls;
}

/** The middle of the longest time without a call that begins in [fromMs, toMs). */
export function widestGapAt(vendor: Simulator, fromMs: number, toMs: number): number {
  const times = vendor.journal.entries().map(({ monotonicMs }) => monotonicMs);
  let widestMs = 0;
  let middleMs = fromMs;
  for (const [index, time] of times.entries()) {
    const gapMs = (times[index + 1] ?? time) - time;
    if (time >= fromMs && time < toMs && gapMs > widestMs) {
      widestMs = gapMs;
      middleMs = time + gapMs / 2;
    }
  }
  return middleMs;
}
