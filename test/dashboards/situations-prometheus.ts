import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArchive, type Programs } from './archive.ts';
import { type Labels, type PastPrometheus, pastOf } from './past-prometheus.ts';
import type { Prometheus } from './prometheus.ts';
import { historyOf, longHistorySeconds, shortHistorySeconds } from './situation-history.ts';
import { alertsBy, recordedBy } from './situation-rules.ts';
import { createNeeded, type Sample, samplesOf } from './situation-samples.ts';
import { playScene, type Scrape } from './situation-scene.ts';
import { type Situation, situations } from './situations.ts';

export interface RaisedAlert {
  readonly alertname: string;
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
}

/** All situations in one Prometheus, told apart by the label `cluster`, as they were at `nowMs`. */
export interface SituationsPrometheus extends PastPrometheus {
  /** The moment at which every situation shows what it is about. */
  readonly nowMs: number;
  /** As the data source in Grafana must have it. */
  readonly scrapeIntervalMs: number;
  alertsOf(situation: Situation): Promise<readonly RaisedAlert[]>;
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const scrapeIntervalMs = 30_000;
/** A Wednesday; on a whole minute, hour and day of every step that Grafana may choose. */
const nowMs = Date.UTC(2026, 2, 4, 12, 0, 0);
/** The beginning of what is played. What was before is made up from it. */
const startMs = nowMs - 45 * minuteMs;
/** Everything has been polled, and nothing went wrong yet. */
const ordinaryMs = startMs + 15 * minuteMs;

function* linesOf(situation: Situation, scrapes: readonly Scrape[]): Generator<readonly string[]> {
  const isNeeded = createNeeded();
  const { cluster } = situation;
  const started = ({ name, value }: Sample): number =>
    name === 'process_start_time_seconds' ? startMs / 1000 : value;
  const past = {
    endSeconds: startMs / 1000,
    lengthSeconds: cluster === 'healthy' ? longHistorySeconds : shortHistorySeconds,
  };
  for (const scrape of scrapes.filter(({ atMs }) => atMs === ordinaryMs)) {
    for (const sample of samplesOf(scrape, cluster, isNeeded)) yield historyOf(sample, past);
  }
  for (const scrape of scrapes) {
    yield samplesOf(scrape, cluster, isNeeded).map(
      (sample) => `${sample.series} ${started(sample)} ${scrape.atMs / 1000}\n`,
    );
  }
}

async function* played(): AsyncGenerator<readonly string[]> {
  for (const situation of situations) {
    const times = { startMs, endMs: nowMs, scrapeIntervalMs };
    yield* linesOf(situation, await playScene(situation, times));
  }
}

const ranges = [
  { startMs: nowMs - 8 * dayMs, endMs: nowMs - dayMs - minuteMs, stepMs: 3 * minuteMs },
  { startMs: nowMs - dayMs, endMs: startMs - minuteMs, stepMs: minuteMs },
  { startMs, endMs: nowMs, stepMs: scrapeIntervalMs },
];
/** Longer than the longest time that an alert waits. */
const alertRange = { startMs: nowMs - 90 * minuteMs, endMs: nowMs, stepMs: scrapeIntervalMs };

function situationsIn(prometheus: Prometheus, folder: string): SituationsPrometheus {
  const data = pastOf(prometheus, nowMs);
  return {
    ...data,
    nowMs,
    scrapeIntervalMs,
    alertsOf: async ({ cluster }) => {
      // Without their times there would also be states that ended some minutes ago.
      const active = `timestamp(ALERTS{cluster="${cluster}"}) == ${nowMs / 1000}`;
      const { result } = await data.query(active);
      return result.map(({ metric }) => {
        const { alertname = '', alertstate, ...labels } = metric;
        return { alertname, state: alertstate === 'firing' ? 'firing' : 'pending', labels };
      });
    },
    stop: async () => {
      await prometheus.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * Plays every situation, and starts a Prometheus that has seen them all.
 *
 * @param programs where they are
 */
export async function startSituations(programs: Programs): Promise<SituationsPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-situations-'));
  try {
    const archive = await createArchive(folder, programs);
    await archive.add(played());
    const recorded = await archive.read(async (prometheus) =>
      recordedBy(pastOf(prometheus, nowMs), ranges),
    );
    await archive.add([recorded]);
    const raised = await archive.read(async (prometheus) =>
      alertsBy(pastOf(prometheus, nowMs), alertRange),
    );
    await archive.add([raised]);
    return situationsIn(await archive.start(), folder);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
}
