import { expect } from 'vitest';
import type { TransactionType } from '../../src/model/application.ts';
import { type AppSnapshot, throughputIn } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import { CallCounter } from '../../src/simulator/call-counter.ts';
import type {
  SimulatedApplication,
  SimulatedHost,
} from '../../src/simulator/simulated-application.ts';
import type { FaultBench, Vendor } from './fault-bench.ts';

const windowMinutes = 5;
const windowMs = windowMinutes * minuteMs;
/** Values are held for `stale_after`, and a poll may take a while. */
const longestHeldMinutes = 20;
const vendorNames = { web: 'HttpDispatcher', other: 'OtherTransaction/all' } as const;

/**
 * What holds after every fault: the budget was kept and the quota never exceeded, no key is in any
 * output, every page is a valid exposition in which no series stands twice, and whatever was
 * published of an application describes one window, or none older than the one it names while parts fail.
 */
export function expectStandingInvariants(bench: FaultBench): void {
  for (const vendor of bench.vendors) {
    const { simulator, account, options } = vendor;
    const violations = options.quotaIsShared === true ? 0 : simulator.violations();
    expect(violations, 'requests over the quota').toBe(0);
    expect(simulator.journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(
      account.requestsPerMinute * (options.replicas ?? 1),
    );
    expect(halfPolls(bench, vendor).slice(0, 3)).toEqual([]);
  }
  expect(leaks(bench)).toEqual([]);
  // A page is among these only when the strict parser took it.
  expect(bench.pages.length).toBeGreaterThan(0);
}

/** Where time is simulated: the concurrency was kept, and the end left no timer and no call. */
export function expectNothingLeft({ vendors, platform }: FaultBench): void {
  for (const { simulator, account, options } of vendors) {
    const { replicas = 1 } = options;
    expect(simulator.journal.maxInFlight()).toBeLessThanOrEqual(account.concurrency * replicas);
    expect(simulator.inFlight()).toBe(0);
  }
  expect(platform.clock.pendingTimers()).toBe(0);
}

function leaks({ vendors, platform, pages, daemon }: FaultBench): readonly string[] {
  const outputs = [
    platform.stdout.text(),
    platform.stderr.text(),
    JSON.stringify(daemon.status()),
    ...pages,
  ];
  const secrets = vendors
    .flatMap(({ simulator }) => simulator.apiKeys)
    .flatMap((key) => [key, Buffer.from(key).toString('base64')]);
  return secrets.filter((secret) => outputs.some((text) => text.includes(secret)));
}

/** Readings with a value that the vendor would not give for the window that they are said to be of. */
function halfPolls({ published }: FaultBench, { account, simulator, faults }: Vendor): string[] {
  const forged = new Set(
    faults
      .hits()
      .filter(({ rule }) => rule.fault.kind === 'document')
      .map(({ request }) => request.applicationId),
  );
  // What is asked for is older than the vendor takes to count it.
  const counter = new CallCounter(
    { seed: 1, traffic: 'daily', ingestDelayMs: 0 },
    { wallMs: () => Number.MAX_SAFE_INTEGER },
  );
  return published
    .filter((snapshot) => snapshot.account === account.name)
    .filter(({ application }) => !forged.has(application.id))
    .flatMap((snapshot) => {
      const application = simulator.fleet.application(Number(snapshot.application.id));
      return application === undefined ? [] : foreignValues(snapshot, application, counter);
    });
}

function foreignValues(
  { reading, application: { id }, pollSucceeded }: AppSnapshot,
  application: SimulatedApplication,
  counter: CallCounter,
): string[] {
  const toMs = reading?.windowEndMs;
  if (reading === undefined || toMs === undefined) return [];
  // What is held after a failure may be older than what arrived since then.
  const later = pollSucceeded === true ? 0 : longestHeldMinutes;
  const ends = Array.from({ length: 1 + later }, (_, minute) => toMs + minute * minuteMs);
  const check = (
    throughput: ReadonlyMap<TransactionType, number>,
    host: SimulatedHost | undefined,
  ): string[] =>
    [...throughput].flatMap(([type, value]) => {
      const isOf = (endMs: number): boolean =>
        value ===
        counter.count(application, host, vendorNames[type], endMs - windowMs, endMs) /
          windowMinutes;
      if (ends.some(isOf)) return [];
      return [`${id}/${host?.name ?? ''} ${type} ${value} is not of the window until ${toMs}`];
    });
  return [
    ...check(throughputIn(reading), undefined),
    ...[...reading.hosts.keys()].flatMap((hostId) => {
      const host = hostOf(application, hostId);
      return host === undefined ? [] : check(throughputIn(reading, hostId), host);
    }),
  ];
}

/** In NerdGraph the name of a host is its id. */
function hostOf({ hosts }: SimulatedApplication, hostId: string): SimulatedHost | undefined {
  return hosts.get(Number(hostId)) ?? [...hosts.values()].find(({ name }) => name === hostId);
}
