/**
 * The page of many applications or hosts in a process of its own: what it costs to render all of them
 * again and to put the page together. Arguments: applications, hosts of each, the metrics as a list with
 * commas, rounds. Sends what it has measured.
 */
import { createSeriesStore } from '../src/exposition/series-store.ts';
import { transactionTypes } from '../src/model/application.ts';
import { seriesOf, type Values } from '../src/model/polled-series.ts';
import { presetNames } from '../src/model/presets.ts';
import type { AppSnapshot } from '../src/model/snapshot.ts';
import { anApplication } from '../test/support/builders.ts';
import { spreadOf } from './median.ts';
import { createTurns } from './turns.ts';

export interface LargePage {
  readonly series: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** CPU time of all threads. */
  readonly renderMs: number;
  readonly pageMs: number;
  /** The longest turn of the event loop while all is rendered, each application in a turn of its own. */
  readonly renderTurnMs: number;
  readonly pageTurnMs: number;
  /** What the rendered applications and the page take, after a garbage collection. */
  readonly retainedBytes: number;
  /** What is resident at most, beyond what was before the first application was rendered. */
  readonly peakBytes: number;
}

const [applications = '500', hostsEach = '20', list = 'throughput', rounds = '5'] =
  process.argv.slice(2);
const series = seriesOf(
  presetNames.filter((name) => list.split(',').includes(name)),
  transactionTypes,
);

function valuesOf(round: number, index: number): Values {
  return series.map((_, place) => (round * 7919 + index * 31 + place) / 7);
}

function snapshotOf(index: number, round: number): AppSnapshot {
  const first = 500_000_000 + index * Number(hostsEach);
  const hostIds = Array.from({ length: Number(hostsEach) }, (_, host) => String(first + host));
  return {
    account: 'production',
    application: anApplication({ id: String(10_000_000 + index), name: `application ${index}` }),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(hostIds.map((id) => [id, `web-${id}-7d9f8b6c5d-x2k4q`])),
    reading: {
      windowEndMs: round * 60_000,
      series,
      application: valuesOf(round, index),
      hosts: new Map(hostIds.map((id, host) => [id, valuesOf(round, index + host)])),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: round * 60_000,
  };
}

/** The memory of a buffer that was collected is given back at the next collection. */
async function retained(): Promise<number> {
  globalThis.gc?.();
  await turns.tick();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const turns = createTurns();
const nextTurn = async (): Promise<void> => turns.tick();
let snapshots = Array.from({ length: Number(applications) }, (_, index) => snapshotOf(index, 0));
const before = { rss: process.memoryUsage.rss(), retained: await retained() };
const store = createSeriesStore({ nextTurn });
const samples: Pick<LargePage, 'renderMs' | 'pageMs' | 'renderTurnMs' | 'pageTurnMs'>[] = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  snapshots = snapshots.map((_, index) => snapshotOf(index, round));
  await turns.tick();
  turns.longestMs();
  const renderMs = await cpuMsOf(async () => {
    for (const one of snapshots) {
      store.publish(one);
      await turns.tick();
    }
  });
  const renderTurnMs = turns.longestMs();
  const pageMs = await cpuMsOf(async () => store.page());
  await turns.tick();
  // What runs for the first time is not optimized yet.
  if (round > 0) samples.push({ renderMs, pageMs, renderTurnMs, pageTurnMs: turns.longestMs() });
}
const median = (of: (one: (typeof samples)[number]) => number): number =>
  spreadOf(samples.map(of)).median;
const page = await store.page();
const found: LargePage = {
  series: store.seriesOf('production'),
  bytes: page.identity.length,
  compressedBytes: page.gzip.length,
  renderMs: median(({ renderMs }) => renderMs),
  pageMs: median(({ pageMs }) => pageMs),
  renderTurnMs: median(({ renderTurnMs }) => renderTurnMs),
  pageTurnMs: median(({ pageTurnMs }) => pageTurnMs),
  retainedBytes: (await retained()) - before.retained,
  peakBytes: process.resourceUsage().maxRSS * 1024 - before.rss,
};
process.send?.(found);
