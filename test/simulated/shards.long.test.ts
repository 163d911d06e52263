import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDaemon, type Daemon } from '../../src/daemon/daemon.ts';
import { withShard } from '../../src/daemon/sharding.ts';
import type { AccountSource, AppEntry } from '../../src/model/config.ts';
import type { Shard } from '../../src/model/shard.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { type FaultSource, sources } from '../faults/sources.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const minuteMs = 60_000;
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

function aCluster(
  fleet: FleetOptions = smallFleet,
  budget = 300,
  hosts: AppEntry['hosts'] = true,
  source: AccountSource = { kind: 'rest', accountId: undefined },
): Cluster {
  const config = {
    accounts: [anAccount({ source, requestsPerMinute: budget })],
    apps: [anEntry({ hosts }), anEntry({ selector: { kind: 'id', id: '999' } })],
  };
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: 100,
      fleet,
    },
    { clock },
  );
  return {
    clock,
    simulator,
    start: async (shard) => {
      const platform = {
        ...createFakePlatform({
          env: { NEW_RELIC_API_KEY: apiKey },
          openTransport: async () => inMemoryTransport(simulator),
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
    const cluster = aCluster(smallFleet, 300, true, source.account);
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
    const cluster = aCluster(smallFleet, 300, true, source.account);
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

describe('shards with one large application', () => {
  it('stretch all intervals alike, as one process with the whole budget would', async () => {
    const applications = [
      { id: 1, name: 'large', kind: 'both', hosts: 400 } as const,
      ...Array.from(
        { length: 20 },
        (_, index) => ({ id: index + 2, name: `small-${index}`, kind: 'both', hosts: 4 }) as const,
      ),
    ];
    const budget = 200;
    const cluster = aCluster({ applications }, budget);
    const members = await Promise.all(
      [0, 1, 2].map(async (ordinal) => cluster.start({ ordinal, total: 3 })),
    );
    await cluster.clock.advance(20 * minuteMs);
    const intervals = members.map(({ daemon }) => daemon.status()[0]?.pollIntervalSeconds ?? 0);
    const budgets = members.map(({ daemon }) => daemon.status()[0]?.budgetRequestsPerMinute ?? 0);
    for (const { stop } of members) await stop();

    const demand = 401 + 20 * 5;
    const stretches = intervals.map((seconds) => seconds / 60);
    expect(Math.min(...stretches)).toBeGreaterThan(demand / budget);
    expect(Math.max(...stretches)).toBeLessThan(1.1 * (demand / budget));
    expect(budgets.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(budget);
    expect(cluster.simulator.journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(budget);
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

describe('shards of an account in which applications and hosts come and go all the time', () => {
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
        async (total, budget, hosts, pauses, course, source) => {
          const fleet: FleetOptions = { applications: 6, hosts: 30, kinds: ['both'] };
          const cluster = aCluster(fleet, budget, hosts, source);
          const members: Member[] = [];
          for (let ordinal = 0; ordinal < total; ordinal += 1) {
            members.push(await cluster.start({ ordinal, total }));
            await cluster.clock.advance(1000 * (pauses[ordinal] ?? 0));
          }
          for (const change of course) {
            follow(cluster, change);
            await cluster.clock.advance(change.minutes * minuteMs);
          }
          await cluster.clock.advance(4 * minuteMs);
          for (const { stop } of members) await stop();

          const { journal } = cluster.simulator;
          expect(journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(budget);
        },
      ),
      { numRuns: Number(process.env['FC_RUNS'] ?? 12), seed: Number(process.env['FC_SEED'] ?? 9) },
    );
  });
});
