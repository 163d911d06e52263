import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/daemon.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const minuteMs = 60_000;
const requestsPerMinute = 990;

interface Scene {
  readonly applications: readonly ApplicationSpec[];
  readonly entries: readonly AppEntry[];
  readonly minutes: number;
  /** Applications whose metric calls are never answered. */
  readonly hanging?: ReadonlySet<number>;
  /** When they are answered again; never, if left out. */
  readonly recoverAfterMs?: number;
  /** What was before is not looked at. */
  readonly fromMs?: number;
}

interface Seen {
  /** For each application: the longest time between two publications of new values. */
  readonly longestGapMs: ReadonlyMap<string, number>;
  readonly stretch: number;
  readonly violations: number;
  readonly mostInFlight: number;
}

/** Runs a whole account on simulated time and watches when the values of each application are new. */
async function run(scene: Scene): Promise<Seen> {
  const platform = createFakePlatform({
    env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const { clock } = platform;
  const simulator: Simulator = createSimulator(
    {
      apiKeys: ['NRAK-TEST'],
      latencyMs: [80, 400],
      quotaPhaseMs: 23_000,
      fleet: { applications: scene.applications, traffic: 'flat' },
      intercept: (request) => {
        const hangs =
          request.path.includes('/metrics/') &&
          scene.hanging?.has(Number(request.applicationId)) === true &&
          clock.monotonicMs() < (scene.recoverAfterMs ?? Number.POSITIVE_INFINITY);
        return hangs ? 'handled' : 'pass';
      },
    },
    { clock },
  );
  const fromMs = scene.fromMs ?? 0;
  const lastMs = new Map<string, number>();
  const successes = new Map<string, number>();
  const longestGapMs = new Map<string, number>();
  const note = (id: string, nowMs: number): void => {
    if (nowMs < fromMs) return;
    const gapMs = nowMs - Math.max(fromMs, lastMs.get(id) ?? fromMs);
    longestGapMs.set(id, Math.max(longestGapMs.get(id) ?? 0, gapMs));
    lastMs.set(id, nowMs);
  };
  const daemon = await createDaemon(
    { accounts: [anAccount({ requestsPerMinute })], apps: scene.entries },
    {
      platform,
      logger: createFakeLogger(),
      watch: (sink) => ({
        remove: () => undefined,
        accountUp: () => undefined,
        removeAccount: () => undefined,
        publish: (snapshot) => {
          // A discovery publishes again what a poll has brought. All polls of a silent one bring the same.
          const { lastSuccessMs } = snapshot;
          const { id } = snapshot.application;
          if (lastSuccessMs !== undefined && successes.get(id) !== lastSuccessMs) {
            successes.set(id, lastSuccessMs);
            note(id, clock.monotonicMs());
          }
          sink.publish(snapshot);
        },
      }),
    },
  );

  const running = daemon.run(platform.stopSignal);
  await clock.advance(scene.minutes * minuteMs);
  const [status] = daemon.status();
  for (const { id } of simulator.fleet.applications()) {
    if (!(scene.hanging?.has(id) ?? false)) note(`${id}`, clock.monotonicMs());
  }
  platform.stop();
  await clock.advance(0);
  await running;
  return {
    longestGapMs,
    stretch: (status?.demandRequestsPerMinute ?? 0) / requestsPerMinute,
    violations: simulator.violations(),
    mostInFlight: simulator.journal.maxInFlight(),
  };
}

/** Ids `first`, `first + 1`, and so on; all of them report, so that each poll brings new values. */
function applicationsOf(count: number, hosts: number, first: number): ApplicationSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    id: first + index,
    name: `application ${first + index}`,
    hosts,
    kind: 'both',
  }));
}

function entryOf(pattern: RegExp, intervalMs: number): AppEntry {
  return anEntry({ selector: { kind: 'match', pattern }, poll: { intervalMs } });
}

function longestOf({ longestGapMs }: Seen, first: number, count: number): number {
  return Math.max(
    ...Array.from(
      { length: count },
      (_, index) => longestGapMs.get(`${first + index}`) ?? Infinity,
    ),
  );
}

describe('an application with 10,000 hosts', () => {
  it('makes none of a hundred small ones wait longer than 1.2 times demand / budget', async () => {
    const seen = await run({
      applications: [
        { id: 9000, name: 'giant', hosts: 10_000 },
        ...applicationsOf(40, 3, 1000),
        ...applicationsOf(40, 5, 2000),
        ...applicationsOf(20, 20, 3000),
      ],
      entries: [
        entryOf(/^giant$/u, minuteMs),
        entryOf(/ 1\d\d\d$/u, minuteMs / 2),
        entryOf(/ 2\d\d\d$/u, minuteMs),
        entryOf(/ 3\d\d\d$/u, 2 * minuteMs),
      ],
      minutes: 50,
      fromMs: 15 * minuteMs,
    });

    const limit = 1.2 * seen.stretch;
    const waits = {
      giant: longestOf(seen, 9000, 1) / minuteMs,
      everyHalfMinute: longestOf(seen, 1000, 40) / (minuteMs / 2),
      everyMinute: longestOf(seen, 2000, 40) / minuteMs,
      everyTwoMinutes: longestOf(seen, 3000, 20) / (2 * minuteMs),
    };
    expect(seen.violations).toBe(0);
    expect(waits.giant).toBeLessThan(limit);
    expect(waits.everyHalfMinute).toBeLessThan(limit);
    expect(waits.everyMinute).toBeLessThan(limit);
    expect(waits.everyTwoMinutes).toBeLessThan(limit);
  });
});

describe('applications whose every call hangs until its timeout', () => {
  it.each([
    { what: 'one', hanging: 1, healthy: 60 },
    { what: 'four', hanging: 4, healthy: 60 },
    { what: 'twelve', hanging: 12, healthy: 60 },
  ])('do not delay the others: $what', async ({ hanging, healthy }) => {
    const seen = await run({
      applications: [...applicationsOf(hanging, 10, 5000), ...applicationsOf(healthy, 10, 1000)],
      entries: [anEntry()],
      minutes: 20,
      hanging: new Set(Array.from({ length: hanging }, (_, index) => 5000 + index)),
      fromMs: 5 * minuteMs,
    });

    expect(longestOf(seen, 1000, healthy)).toBeLessThan(1.15 * minuteMs);
    expect(seen.mostInFlight).toBeLessThanOrEqual(8);
  });

  it('are polled again within two minutes when they are answered again', async () => {
    const hanging = Array.from({ length: 12 }, (_, index) => 5000 + index);

    const seen = await run({
      applications: [...applicationsOf(12, 10, 5000), ...applicationsOf(60, 10, 1000)],
      entries: [anEntry()],
      minutes: 15,
      hanging: new Set(hanging),
      recoverAfterMs: 10 * minuteMs,
      fromMs: 10 * minuteMs,
    });

    expect(longestOf(seen, 5000, 12)).toBeLessThan(2 * minuteMs);
    expect(longestOf(seen, 1000, 60)).toBeLessThan(1.15 * minuteMs);
  });
});
