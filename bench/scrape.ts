/**
 * What the answer to a scrape costs, without the socket: CPU time of the process and bytes, compressed,
 * for a small installation and for many series. Between two scrapes the daemon counts calls and polls,
 * as between two real ones. Last, what it costs when all of 10,000 applications begin to fail. Arguments: rounds, of which
 * the median counts, 7 if left out; scrapes of a round, 200 if left out.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Gauge, Registry } from 'prom-client';
import { createSeriesStore, type SeriesStore } from '../src/exposition/series-store.ts';
import { transactionTypes } from '../src/model/application.ts';
import { seriesOf } from '../src/model/polled-series.ts';
import type { AppSnapshot } from '../src/model/snapshot.ts';
import { createMetricsRoute } from '../src/server/metrics-route.ts';
import { createSelfMetrics, type SelfMetrics } from '../src/telemetry/self-metrics.ts';
import type { MirroredStatus } from '../src/telemetry/status-metrics.ts';
import { show, spreadOf } from './median.ts';

const rounds = Number(process.argv[2] ?? '7');
const scrapes = Number(process.argv[3] ?? '200');
const accounts = ['production', 'staging'];
const hostsOfApplication = 48;

const series = seriesOf(['throughput'], transactionTypes);

function statusOf(name: string): MirroredStatus {
  return {
    name,
    up: true,
    error: undefined,
    firstCycleEnded: true,
    applications: 10,
    hosts: 40,
    polledApplications: 10,
    budgetRequestsPerMinute: 800,
    demandRequestsPerMinute: 60,
    pollIntervalSeconds: 60,
    missingSelectors: [],
    missingMetrics: [],
    listedApplications: 0,
    lastDiscoveryMs: 0,
    key: { location: '', problem: undefined, sinceMs: 0, readMs: 0 },
    requestsInFlight: 1,
    backoffUntilMs: undefined,
  };
}

function anApplication(index: number, hosts: number): AppSnapshot {
  const throughput = [1000 + index, index];
  const names = Array.from({ length: hosts }, (_, host) => String(1_000_000 + index * 100 + host));
  return {
    account: 'production',
    application: {
      id: String(31_584_000 + index),
      name: `application ${index}`,
      language: 'java',
      healthStatus: 'green',
      reporting: true,
      lastReportedAtMs: undefined,
      summary: undefined,
      hostIds: names,
      instances: undefined,
    },
    hostsOnly: false,
    labels: { team: 'payments' },
    hostNames: new Map(),
    reading: {
      windowEndMs: 0,
      series,
      application: throughput,
      hosts: new Map(names.map((name) => [name, throughput])),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: 0,
  };
}

/** Applications with about a hundred series each. */
function aStore(applications: number): SeriesStore {
  const store = createSeriesStore({ nextTurn: async () => setImmediate() });
  for (let index = 0; index < applications; index += 1) {
    store.publish(anApplication(index, hostsOfApplication));
  }
  for (const account of accounts) store.accountUp(account, true);
  return store;
}

function someMetrics(store: SeriesStore): SelfMetrics {
  const metrics = createSelfMetrics(
    { version: 'bench', revision: 'bench', nodeVersion: process.version },
    {
      status: () => accounts.map(statusOf),
      seriesOf: (account) => store.seriesOf(account),
      droppedSeriesOf: () => 0,
      nextTurn: async () => setImmediate(),
    },
  );
  for (const account of accounts) {
    metrics.apiObserver(account);
    metrics.pollObserver(account);
  }
  return metrics;
}

interface Result {
  readonly cpuUs: number;
  readonly bytes: number;
}

type Scrape = () => Promise<number>;

async function measure(scrape: Scrape, times: number): Promise<Result> {
  let bytes = await scrape();
  const before = process.cpuUsage();
  for (let index = 0; index < times; index += 1) bytes = await scrape();
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / times, bytes };
}

function scrapesOf(store: SeriesStore): ReadonlyMap<string, Scrape> {
  const metrics = someMetrics(store);
  const api = metrics.apiObserver('production');
  const poll = metrics.pollObserver('production');
  const polled = (): void => {
    api.ended('host_metrics', '200', 0.2);
    poll.polled(2, true);
  };
  const failed = (): void => {
    api.ended('host_metrics', '503', 0.2);
    api.failed('host_metrics', 'server');
    poll.polled(2, false);
  };
  const route = createMetricsRoute({
    page: async () => store.page(),
    selfMetrics: async () => metrics.text(),
  });
  const asked = async (accept: string, encoding: string): Promise<number> => {
    const headers = { accept, 'accept-encoding': encoding };
    const { body } = await route({ headers } as IncomingMessage);
    return body.reduce((sum, { length }) => sum + length, 0);
  };
  const openMetrics = 'application/openmetrics-text';
  return new Map<string, Scrape>([
    ['text, gzip', async () => (polled(), asked('text/plain', 'gzip'))],
    ['OpenMetrics, gzip', async () => (polled(), asked(openMetrics, 'gzip'))],
    ['OpenMetrics, gzip, all fails', async () => (failed(), asked(openMetrics, 'gzip'))],
    ['OpenMetrics, plain', async () => (polled(), asked(openMetrics, 'identity'))],
  ]);
}

/** The same number of series in a gauge of prom-client, as most exporters have it. */
function promClientScrape(applications: number): Scrape {
  const registry = new Registry();
  const labelNames = ['account', 'app_id', 'app', 'host_id', 'transaction_type'];
  const gauge = new Gauge({ name: 'a_gauge', help: 'A gauge.', labelNames, registers: [registry] });
  for (let index = 0; index < applications; index += 1) {
    for (let host = 0; host < 2 * (hostsOfApplication + 1); host += 1) {
      const labels = { account: 'production', app_id: String(index), app: `application ${index}` };
      const type = host % 2 === 0 ? 'web' : 'other';
      gauge.set({ ...labels, host_id: String(host), transaction_type: type }, host);
    }
  }
  const compress = promisify(gzip);
  return async () => (await compress(await registry.metrics())).length;
}

type Results = ReadonlyMap<string, readonly Result[]>;

/** All of them in turns. */
async function run(all: ReadonlyMap<string, Scrape>, times: number): Promise<Results> {
  const results = new Map<string, Result[]>();
  for (const [name, scrape] of all) {
    await measure(scrape, Math.ceil(times / 2));
    results.set(name, []);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, scrape] of all) results.get(name)?.push(await measure(scrape, times));
  }
  return results;
}

function cpuUsOf(results: Results, name: string): number {
  return spreadOf((results.get(name) ?? []).map(({ cpuUs }) => cpuUs)).median;
}

function report(title: string, results: Results): void {
  process.stdout.write(`\nscrape: ${title}\n`);
  for (const [name, measured] of results) {
    const cpu = show(spreadOf(measured.map(({ cpuUs }) => cpuUs)), 0);
    const bytes = String(measured.at(-1)?.bytes).padStart(9);
    process.stdout.write(`  ${name.padEnd(30)} ${bytes} bytes  CPU us ${cpu}\n`);
  }
}

/** CPU milliseconds. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** What it costs when every poll of many applications fails, and what when all are well again. */
async function failingApplications(count: number): Promise<void> {
  const store = createSeriesStore({ nextTurn: async () => setImmediate() });
  const good = Array.from({ length: count }, (_, index) => anApplication(index, 1));
  const bad = good.map(
    (snapshot) => ({ ...snapshot, pollSucceeded: false, failureReason: 'timeout' }) as const,
  );
  for (const snapshots of [good, bad]) for (const one of snapshots) store.publish(one);
  process.stdout.write(`\nscrape: ${count} applications of one host\n`);
  for (const [name, snapshots] of [
    ['all well', good],
    ['all failing', bad],
  ] as const) {
    await store.page();
    const renders: number[] = [];
    const builds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const others = snapshots === good ? bad : good;
      for (const one of others) store.publish(one);
      await store.page();
      renders.push(await cpuMsOf(() => snapshots.forEach((one) => store.publish(one))));
      builds.push(await cpuMsOf(async () => store.page()));
    }
    const page = await store.page();
    process.stdout.write(
      `  ${name.padEnd(12)} ${store.seriesOf('production')} series, ${page.identity.length} bytes, ` +
        `${page.gzip.length} compressed; CPU ms to render all ${show(spreadOf(renders))}, ` +
        `to put the page together ${show(spreadOf(builds))}\n`,
    );
  }
}

const chosen = 'OpenMetrics, gzip';
process.stdout.write(`scrape: ${rounds} rounds of ${scrapes} scrapes, median (min to max)\n`);
const small = await run(scrapesOf(aStore(3)), scrapes);
report('2 accounts, 3 applications, about 300 series', small);

const ten = await run(
  new Map([...scrapesOf(aStore(100)), ['prom-client, gzip', promClientScrape(100)]]),
  Math.ceil(scrapes / 4),
);
report('10,000 series', ten);
const one = await run(scrapesOf(aStore(10)), scrapes);
report('1000 series', one);
const p1 = cpuUsOf(ten, chosen) / cpuUsOf(ten, 'prom-client, gzip');
const p4 = cpuUsOf(ten, chosen) / cpuUsOf(one, chosen);
process.stdout.write(
  `\n  P1 CPU, 10,000 series, compared with prom-client  1/${(1 / p1).toFixed(0)}, goal <= 1/150: ` +
    `${p1 <= 1 / 150 ? 'reached' : 'MISSED'}\n` +
    `  P4 CPU, 10,000 series compared with 1000          ${p4.toFixed(2)}, goal <= 1.25: ` +
    `${p4 <= 1.25 ? 'reached' : 'MISSED'}\n`,
);
await failingApplications(10_000);
