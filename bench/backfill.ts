/** Long pasts, read by the built command from a simulator that is a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetOptions } from '../src/simulator/fleet-options.ts';
import { peakRssMb, processMs } from './cpu-time.ts';
import { accountOf, type Build, ofEach, programOf, startVendor, type Vendor } from './processes.ts';
import type { Row } from './table.ts';

const dayMs = 86_400_000;
const observedMs = 100;

/** What is read, and how. */
interface Past {
  readonly what: string;
  readonly days: number;
  readonly stepMinutes: number;
  readonly fleet: FleetOptions;
  readonly asked: object;
  readonly flags?: readonly string[];
}

const fleetOfHosts = {
  applications: 500,
  hosts: 10_000,
  kinds: ['both'],
  traffic: 'flat',
} as const;
/** A facet whose only value is so long. */
const longFacet = (letter: string): string =>
  `CASES(WHERE appName LIKE '%' AS '${letter.repeat(250)}') AS ${letter}`;

const dayOfHosts: Past = {
  what: `a day of ${fleetOfHosts.hosts} hosts`,
  days: 1,
  stepMinutes: 5,
  fleet: fleetOfHosts,
  asked: { apps: [{ match: '.' }] },
};

const longFacets = ['w', 'x', 'y', 'z'].map(longFacet).join(', ');
const quarterByMinute: Past = {
  what: '90 days by the minute, labels of 1000 characters',
  days: 90,
  stepMinutes: 1,
  fleet: { applications: 1, hosts: 1, kinds: ['web'], traffic: 'flat' },
  asked: {
    queries: [
      { as: 'calls', nrql: `SELECT count(*) FROM Transaction FACET ${longFacets} LIMIT 10` },
    ],
  },
  flags: ['--budget=3000'],
};

interface Run {
  readonly calls: number;
  readonly throttled: number;
  /** At least, says the plan: with a quarter of the usual budget. */
  readonly plannedMinutes: number;
  readonly minutes: number;
  readonly peakMb: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('.000Z', 'Z');
}

async function runIn(
  directory: string,
  build: Build,
  vendor: Vendor,
  { days, stepMinutes, asked, flags = [] }: Past,
): Promise<Run> {
  const [configFile, output] = [join(directory, 'config.yaml'), join(directory, 'past.om')];
  const account = accountOf(vendor, 'nerdgraph');
  await writeFile(configFile, JSON.stringify({ accounts: [account], ...asked }));
  const toMs = Math.floor(Date.now() / 300_000) * 300_000;
  const range = [`--from=${timeText(toMs - days * dayMs)}`, `--to=${timeText(toMs)}`];
  const how = [`--step=${stepMinutes}m`, ...flags, `--output=${output}`];
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    [programOf(build), 'backfill', configFile, ...range, ...how],
    {
      env: { ...process.env, BENCH_KEY: vendor.apiKeys[0] },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const kill = (): void => {
    child.kill();
  };
  process.once('exit', kill);
  let text = '';
  child.stderr.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const closed = once(child, 'close');
  let [peakMb, cpuMs] = [0, 0];
  while (child.exitCode === null && child.signalCode === null) {
    try {
      [peakMb, cpuMs] = [peakRssMb(child.pid ?? 0) || peakMb, processMs(child.pid ?? 0)];
    } catch {
      // It has just ended.
    }
    await pause(observedMs);
  }
  await closed;
  process.off('exit', kill);
  if (child.exitCode !== 0) throw new Error(`backfill ended with ${child.exitCode}: ${text}`);
  const { requests, violations } = await vendor.send('report');
  return {
    calls: requests,
    throttled: violations,
    plannedMinutes: Number(/^minutes: (\d+)/mu.exec(text.replaceAll(/(?<=\d),(?=\d)/gu, ''))?.[1]),
    minutes: (performance.now() - startMs) / 60_000,
    peakMb,
    cpuSeconds: cpuMs / 1000,
    megabytes: (await stat(output)).size / 1e6,
  };
}

async function runOf(build: Build, past: Past): Promise<Run> {
  const vendor = await startVendor({ fleet: past.fleet });
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    return await runIn(directory, build, vendor, past);
  } finally {
    vendor.stop();
    await rm(directory, { recursive: true });
  }
}

async function rowsOf(builds: readonly Build[], past: Past): Promise<readonly Row[]> {
  const runs = await ofEach(builds, async (build) => runOf(build, past));
  const row = (what: string, unit: string, valueOf: (run: Run) => number): Row => ({
    goal: '',
    what: `backfill of ${past.what}: ${what}`,
    unit,
    digits: 0,
    values: runs.map((run) => (run === undefined ? undefined : valueOf(run))),
  });
  return [
    row('calls', '', ({ calls }) => calls),
    row('minutes of budget', 'min', ({ plannedMinutes }) => plannedMinutes),
    row('minutes it took', 'min', ({ minutes }) => minutes),
    { ...row('429s', '', ({ throttled }) => throttled), limit: 0 },
    { ...row('peak RSS', 'MB', ({ peakMb }) => peakMb), limit: 300 },
    row('CPU', 's', ({ cpuSeconds }) => cpuSeconds),
    row('output', 'MB', ({ megabytes }) => megabytes),
  ];
}

export async function backfillBench(builds: readonly Build[]): Promise<readonly Row[]> {
  return rowsOf(builds, dayOfHosts);
}

export async function longBackfillBench(builds: readonly Build[]): Promise<readonly Row[]> {
  return rowsOf(builds, quarterByMinute);
}
