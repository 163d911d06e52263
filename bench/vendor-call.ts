/**
 * CPU time of a call to New Relic at 1000 a minute, whole daemon without scrapes, beside a bare client that
 * sends and parses as many, all at the same time and each with a simulator of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { threadsMs } from './cpu-time.ts';
import {
  accountOf,
  type Build,
  pathOf,
  startDaemon,
  startVendor,
  type Vendor,
} from './processes.ts';
import { medianOf, type Row } from './table.ts';

const perMinute = 1000;
/** In which V8 optimizes what runs often. */
const warmUpSeconds = 30;
const windows = 3;
const windowSeconds = 15;

interface Client {
  readonly pid: number;
  readonly vendor: Vendor;
  readonly stop: () => unknown;
}

async function aVendor(): Promise<Vendor> {
  const fleet = { applications: 200, hosts: 2000, kinds: ['web', 'other', 'both'] } as const;
  return startVendor({ latencyMs: [80, 400], quotaPhaseMs: 23_000, fleet });
}

async function daemonOf(build: Build): Promise<Client> {
  const vendor = await aVendor();
  const account = accountOf(vendor, 'rest', { requests_per_minute: perMinute });
  const config = JSON.stringify({ accounts: [account], apps: [{ match: '.' }] });
  const { pid, stop } = await startDaemon(build, { config, apiKey: vendor.apiKeys[0] });
  return { pid, vendor, stop };
}

async function bareClient(): Promise<Client> {
  const vendor = await aVendor();
  const child: ChildProcess = spawn(
    process.execPath,
    [pathOf('vendor-call-process.js'), vendor.baseUrl, `${vendor.apiKeys[0]}`, `${perMinute}`],
    { stdio: 'ignore' },
  );
  return { pid: child.pid ?? 0, vendor, stop: () => child.kill() };
}

interface Cost {
  readonly usPerCall: number;
  readonly share: number;
}

async function measure({ pid, vendor }: Client): Promise<Cost> {
  const seen = async (): Promise<readonly [number, number, number]> => [
    performance.now(),
    threadsMs(pid),
    (await vendor.send('report')).requests,
  ];
  const [startMs, cpuBefore, callsBefore] = await seen();
  await pause(windowSeconds * 1000);
  const [endMs, cpuAfter, callsAfter] = await seen();
  const cpuMs = cpuAfter - cpuBefore;
  return {
    usPerCall: (1000 * cpuMs) / (callsAfter - callsBefore),
    share: (100 * cpuMs) / (endMs - startMs),
  };
}

export async function vendorCallBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const clients: Client[] = [];
  for (const build of builds) clients.push(await daemonOf(build));
  clients.push(await bareClient());
  await pause(warmUpSeconds * 1000);
  const costs = clients.map((): Cost[] => []);
  for (let window = 0; window < windows; window += 1) {
    const measured = await Promise.all(clients.map(measure));
    for (const [index, cost] of measured.entries()) costs[index]?.push(cost);
  }
  for (const { stop, vendor } of clients) {
    await stop();
    vendor.stop();
  }
  const each = (of: (cost: Cost) => number): readonly number[] =>
    costs.map((all) => medianOf(all.map(of)));
  const us = each(({ usPerCall }) => usPerCall);
  const shares = each(({ share }) => share).slice(0, builds.length);
  const peer = { name: 'bare undici', value: us.at(-1) ?? Number.NaN };
  const call = `a call at ${perMinute} a minute, whole daemon: CPU`;
  const values = us.slice(0, builds.length);
  return [
    { goal: 'P10', what: call, unit: 'us', digits: 0, values, peer, limit: 3 },
    {
      goal: 'P10',
      what: 'the same as a part of a core',
      unit: '%',
      digits: 2,
      values: shares,
      limit: 3,
    },
  ];
}
