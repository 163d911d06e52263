import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { SimulatedHost } from '../../src/simulator/simulated-application.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { callsIn } from './plan-bench.ts';

const apiKey = 'NRAK-SIDECAR';
const config = `
accounts: [{ name: main, base_url: "http://127.0.0.1/main", api_key_env: KEY, requests_per_minute: 30 }]
poll: { discovery_interval: 15m }
apps: [{ id: 1, hosts: self, application: false }]
`;

interface Plan {
  readonly accounts: readonly {
    readonly together: {
      readonly calls_per_minute: number;
      readonly start_calls: number;
      readonly fits: boolean;
    };
    readonly series: number;
  }[];
}

/** One application, a pod for each of its hosts, and one simulated account for all. */
class Fleet {
  readonly clock: FakeClock = createFakeClock();
  readonly vendor: Simulator;
  readonly #daemons: { readonly daemon: Daemon; readonly platform: FakePlatform }[] = [];
  readonly #running: Promise<void>[] = [];

  constructor(hosts: number) {
    const applications = [{ id: 1, name: 'shop', kind: 'both', hosts }] as const;
    this.vendor = createSimulator(
      { apiKeys: [apiKey], latencyMs: 100, fleet: { applications } },
      { clock: this.clock },
    );
  }

  hosts(): readonly SimulatedHost[] {
    return this.vendor.fleet
      .applications()
      .flatMap((application) => this.vendor.fleet.listedHosts(application));
  }

  machineOf(hostName: string): FakePlatform {
    const platform = createFakePlatform({
      env: { KEY: apiKey },
      files: { 'config.yaml': config },
      ownHostNames: [hostName],
      openTransport: async () => inMemoryTransport(this.vendor),
    });
    return { ...platform, clock: this.clock };
  }

  async plan(replicas: number): Promise<Plan> {
    const platform = this.machineOf('laptop');
    const args = ['plan', '--online', '-o', 'json', `--replicas=${replicas}`, 'config.yaml'];
    const state = { hasEnded: false };
    const ending = run(args, platform).finally(() => {
      state.hasEnded = true;
    });
    while (!state.hasEnded) await this.clock.advance(100);
    await ending;
    return JSON.parse(platform.stdout.text()) as Plan;
  }

  async start(hostName: string): Promise<void> {
    const platform = this.machineOf(hostName);
    const { config: loaded } = await loadConfig('config.yaml', platform);
    const daemon = await createDaemon(loaded, { platform, logger: createFakeLogger() });
    this.#daemons.push({ daemon, platform });
    this.#running.push(daemon.run(platform.stopSignal));
  }

  /** The series of New Relic data of all of them, without those of the account. */
  async series(): Promise<readonly string[]> {
    const pages = await Promise.all(
      this.#daemons.map(async ({ daemon }) =>
        Buffer.concat((await daemon.store.page()).identity).toString(),
      ),
    );
    return pages.flatMap((page) =>
      page.split('\n').filter((line) => line.startsWith('newrelic_application_')),
    );
  }

  async stop(): Promise<void> {
    for (const { platform } of this.#daemons) platform.stop();
    await this.clock.advance(0);
    await Promise.all(this.#running);
  }
}

function totalOf(calls: ReturnType<typeof callsIn>): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}

describe('sidecars, each with the host that it runs on', () => {
  it.each([1, 3, 10])('make exactly the calls that the plan for %d announces', async (replicas) => {
    const fleet = new Fleet(12);
    const [planned] = (await fleet.plan(replicas)).accounts;
    const startMs = fleet.clock.monotonicMs();
    for (const { name } of fleet.hosts().slice(0, replicas)) await fleet.start(name);
    await fleet.clock.advance(30_000);
    const atStart = callsIn(fleet.vendor, startMs, fleet.clock.monotonicMs());
    await fleet.clock.advance(60 * minuteMs);
    const fromMs = fleet.clock.monotonicMs();
    await fleet.clock.advance(150 * minuteMs);
    const later = callsIn(fleet.vendor, fromMs, fleet.clock.monotonicMs());
    await fleet.stop();

    expect(planned?.together).toMatchObject({
      calls_per_minute: expect.closeTo(replicas * (1 + 1 / 15), 9),
      start_calls: 3 * replicas,
      fits: true,
    });
    expect(totalOf(atStart)).toBe(planned?.together.start_calls);
    expect(later).toEqual({
      list_applications: 10 * replicas,
      list_hosts: 0,
      application_metrics: 0,
      host_metrics: 150 * replicas,
      query: 0,
    });
    expect(totalOf(later)).toBeCloseTo(150 * (planned?.together.calls_per_minute ?? 0), 6);
  });

  it('show every host exactly once, and nothing of the application', async () => {
    const fleet = new Fleet(10);
    for (const { name } of fleet.hosts()) await fleet.start(name);
    await fleet.clock.advance(minuteMs);
    const series = await fleet.series();
    await fleet.stop();

    const shown = series.map(
      (line) =>
        /^(\w+)\{.*host_name="([^"]*)",transaction_type="(\w+)"/u.exec(line)?.slice(1) ?? [],
    );
    const expected = fleet
      .hosts()
      .flatMap(({ name }) =>
        ['other', 'web'].map((type) => [
          'newrelic_application_host_requests_per_minute',
          name,
          type,
        ]),
      );
    const sorted = (rows: readonly (readonly string[])[]): readonly string[] =>
      rows.map((row) => row.join(' ')).toSorted();
    expect(sorted(shown)).toEqual(sorted(expected));
  });

  it('that all start at once, more than a minute of the key carries, have each its host in two', async () => {
    const fleet = new Fleet(400);
    for (const { name } of fleet.hosts()) await fleet.start(name);
    await fleet.clock.advance(2 * minuteMs);
    const series = await fleet.series();
    const fromMs = fleet.clock.monotonicMs();
    await fleet.clock.advance(minuteMs);
    const later = fleet.vendor.journal.entries(({ monotonicMs }) => monotonicMs >= fromMs);
    await fleet.stop();

    expect(new Set(series.map((line) => /host_id="(\d+)"/u.exec(line)?.[1])).size).toBe(400);
    expect(later.filter(({ status }) => status === 429)).toEqual([]);
    expect(later).toHaveLength(400);
  });

  it('that do not fit the key together are told so by the plan, with the number that does', async () => {
    const fleet = new Fleet(12);

    const plan = await fleet.plan(1000);

    expect(plan.accounts[0]?.together).toMatchObject({ fits: false, most_replicas: 937 });
  });
});
