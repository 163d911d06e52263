/**
 * P1: CPU time of an answer to a scrape, compressed, compared with that of prom-client with as many
 * series: once while New Relic's series are as they were at the scrape before, and once after all of them
 * have changed. Then the longest turn of the event loop with very many series, while each application is
 * published in a turn of its own and while the page is put together: P16. Calls and polls are counted
 * between two scrapes, as between two real ones. Without the socket. Argument: rounds, of which the
 * median counts, 5 if left out.
 */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Gauge, Registry } from 'prom-client';
import { createSeriesStore, type SeriesStore } from '../src/exposition/series-store.ts';
import { transactionTypes } from '../src/model/application.ts';
import { seriesOf, type Values } from '../src/model/polled-series.ts';
import { presetNames } from '../src/model/presets.ts';
import type { AppSnapshot } from '../src/model/snapshot.ts';
import { createMetricsRoute } from '../src/server/metrics-route.ts';
import { createSelfMetrics } from '../src/telemetry/self-metrics.ts';
import { anApplication } from '../test/support/builders.ts';
import { anAccountStatus } from '../test/telemetry/account-status.ts';
import { show, spreadOf } from './median.ts';
import { createTurns } from './turns.ts';

const rounds = Number(process.argv[2] ?? '5');
const goals = { ratio: 1 / 5, turnMs: 100 };
const account = 'production';
const presets = { throughput: ['throughput'], 'all presets': presetNames } as const;

interface Fleet {
  readonly applications: number;
  readonly hostsEach: number;
  readonly metrics: keyof typeof presets;
}

const turns = createTurns();
const series = {
  throughput: seriesOf(presets.throughput, transactionTypes),
  'all presets': seriesOf(presets['all presets'], transactionTypes),
};

/** Three digits, as New Relic rounds values. */
function valueOf(index: number): number {
  return (index % 1000) / 10;
}

/** All applications, with other values in each round. */
function snapshotsOf({ applications, hostsEach, metrics }: Fleet, round: number): AppSnapshot[] {
  const own = series[metrics];
  const valuesOf = (index: number): Values =>
    own.map((_, place) => valueOf(round * 7919 + index * 31 + place));
  return Array.from({ length: applications }, (_, index) => {
    const first = 500_000_000 + index * hostsEach;
    const hostIds = Array.from({ length: hostsEach }, (__, host) => String(first + host));
    return {
      account,
      application: anApplication({ id: String(10_000_000 + index), name: `application ${index}` }),
      hostsOnly: false,
      labels: {},
      hostNames: new Map(hostIds.map((id) => [id, `web-${id}-7d9f8b6c5d-x2k4q`])),
      reading: {
        windowEndMs: round * 60_000,
        series: own,
        application: valuesOf(index),
        hosts: new Map(hostIds.map((id, host) => [id, valuesOf(index + host)])),
      },
      pollSucceeded: true,
      failureReason: undefined,
      lastSuccessMs: round * 60_000,
    };
  });
}

function aStore(): SeriesStore {
  return createSeriesStore({ nextTurn: async () => turns.tick() });
}

/** Bytes of the answer. */
type Scrape = () => Promise<number>;

function scrapeOf(store: SeriesStore): Scrape {
  const metrics = createSelfMetrics(
    { version: 'bench', revision: 'bench', nodeVersion: process.version },
    {
      status: () => [anAccountStatus({ name: account })],
      seriesOf: (name) => store.seriesOf(name),
      droppedSeriesOf: () => 0,
    },
  );
  const api = metrics.apiObserver(account);
  const poll = metrics.pollObserver(account);
  const route = createMetricsRoute({
    page: async () => store.page(),
    selfMetrics: async () => metrics.text(),
  });
  const request = new IncomingMessage(new Socket());
  request.headers.accept = 'application/openmetrics-text';
  request.headers['accept-encoding'] = 'gzip';
  return async () => {
    api.ended('host_metrics', '200', 0.2);
    poll.polled(2, true);
    const { body } = await route(request);
    return body.reduce((sum, { length }) => sum + length, 0);
  };
}

/** As many series in a gauge of prom-client, as most exporters have them. */
function promClientScrape(count: number): Scrape {
  const registry = new Registry();
  const labelNames = ['account', 'app_id', 'app', 'host_id', 'transaction_type'];
  const gauge = new Gauge({ name: 'a_gauge', help: 'A gauge.', labelNames, registers: [registry] });
  for (let index = 0; index < count; index += 1) {
    const app = Math.floor(index / 100);
    const labels = { account, app_id: String(10_000_000 + app), app: `application ${app}` };
    const type = index % 2 === 0 ? 'web' : 'other';
    gauge.set(
      { ...labels, host_id: String(500_000_000 + index), transaction_type: type },
      valueOf(index),
    );
  }
  const compress = promisify(gzip);
  return async () => (await compress(await registry.metrics())).length;
}

/** CPU time of all threads, in milliseconds. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const verdict = (isReached: boolean): string => (isReached ? 'reached' : 'MISSED');

/** What a scrape costs, with so many series. */
async function compareScrapes(fleet: Fleet): Promise<void> {
  const store = aStore();
  const scrape = scrapeOf(store);
  const publish = (round: number): void => {
    for (const snapshot of snapshotsOf(fleet, round)) store.publish(snapshot);
  };
  publish(0);
  const count = store.seriesOf(account);
  const reference = promClientScrape(count);
  const times = { unchanged: [] as number[], changed: [] as number[], reference: [] as number[] };
  const bytes = { ours: await scrape(), reference: await reference() };
  const repeated = 20;
  for (let round = 1; round <= rounds; round += 1) {
    publish(round);
    times.changed.push(await cpuMsOf(scrape));
    const again = await cpuMsOf(async () => {
      for (let index = 0; index < repeated; index += 1) await scrape();
    });
    times.unchanged.push(again / repeated);
    times.reference.push(await cpuMsOf(reference));
  }
  const all = spreadOf(times.reference);
  print(`\nscrape: ${count} series of ${fleet.applications} applications, CPU ms`);
  print(`  prom-client       ${show(all, 2)}, ${bytes.reference} bytes`);
  for (const name of ['unchanged', 'changed'] as const) {
    const ours = spreadOf(times[name]);
    const ratio = ours.median / all.median;
    print(
      `  ours, ${name.padEnd(10)}  ${show(ours, 2)}, ${bytes.ours} bytes; ` +
        `P1 1/${(1 / ratio).toFixed(1)}, goal <= 1/${1 / goals.ratio}: ${verdict(ratio <= goals.ratio)}`,
    );
  }
}

/** The longest turns while all applications are published anew and while the page is put together. */
async function watchTurns(fleet: Fleet): Promise<void> {
  const store = aStore();
  const times = { publish: [] as number[], page: [] as number[], cpu: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const snapshots = snapshotsOf(fleet, round);
    await turns.tick();
    turns.longestMs();
    for (const one of snapshots) {
      store.publish(one);
      await turns.tick();
    }
    const publish = turns.longestMs();
    const cpu = await cpuMsOf(async () => store.page());
    await turns.tick();
    const page = turns.longestMs();
    // What runs for the first time is not optimized yet.
    if (round === 0) continue;
    times.publish.push(publish);
    times.page.push(page);
    times.cpu.push(cpu);
  }
  const { identity } = await store.page();
  const longest = Math.max(spreadOf(times.publish).median, spreadOf(times.page).median);
  print(
    `  ${fleet.applications} of ${fleet.hostsEach}, ${fleet.metrics}: ${store.seriesOf(account)} series, ${(identity.length / 1e6).toFixed(1)} MB; ` +
      `publish ${show(spreadOf(times.publish))}, page ${show(spreadOf(times.page))}, page in all ${show(spreadOf(times.cpu), 0)}; ` +
      `P16 goal <= ${goals.turnMs}: ${verdict(longest <= goals.turnMs)}`,
  );
}

print(`scrape: median of ${rounds} rounds (min to max)`);
for (const applications of [100, 1000]) {
  await compareScrapes({ applications, hostsEach: 48, metrics: 'throughput' });
}
print('\nscrape: applications of so many hosts; longest turn in ms of CPU');
for (const metrics of ['throughput', 'all presets'] as const) {
  await watchTurns({ applications: 10_000, hostsEach: 1, metrics });
  await watchTurns({ applications: 1, hostsEach: 10_000, metrics });
}
