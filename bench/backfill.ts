/** A day of many hosts, read by the built command from a simulator that is a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { peakRssMb, processMs } from './cpu-time.ts';
import { accountOf, type Build, ofEach, programOf, startVendor, type Vendor } from './processes.ts';
import type { Row } from './table.ts';

const applications = 500;
const hosts = 10_000;
const dayMs = 86_400_000;
const stepMs = 300_000;
const observedMs = 100;

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

async function runIn(directory: string, build: Build, vendor: Vendor): Promise<Run> {
  const [configFile, output] = [join(directory, 'config.yaml'), join(directory, 'past.om')];
  const account = accountOf(vendor, 'nerdgraph');
  await writeFile(configFile, JSON.stringify({ accounts: [account], apps: [{ match: '.' }] }));
  const toMs = Math.floor(Date.now() / stepMs) * stepMs;
  const range = [`--from=${timeText(toMs - dayMs)}`, `--to=${timeText(toMs)}`, '--step=5m'];
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    [programOf(build), 'backfill', configFile, ...range, `--output=${output}`],
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

async function runOf(build: Build): Promise<Run> {
  const fleet = { applications, hosts, kinds: ['both'], traffic: 'flat' } as const;
  const vendor = await startVendor({ fleet });
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    return await runIn(directory, build, vendor);
  } finally {
    vendor.stop();
    await rm(directory, { recursive: true });
  }
}

export async function backfillBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const runs = await ofEach(builds, runOf);
  const row = (what: string, unit: string, valueOf: (run: Run) => number): Row => ({
    goal: '',
    what: `backfill of a day of ${hosts} hosts: ${what}`,
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
