import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import { withShard } from '../../src/daemon/sharding.ts';
import type { AccountSource, AppEntry } from '../../src/model/config.ts';
import { createOwnerOf, type Shard } from '../../src/model/shard.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { type FaultSource, sources } from '../faults/sources.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const apiKey = 'NRAK-TEST';
const smallFleet: FleetOptions = { applications: 30, hosts: 60, kinds: ['both'] };

interface Member {
  readonly daemon: Daemon;
  /** Ends it, as far as anybody else can see. */
  readonly stop: () => Promise<void>;
}

/** Several daemons on one clock and one account. */
interface Cluster {
  readonly clock: FakeClock;
  readonly simulator: Simulator;
  readonly start: (shard: Shard) => Promise<Member>;
}

interface ClusterOptions {
  readonly fleet?: FleetOptions;
  readonly budget?: number;
  readonly entries?: readonly AppEntry[];
  readonly source?: AccountSource;
  /** What goes wrong at New Relic. */
  readonly rules?: readonly FaultRule[];
  /** The shard that gets no list of applications from this time on. */
  readonly blind?: { readonly ordinal: number; readonly fromMs: number };
}

const allAndMissing = [anEntry(), anEntry({ selector: { kind: 'id', id: '999' } })];

function aCluster({
  fleet = smallFleet,
  budget = 300,
  entries = allAndMissing,
  source = { kind: 'rest', accountId: undefined },
  rules = [],
  blind,
}: ClusterOptions = {}): Cluster {
  const config = {
    accounts: [anAccount({ source, requestsPerMinute: budget })],
    apps: entries,
  };
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: 100,
      fleet,
      intercept: createFaults(rules, { clock }).intercept,
    },
    { clock },
  );
  /** Reaches New Relic, but is told nothing of what the account has. */
  const withoutLists = (transport: RawTransport): RawTransport => ({
    ...transport,
    send: async (request, headers, signal) => {
      const response = await transport.send(request, headers, signal);
      const isHidden =
        request.operation === 'list_applications' &&
        clock.monotonicMs() >= (blind?.fromMs ?? Number.POSITIVE_INFINITY);
      return isHidden ? { ...response, status: 500, body: '' } : response;
    },
  });
  return {
    clock,
    simulator,
    start: async (shard) => {
      const platform = {
        ...createFakePlatform({
          env: { NEW_RELIC_API_KEY: apiKey },
          openTransport: async () => {
            const transport = inMemoryTransport(simulator);
            return shard.ordinal === blind?.ordinal ? withoutLists(transport) : transport;
          },
        }),
        clock,
      };
      const logger = createFakeLogger();
      const daemon = await createDaemon(withShard(config, shard), { platform, logger });
      const running = daemon.run(platform.stopSignal);
      return {
        daemon,
        stop: async () => {
          platform.stop();
          await clock.advance(0);
          await running;
          await daemon.close();
        },
      };
    },
  };
}

/** The applications that each of them shows. */
async function shownBy(members: readonly Member[]): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    members.map(async ({ daemon }) => {
      const { identity } = await daemon.store.page();
      const lines = identity.toString().matchAll(/^newrelic_application_info\{.*app_id="(\d+)"/gmu);
      return [...lines].map(([, id = '']) => id);
    }),
  );
}

/** How often each application was asked for itself since a moment. */
function pollsSince(
  { simulator }: Cluster,
  sinceMs: number,
  source: FaultSource,
): ReadonlyMap<string, number> {
  const entries = simulator.journal.entries(({ monotonicMs }) => monotonicMs >= sinceMs);
  const counts = simulator.fleet
    .applications()
    .map(({ id }): [string, number] => [`${id}`, source.windowsOf(`${id}`, entries).length]);
  return new Map(counts.filter(([, count]) => count > 0));
}

function idsOf({ simulator }: Cluster): readonly string[] {
  return simulator.fleet
    .applications()
    .map(({ id }) => String(id))
    .toSorted();
}

describe.each(sources)('three shards with fixed numbers $name', (source) => {
  it('poll everything exactly once, within the one budget, and miss one entry together', async () => {
    const cluster = aCluster({ source: source.account });
    const members = await Promise.all(
      [0, 1, 2].map(async (ordinal) => cluster.start({ ordinal, total: 3 })),
    );
    await cluster.clock.advance(5 * minuteMs);
    const sinceMs = cluster.clock.monotonicMs();

    await cluster.clock.advance(10 * minuteMs);
    const shown = await shownBy(members);
    const missing = members.flatMap(({ daemon }) => daemon.status()[0]?.missingSelectors ?? []);
    const polls = pollsSince(cluster, sinceMs, source);
    for (const { stop } of members) await stop();

    expect(shown.every((ids) => ids.length >= 4)).toBe(true);
    expect(shown.flat().toSorted()).toEqual(idsOf(cluster));
    expect([...polls.keys()].toSorted()).toEqual(idsOf(cluster));
    expect(Math.max(...polls.values())).toBeLessThanOrEqual(11);
    expect(Math.min(...polls.values())).toBeGreaterThanOrEqual(9);
    expect(cluster.simulator.journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(300);
    expect(missing).toEqual(['id=999']);
  });

  it('go on undisturbed when one of them dies', async () => {
    const cluster = aCluster({ source: source.account });
    const members = await Promise.all(
      [0, 1, 2].map(async (ordinal) => cluster.start({ ordinal, total: 3 })),
    );
    await cluster.clock.advance(5 * minuteMs);
    const before = await shownBy(members);
    await members[1]?.stop();
    const sinceMs = cluster.clock.monotonicMs();

    await cluster.clock.advance(10 * minuteMs);
    const alive = members.filter((_, index) => index !== 1);
    const after = await shownBy(alive);
    const polls = pollsSince(cluster, sinceMs + minuteMs, source);
    for (const { stop } of alive) await stop();

    expect(after).toEqual([before[0], before[2]]);
    expect([...polls.keys()].toSorted()).toEqual(after.flat().toSorted());
    expect(Math.max(...polls.values())).toBeLessThanOrEqual(10);
  });
});

/** The ids of an application of each of two shards. */
function oneOfEach(): readonly [number, number] {
  const ownerOf = createOwnerOf(2);
  const first = (ordinal: number): number => {
    for (let id = 101; ; id += 1) if (ownerOf(`${id}`) === ordinal) return id;
  };
  return [first(0), first(1)];
}

/** The most calls of both in any minute of an hour, and what each may send. */
async function anHourOfTwo(
  options: Omit<ClusterOptions, 'fleet' | 'entries'>,
  hosts: readonly [number, number],
) {
  const ids = oneOfEach();
  const applications = ids.map((id, at) => ({
    id,
    name: `app-${at}`,
    kind: 'both' as const,
    hosts: hosts[at] ?? 0,
  }));
  const entries = ids.map((id, at) =>
    anEntry({
      selector: { kind: 'id', id: `${id}` },
      poll: { ...often, metrics: at === 0 ? presets : ['throughput'] },
    }),
  );
  const cluster = aCluster({ ...options, entries, fleet: { applications } });
  const members = await Promise.all(
    [0, 1].map(async (ordinal) => cluster.start({ ordinal, total: 2 })),
  );
  await cluster.clock.advance(60 * minuteMs);
  const [one, two] = members.map(({ daemon }) => daemon.status()[0]);
  for (const { stop } of members) await stop();
  return {
    most: cluster.simulator.journal.maxInAnyWindow(minuteMs),
    shares: [one?.budgetRequestsPerMinute, two?.budgetRequestsPerMinute],
    intervals: [one?.pollIntervalSeconds ?? 0, two?.pollIntervalSeconds ?? 0] as const,
  };
}

const often = { intervalMs: 30_000, discoveryIntervalMs: 10 * minuteMs };
const presets = ['memory', 'errors', 'apdex', 'throughput', 'response_time'] as const;

describe('1.2 two shards of which one needs much more than the other', () => {
  it.each(sources)('never send more than the budget together $name', async ({ account }) => {
    const budget = account.kind === 'rest' ? 121 : 13;

    const { most, shares } = await anHourOfTwo({ budget, source: account }, [200, 4]);

    expect(shares).toEqual([Math.floor(budget / 2), Math.floor(budget / 2)]);
    expect(most).toBeLessThanOrEqual(budget);
  });

  it('stretch the intervals of that one alone', async () => {
    const { intervals } = await anHourOfTwo({ budget: 120 }, [200, 4]);

    expect(intervals[0]).toBeGreaterThan(200);
    expect(intervals[1]).toBe(30);
  });
});

describe('two shards of an account that answers for the first of several metrics only', () => {
  it('never send more than the budget together, though only one of them learns of it', async () => {
    const trap: FaultRule = { fault: { kind: 'first_metric_only', others: 'missing' } };

    const { most, shares } = await anHourOfTwo({ budget: 120, rules: [trap] }, [40, 40]);

    expect(shares).toEqual([60, 60]);
    expect(most).toBeLessThanOrEqual(120);
  });
});

/** What the account has from one minute on: so many applications, and hosts of each. */
interface Change {
  readonly minutes: number;
  readonly applications: number;
  readonly hosts: number;
}

const changes: fc.Arbitrary<Change> = fc.record({
  minutes: fc.integer({ min: 1, max: 4 }),
  applications: fc.integer({ min: 0, max: 12 }),
  hosts: fc.constantFrom(0, 3, 40, 120),
});

function follow({ simulator: { fleet } }: Cluster, { applications, hosts }: Change): void {
  const [kept, ...others] = fleet.applications();
  for (const { id } of others.slice(applications)) fleet.removeApplication(id);
  for (let index = others.length; index < applications; index += 1) {
    fleet.addApplication({ kind: 'both', hosts });
  }
  if (kept !== undefined && hosts > 0) fleet.addHost(kept.id, { name: `web-${hosts}` });
}

describe('1.2 shards of an account in which applications and hosts come and go all the time', () => {
  it('never send more than the budget in any minute, all together', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 5 }),
        fc.constantFrom(40, 100),
        fc.constantFrom<AppEntry['hosts'][]>(
          true,
          { kind: 'match', pattern: /^web|[02468]$/u },
          { kind: 'self', names: ['web-40'] },
        ),
        fc.array(fc.nat(50), { minLength: 5, maxLength: 5 }),
        fc.array(changes, { minLength: 2, maxLength: 6 }),
        fc.constantFrom(...sources.map(({ account }) => account)),
        fc.boolean(),
        async (total, budget, hosts, pauses, course, source, isBlind) => {
          const cluster = aCluster({
            fleet: { applications: 6, hosts: 30, kinds: ['both'] },
            budget,
            entries: [anEntry({ hosts })],
            source,
            ...(isBlind ? { blind: { ordinal: 1, fromMs: 3 * minuteMs } } : {}),
          });
          const members: Member[] = [];
          for (let ordinal = 0; ordinal < total; ordinal += 1) {
            members.push(await cluster.start({ ordinal, total }));
            await cluster.clock.advance(1000 * (pauses[ordinal] ?? 0));
          }
          for (const change of course) {
            follow(cluster, change);
            await cluster.clock.advance(change.minutes * minuteMs);
          }
          // One shard may see nothing of that for hours.
          await cluster.clock.advance((isBlind ? 120 : 4) * minuteMs);
          for (const { stop } of members) await stop();

          const { journal } = cluster.simulator;
          expect(journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(budget);
        },
      ),
      { numRuns: Number(process.env['FC_RUNS'] ?? 12), seed: Number(process.env['FC_SEED'] ?? 9) },
    );
  });
});
