import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

interface Run {
  readonly violations: number;
  readonly mostInAnyMinute: number;
  readonly mostInFlight: number;
  /** Calls sent after the first minute, per minute. */
  readonly perMinute: number;
  /** The longest time between two polls of one application, after its first. */
  readonly longestGapMs: number;
  readonly polledApplications: number;
  readonly status: { readonly pollIntervalSeconds: number; readonly demand: number };
}

/** Runs the whole account, from its poller to the vendor's quota, on simulated time. */
async function run(options: {
  readonly applications: number;
  readonly hosts: number;
  readonly requestsPerMinute: number;
  readonly minutes: number;
  readonly quotaPhaseMs: number;
}): Promise<Run> {
  const { requestsPerMinute, quotaPhaseMs, applications, hosts } = options;
  const { platform, simulator, daemon } = await aRunningDaemon(
    { accounts: [accountOne({ requestsPerMinute })], apps: [anEntry({ account: 'one' })] },
    {
      latencyMs: [80, 400],
      quotaPhaseMs,
      fleet: { applications, hosts, kinds: ['web', 'other', 'both'] },
    },
  );
  await platform.clock.advance(options.minutes * minuteMs);
  const [status] = daemon.status();

  const { journal } = simulator;
  const isPoll = ({ path }: { readonly path: string }): boolean =>
    /^\/v2\/applications\/\d+\/metrics\//u.test(path);
  const polls = new Map<string, number[]>();
  for (const { applicationId = '', monotonicMs } of journal.entries(isPoll)) {
    polls.set(applicationId, [...(polls.get(applicationId) ?? []), monotonicMs]);
  }
  const gaps = [...polls.values()].flatMap((times) => [
    ...times.slice(1).map((time, index) => time - (times[index] ?? 0)),
    platform.clock.monotonicMs() - (times.at(-1) ?? 0),
  ]);
  return {
    violations: simulator.violations(),
    mostInAnyMinute: journal.maxInAnyWindow(minuteMs),
    mostInFlight: journal.maxInFlight(),
    perMinute: journal.count(({ monotonicMs }) => monotonicMs >= minuteMs) / (options.minutes - 1),
    longestGapMs: Math.max(...gaps),
    polledApplications: polls.size,
    status: {
      pollIntervalSeconds: status?.pollIntervalSeconds ?? 0,
      demand: status?.demandRequestsPerMinute ?? 0,
    },
  };
}

describe('1.1 2.2 an account whose demand exceeds its budget', () => {
  it('polls 200 applications with 2000 hosts exactly at the budget, without a single 429', async () => {
    const result = await run({
      applications: 200,
      hosts: 2000,
      requestsPerMinute: 800,
      minutes: 30,
      quotaPhaseMs: 17_000,
    });

    expect(result.violations).toBe(0);
    expect(result.mostInAnyMinute).toBeLessThanOrEqual(800);
    expect(result.perMinute).toBeGreaterThan(800 * 0.99);
    expect(result.mostInFlight).toBeLessThanOrEqual(8);
    expect(result.polledApplications).toBe(200);
    expect(result.status.demand).toBe(2201);
    expect(result.longestGapMs).toBeLessThan((1.2 * minuteMs * 2201) / 800);
  });

  it('never draws a 429 a little below the vendor limit, whatever the phase of its windows', async () => {
    const results = [];
    for (const quotaPhaseMs of [0, 13_000, 31_000, 59_000]) {
      results.push(
        await run({
          applications: 50,
          hosts: 1500,
          requestsPerMinute: 990,
          minutes: 10,
          quotaPhaseMs,
        }),
      );
    }

    expect(results.map(({ violations }) => violations)).toEqual([0, 0, 0, 0]);
    expect(Math.min(...results.map(({ perMinute }) => perMinute))).toBeGreaterThan(985);
  });
});

describe('2.1 an account whose demand fits its budget', () => {
  it('polls every application in every interval', async () => {
    const result = await run({
      applications: 60,
      hosts: 300,
      requestsPerMinute: 800,
      minutes: 20,
      quotaPhaseMs: 0,
    });

    expect(result.violations).toBe(0);
    expect(result.status.pollIntervalSeconds).toBe(60);
    expect(result.longestGapMs).toBeLessThan(1.1 * minuteMs);
  });

  it('does so even when the demand takes nearly all of the budget', async () => {
    const result = await run({
      applications: 60,
      hosts: 640,
      requestsPerMinute: 800,
      minutes: 20,
      quotaPhaseMs: 0,
    });

    expect(result.violations).toBe(0);
    expect(result.status).toEqual({ demand: 701, pollIntervalSeconds: 60 });
    expect(result.longestGapMs).toBeLessThan(1.5 * minuteMs);
  });
});
