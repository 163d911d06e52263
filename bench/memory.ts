/**
 * Memory of the built daemon with accounts of several sizes over NerdGraph, and whether the largest account
 * that New Relic allows is fresh.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type PresetName, presetNames } from '../src/model/presets.ts';
import { memoryMb } from './cpu-time.ts';
import {
  accountOf,
  type Build,
  type Daemon,
  ofEach,
  seriesIn,
  startDaemon,
  startVendor,
  until,
  type Vendor,
  valuesOf,
  wholePage,
} from './processes.ts';
import type { Row } from './table.ts';

interface Size {
  readonly applications: number;
  readonly hosts: number;
  /** `throughput` if it is left out. */
  readonly metrics?: readonly PresetName[];
  /** Megabytes that no file stands behind: what a further process of it costs. */
  readonly limit?: number;
}

/** The limits are for no series, 10,000 and 100,000. */
const sizes: readonly Size[] = [
  { applications: 1, hosts: 1, limit: 40 },
  { applications: 300, hosts: 1200 },
  { applications: 33, hosts: 660, metrics: presetNames, limit: 48 },
  { applications: 165, hosts: 3300, metrics: presetNames },
  { applications: 330, hosts: 6600, metrics: presetNames, limit: 140 },
];
const largest = { applications: 2500, hosts: 50_000 };
const scrapes = 15;
const scrapeMs = 1000;
const largestMinutes = 1.5;

async function vendorOf({ applications, hosts }: Size): Promise<Vendor> {
  return startVendor({
    latencyMs: [80, 400],
    fleet: { applications, hosts, kinds: ['both'], traffic: 'flat' },
  });
}

async function daemonOf(
  build: Build,
  vendor: Vendor,
  { metrics = ['throughput'] }: Size,
  watchesTurns: boolean,
): Promise<Daemon> {
  const apps = [{ match: '.', metrics }];
  const config = JSON.stringify({ accounts: [accountOf(vendor, 'nerdgraph')], apps });
  return startDaemon(build, { config, apiKey: vendor.apiKeys[0], watchesTurns });
}

interface Memory {
  readonly series: number;
  readonly rss: number;
  readonly anonymous: number;
}

/** After the first full set and some scrapes. */
async function memoryOf(build: Build, size: Size): Promise<Memory> {
  const vendor = await vendorOf(size);
  const daemon = await daemonOf(build, vendor, size, false);
  const page = await wholePage(daemon, { ...size, hosts: vendor.hostNames });
  for (let scrape = 0; scrape < scrapes; scrape += 1) {
    await pause(scrapeMs);
    await daemon.page('gzip');
  }
  const memory = memoryMb(daemon.pid);
  await daemon.stop();
  vendor.stop();
  return { series: seriesIn(page), ...memory };
}

function rowsOf(
  measured: readonly (Memory | undefined)[],
  { applications, hosts, limit }: Size,
): Row[] {
  const what = `${applications} applications, ${hosts} hosts, ${measured[0]?.series} series`;
  const shape = { unit: 'MB', digits: 0 } as const;
  const anonymous = measured.map((one) => one?.anonymous);
  const bound = limit === undefined ? { goal: '' } : { goal: 'P8', limit };
  return [
    { ...shape, ...bound, what: `${what}: without files`, values: anonymous },
    { ...shape, goal: '', what: 'the same: RSS', values: measured.map((one) => one?.rss) },
  ];
}

interface Largest {
  readonly firstSetSeconds: number;
  readonly oldestSeconds: number;
  readonly nrqlPerMinute: number;
  readonly rss: number;
  readonly turnMs: number;
  readonly firstTurnMs: number;
}

async function largestOf(build: Build): Promise<Largest> {
  const vendor = await vendorOf(largest);
  const daemon = await daemonOf(build, vendor, largest, true);
  await daemon.longestTurnMs();
  const startMs = performance.now();
  await until(
    'every application is polled',
    async () => ((await fetch(`${daemon.url}/-/ready`)).ok ? true : undefined),
    1000,
  );
  const firstSetSeconds = (performance.now() - startMs) / 1000;
  await wholePage(daemon, { ...largest, hosts: vendor.hostNames });
  const firstTurnMs = await daemon.longestTurnMs();
  const before = await vendor.send('report');
  const sinceMs = performance.now();
  let [oldestSeconds, rss] = [0, 0];
  while (performance.now() - sinceMs < largestMinutes * 60_000) {
    await pause(5000);
    const successes = valuesOf(
      await daemon.page(),
      'newrelic_application_last_success_timestamp_seconds',
    );
    const nowSeconds = Date.now() / 1000;
    oldestSeconds = Math.max(oldestSeconds, ...successes.map((one) => nowSeconds - one));
    rss = Math.max(rss, memoryMb(daemon.pid).rss);
  }
  const minutes = (performance.now() - sinceMs) / 60_000;
  const { nrql } = await vendor.send('report');
  const turnMs = await daemon.longestTurnMs();
  await daemon.stop();
  vendor.stop();
  const nrqlPerMinute = (nrql - before.nrql) / minutes;
  return { firstSetSeconds, oldestSeconds, nrqlPerMinute, rss, turnMs, firstTurnMs };
}

function largestRows(all: readonly (Largest | undefined)[]): readonly Row[] {
  const row = (what: string, unit: string, limit: number, of: (one: Largest) => number): Row => ({
    goal: 'P21',
    what: `NerdGraph, 50,000 hosts: ${what}`,
    unit,
    digits: 0,
    values: all.map((one) => (one === undefined ? undefined : of(one))),
    limit,
  });
  return [
    row('first full set', 's', 60, (one) => one.firstSetSeconds),
    row('oldest values', 's', 75, (one) => one.oldestSeconds),
    row('NRQL a minute', '', 100, (one) => one.nrqlPerMinute),
    row('RSS', 'MB', 700, (one) => one.rss),
    row('longest turn until the first set', 'ms', 100, (one) => one.firstTurnMs),
    row('longest turn afterwards', 'ms', 100, (one) => one.turnMs),
  ];
}

export async function memoryBench(builds: readonly Build[]): Promise<readonly Row[]> {
  // At the same time: what is resident does not depend on how busy the machine is.
  const measured = await Promise.all(
    sizes.map(async (size) =>
      rowsOf(await ofEach(builds, async (build) => memoryOf(build, size)), size),
    ),
  );
  return [...measured.flat(), ...largestRows(await ofEach(builds, largestOf))];
}
